package splines

import (
	"math"

	"retime/frame"
	"retime/warp/bspline"
)

// WeightError is a way to obtain the weights of a cubic B-spline, and its sum of squared errors.
type WeightError struct {
	Method          string
	SumSquaredError float64
}

// Weights repeats the study of Ruijters, ter Haar Romeny and Suetens, "Accuracy of
// GPU-based B-spline Evaluation" (2008), table 1. It resamples a picture of 256 by 256
// samples, normalised to [0, 1], at as many positions in float32, and compares the
// result with float64. The weights are computed on the fly or read from a table of 128
// entries of 16 bits with linear interpolation.
//
// The paper computes every value from four bilinear look-ups, which graphics hardware does with
// 8-bit fractions; the first two rows do the same by the paper's equation 9. The last two rows sum
// sixteen weighted coefficients, as warp/bspline does, so that only the weights differ.
func Weights(workers frame.Workers) ([]WeightError, error) {
	const size = 256
	img := Picture(size, size)
	for i := range img.Pix {
		img.Pix[i] /= 255
	}
	p, err := bspline.NewPrefilter[float64](bspline.Cubic, bspline.WholeSymmetric, 1e-16)
	if err != nil {
		return nil, err
	}
	if err := p.Apply(workers, img); err != nil {
		return nil, err
	}
	exact, err := bspline.FromCoefficients(img, bspline.Cubic, bspline.WholeSymmetric, 0)
	if err != nil {
		return nil, err
	}
	// Textures are normalised.
	texture := convert[float32](img)
	for i := range texture.Pix {
		texture.Pix[i] *= 36
	}
	table := newWeightTable()
	rows := []WeightError{
		{Method: "on the fly, bilinear look-ups"},
		{Method: "table, bilinear look-ups"},
		{Method: "on the fly"},
		{Method: "table"},
	}
	// The positions are turned and zoomed, so they have many different fractions.
	tr := bspline.Func(func(x, y float64) (float64, float64) {
		return 40 + 0.59*x + 0.07*y, 30 - 0.07*x + 0.59*y
	})
	xs, ys := make([]float64, size), make([]float64, size)
	for y := range size {
		tr.Positions(0, y, xs, ys)
		for x := range size {
			x0, fx := bspline.Cubic.Locate(xs[x])
			y0, fy := bspline.Cubic.Locate(ys[x])
			want := exact.At(xs[x], ys[x])
			wx, wy := onTheFly(float32(fx)), onTheFly(float32(fy))
			tx, ty := table.at(float32(fx)), table.at(float32(fy))
			for i, got := range []float32{
				bilinearSum(texture, x0, y0, wx, wy),
				bilinearSum(texture, x0, y0, tx, ty),
				directSum(texture, x0, y0, wx, wy),
				directSum(texture, x0, y0, tx, ty),
			} {
				e := float64(got) - want
				rows[i].SumSquaredError += e * e
			}
		}
	}
	return rows, nil
}

// cubic holds the decomposition of equation 9: the weight g0 of the first pair of
// coefficients and the position of the second in each pair, h0 and h1, from 0 to 1. The
// weight of the second pair is 1 - g0.
type cubic struct{ g0, h0, h1 float32 }

func decompose(w0, w1, w2, w3 float32) cubic {
	return cubic{w0 + w1, w1 / (w0 + w1), w3 / (w2 + w3)}
}

func onTheFly(t float32) cubic {
	var w [4]float32
	bspline.Weights(bspline.Cubic, t, w[:])
	return decompose(w[0]/6, w[1]/6, w[2]/6, w[3]/6)
}

// weightTable is the look-up texture of Sigg and Hadwiger: 128 texels of three
// channels of 16 bits.
type weightTable [128][3]uint16

func newWeightTable() *weightTable {
	t := new(weightTable)
	for i := range t {
		// A texel holds the value at its centre.
		c := onTheFly((float32(i) + 0.5) / float32(len(t)))
		for j, v := range []float32{c.g0, c.h0, c.h1} {
			t[i][j] = uint16(math.Round(float64(v) * math.MaxUint16))
		}
	}
	return t
}

// at interpolates linearly between texels. It clamps positions beyond the first and
// last centre.
func (t *weightTable) at(x float32) cubic {
	p := min(max(x*float32(len(t))-0.5, 0), float32(len(t)-1))
	i := min(int(p), len(t)-2)
	f := p - float32(i)
	channel := func(j int) float32 {
		a, b := float32(t[i][j])/math.MaxUint16, float32(t[i+1][j])/math.MaxUint16
		return a + f*(b-a)
	}
	return cubic{channel(0), channel(1), channel(2)}
}

// bilinearSum returns the value from four bilinear look-ups with fractions of 8 bits.
func bilinearSum(c frame.Image[float32], x0, y0 int, wx, wy cubic) float32 {
	fraction := func(h float32) float32 { return float32(math.Round(float64(h)*256)) / 256 }
	fetch := func(x, y int, hx, hy float32) float32 {
		hx, hy = fraction(hx), fraction(hy)
		a, b := c.Row(y)[x:], c.Row(y + 1)[x:]
		top, bottom := a[0]+hx*(a[1]-a[0]), b[0]+hx*(b[1]-b[0])
		return top + hy*(bottom-top)
	}
	top := wx.g0*fetch(x0, y0, wx.h0, wy.h0) + (1-wx.g0)*fetch(x0+2, y0, wx.h1, wy.h0)
	bottom := wx.g0*fetch(x0, y0+2, wx.h0, wy.h1) + (1-wx.g0)*fetch(x0+2, y0+2, wx.h1, wy.h1)
	return wy.g0*top + (1-wy.g0)*bottom
}

// directSum returns the value from sixteen weighted coefficients.
func directSum(c frame.Image[float32], x0, y0 int, wx, wy cubic) float32 {
	expand := func(c cubic) [4]float32 {
		return [4]float32{c.g0 * (1 - c.h0), c.g0 * c.h0, (1 - c.g0) * (1 - c.h1), (1 - c.g0) * c.h1}
	}
	u, v := expand(wx), expand(wy)
	var value float32
	for l, w := range v {
		row := c.Row(y0 + l)[x0:]
		value += w * (u[0]*row[0] + u[1]*row[1] + u[2]*row[2] + u[3]*row[3])
	}
	return value
}
