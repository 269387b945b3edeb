package splines

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"retime/frame"
	"retime/warp/bspline"
)

// Figures draws the pictures of docs/bspline.md into a directory.
func Figures(directory string) error {
	figures := []struct {
		name string
		draw func() (chart, error)
	}{
		{"kernels.svg", kernels},
		{"cardinal.svg", cardinal},
		{"response.svg", response},
		{"rotation.svg", rotation},
		{"precision.svg", precision},
	}
	for _, f := range figures {
		c, err := f.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := os.WriteFile(filepath.Join(directory, f.name), []byte(c.svg()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// kernels draws the B-splines of equation 2.
func kernels() (chart, error) {
	c := chart{
		title: "B-splines of order n", xLabel: "x (samples)", yLabel: "β(x)",
		x0: -4, x1: 4, y0: 0, y1: 1.05, xTicks: ticks(-4, 4, 1), yTicks: ticks(0, 1, 0.2),
	}
	for _, n := range []bspline.Order{0, 1, 2, 3, 5, 7, 11} {
		c.series = append(c.series, series{
			name: fmt.Sprintf("n = %v", n),
			points: sample(-4, 4, 400, func(x float64) float64 {
				w := make([]float64, n.Support())
				first, t := n.Locate(x)
				bspline.Weights(n, t, w)
				// w[-first] is the weight of the coefficient at 0.
				if first > 0 || first+len(w) <= 0 {
					return 0
				}
				return w[-first] * bspline.Gain(n) / bspline.Normalization(n)
			}),
		})
	}
	return c, nil
}

// impulse returns the spline that is 1 at the middle sample of a row and 0 at all others.
func impulse(n bspline.Order) (s *bspline.Spline[float64], middle float64, err error) {
	img := frame.NewImage[float64](201, 1)
	img.Pix[100] = 1
	s, err = bspline.New(frame.Workers{}, img, n, bspline.WholeSymmetric, 1e-16)
	return s, 100, err
}

// cardinal draws the splines through an impulse.
func cardinal() (chart, error) {
	c := chart{
		title: "Interpolating kernels", xLabel: "x (samples)", yLabel: "value",
		x0: 0, x1: 6, y0: -0.25, y1: 1.05, xTicks: ticks(0, 6, 1), yTicks: ticks(-0.2, 1, 0.2),
	}
	for _, n := range []bspline.Order{bspline.CatmullRom, 1, 3, 5, 11} {
		s, middle, err := impulse(n)
		if err != nil {
			return c, err
		}
		c.series = append(c.series, series{name: label(n), points: sample(0, 6, 360, func(x float64) float64 {
			return s.At(middle+x, 0)
		})})
	}
	c.series = append(c.series, series{name: "sinc", dashed: true, points: sample(0, 6, 360, sinc)})
	return c, nil
}

func label(n bspline.Order) string {
	if n == bspline.CatmullRom {
		return "Catmull-Rom"
	}
	return fmt.Sprintf("order %v", n)
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// response draws the Fourier transforms of the interpolating kernels. The ideal one is
// 1 below half a cycle per sample and 0 above.
func response() (chart, error) {
	c := chart{
		title: "Frequency response", xLabel: "frequency (cycles per sample)", yLabel: "dB",
		x0: 0, x1: 1.5, y0: -80, y1: 5, xTicks: ticks(0, 1.5, 0.25), yTicks: ticks(-80, 0, 20),
	}
	for _, n := range []bspline.Order{bspline.CatmullRom, 0, 1, 3, 5, 7, 11} {
		s, middle, err := impulse(n)
		if err != nil {
			return c, err
		}
		c.series = append(c.series, series{name: label(n), points: sample(0, 1.5, 300, func(f float64) float64 {
			// B-splines have a closed form: sinc^(n+1) over the sum of its aliases, the inverse of
			// the prefilter. Catmull-Rom is integrated by the midpoint rule.
			var gain float64
			if n == bspline.CatmullRom {
				const steps = 4000
				for i := range steps {
					x := 2 * (float64(i) + 0.5) / steps
					gain += 4.0 / steps * s.At(middle+x, 0) * math.Cos(2*math.Pi*f*x)
				}
			} else {
				var aliases float64
				for k := -200; k <= 200; k++ {
					aliases += math.Pow(sinc(f-float64(k)), float64(n+1))
				}
				if n == 0 {
					aliases = 1
				}
				gain = math.Pow(sinc(f), float64(n+1)) / aliases
			}
			return 20 * math.Log10(max(math.Abs(gain), 1e-6))
		})})
	}
	return c, nil
}

// rotation draws the error after ten rotations against the order.
func rotation() (chart, error) {
	c := chart{
		title: "Ten rotations by 36 degrees", xLabel: "order", yLabel: "PSNR (dB)",
		x0: 0, x1: 11, y0: 24, y1: 48, xTicks: ticks(0, 11, 1), yTicks: ticks(24, 48, 4),
	}
	img := Picture(1152, 864)
	splines := series{name: "B-splines", dots: true}
	for n := bspline.Order(0); n <= 11; n++ {
		r, err := Rotate(frame.Workers{}, img, n)
		if err != nil {
			return c, err
		}
		splines.points = append(splines.points, [2]float64{float64(n), r.PSNR})
	}
	r, err := Rotate(frame.Workers{}, img, bspline.CatmullRom)
	if err != nil {
		return c, err
	}
	c.series = []series{splines, {
		name: "Catmull-Rom", dashed: true, points: [][2]float64{{0, r.PSNR}, {11, r.PSNR}},
	}}
	return c, nil
}

// precision draws the all-float and all-double rows of tables 4 and 5.
func precision() (chart, error) {
	c := chart{
		title: "Largest error against target precision", xLabel: "target precision", yLabel: "relative error",
		x0: -16, x1: -1, y0: -16, y1: -1, xTicks: ticks(-16, -1, 3), yTicks: ticks(-16, -1, 3),
		tick: func(v float64) string { return fmt.Sprintf("1e%g", v) },
	}
	var targets []float64
	for e := -16; e <= -1; e++ {
		targets = append(targets, math.Pow(10, float64(e)))
	}
	img := Picture(1152, 864)
	for _, n := range []bspline.Order{3, 11} {
		rows, err := Accuracy(frame.Workers{}, img, n, targets)
		if err != nil {
			return c, err
		}
		for _, row := range []AccuracyRow{rows[0], rows[len(rows)-1]} {
			s := series{name: fmt.Sprintf("%d, %s", n, row.Configuration), dots: true}
			for i, e := range row.Errors {
				s.points = append(s.points, [2]float64{math.Log10(targets[i]), math.Log10(max(e, 1e-17))})
			}
			c.series = append(c.series, s)
		}
	}
	c.series = append(c.series, series{name: "target", dashed: true, points: [][2]float64{{-16, -16}, {-1, -1}}})
	return c, nil
}
