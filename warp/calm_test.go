package warp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// detail returns the mean squared difference between samples beside each other, away from
// the edges.
func detail(f *frame.Frame) float64 {
	var sum, n float64
	for y := 8; y < f.Height-8; y++ {
		for x := 8; x < f.Width-8; x++ {
			d := float64(getSample(f, 0, x, y) - getSample(f, 0, x+1, y))
			sum, n = sum+d*d, n+1
		}
	}
	return sum / n
}

// If the neighbours have nothing in common, no detail is true, and what remains is blurred.
// If one is the other moved, every sample stays.
func TestCalm(t *testing.T) {
	const size = 96
	gray := formats[0]
	a, b := noiseFrame(1, gray, size, size), noiseFrame(2, gray, size, size)
	p := Params{Mode: Project, Order: 1}
	for level := range MaxLevel + 1 {
		mean := fillFrame(gray, size, size, func(_, x, y int) int { return (getSample(a, 0, x, y) + getSample(b, 0, x, y)) / 2 })
		got := makeFrame(t, p, between(a, b, level, 0, 0), PhaseOne/2)
		if level < 2 && detail(got) > detail(mean)/4 { // the noise of small guides is that of pictures
			t.Errorf("level %d: the detail of noise is %.0f, that of a cross-fade %.0f", level, detail(got), detail(mean))
		}
		const move = 8
		moved := fillFrame(gray, size, size, func(_, x, y int) int { return getSample(a, 0, (x+size-move)%size, y) })
		got = makeFrame(t, p, between(a, moved, level, move, 0), PhaseOne/2)
		for y := range size {
			for x := 16; x < size-16; x++ {
				if v, want := getSample(got, 0, x, y), getSample(a, 0, x-move/2, y); v != want {
					t.Fatalf("level %d: sample (%d, %d) is %d, want %d", level, x, y, v, want)
				}
			}
		}
	}
}

// The strengths are what the comment on calm says. Within the rounding.
func TestCalmMeasure(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for _, size := range [][2]int{{1, 1}, {3, 2}, {9, 7}} {
		c := &calm{means: frame.NewImage[uint32](size[0], size[1]), errors: frame.NewImage[uint32](size[0], size[1]), strengths: frame.NewImage[uint16](size[0], size[1])}
		for i := range c.means.Pix {
			c.means.Pix[i], c.errors.Pix[i] = uint32(rng.IntN(256*differenceOne)), uint32(rng.IntN(2*calmNoise*(1+rng.IntN(99))))
		}
		for y := range size[1] {
			c.measure(make([]calmSums, size[0]), y)
			for x, got := range c.strengths.Row(y) {
				var n, sum, squares, square float64
				for j := range size[1] {
					for i := range size[0] {
						if max(i-x, x-i, j-y, y-j) <= calmRadius {
							m := float64(c.means.Row(j)[i])
							n, sum, squares, square = n+1, sum+m, squares+m*m, square+float64(c.errors.Row(j)[i])
						}
					}
				}
				detail := squares/n - sum/n*sum/n
				want := min(calmGain*max(square/n-calmNoise, 0)/(detail+calmNoise), 1)
				if math.Abs(float64(got)/calmOne-want) > 0.01 {
					t.Errorf("%v: strength (%d, %d) is %d/%d, want %.3f", size, x, y, got, calmOne, want)
				}
			}
		}
	}
}

// A plane becomes what a literal reading of every sample's strength and surroundings gives. Exact.
func TestSoften(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 3}, {37, 22}, {64, 41}} {
		for shape := range 54 {
			sx, sy, level, lying := shape%3, shape/3%3, shape/9%3, shape/27*2 // in a hundred pixels
			t.Run(fmt.Sprint(size, sx, sy, level, lying), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(4, uint64(shape)))
				c := &calm{strengths: frame.NewImage[uint16](size[0], size[1]), level: level}
				c.still = frame.NewImage[uint8](size[0]*calmSize>>level, size[1]*calmSize>>level)
				for i := range c.still.Pix {
					if rng.IntN(100) < lying {
						c.still.Pix[i] = []uint8{1, 128, 254, 255}[rng.IntN(4)]
					}
				}
				for i := range c.strengths.Pix {
					c.strengths.Pix[i] = uint16(max(0, rng.IntN(4*calmOne)-3*calmOne+1))
				}
				c.findSpans()
				compareSoftened[uint8](t, rng, c, sx, sy)
				compareSoftened[uint16](t, rng, c, sx, sy)
			})
		}
	}
}

func compareSoftened[T frame.Sample](t *testing.T, rng *rand.Rand, c *calm, sx, sy int) {
	w, h := calmSize>>sx, calmSize>>sy
	plane := frame.NewImage[T](c.strengths.Width*w-rng.IntN(w), c.strengths.Height*h-rng.IntN(h))
	for i := range plane.Pix {
		plane.Pix[i] = T(rng.Uint32())
	}
	want := frame.NewImage[T](plane.Width, plane.Height)
	for y := range plane.Height {
		for x := range plane.Width {
			want.Row(y)[x] = softened(c, plane, x, y, sx, sy)
		}
	}
	soften(c, frame.Workers{N: 2}, plane, sx, sy)
	for y := range plane.Height {
		for x, v := range plane.Row(y) {
			if v != want.Row(y)[x] {
				t.Fatalf("sample (%d, %d) is %d, want %d", x, y, v, want.Row(y)[x])
			}
		}
	}
}

func softened[T frame.Sample](c *calm, plane frame.Image[T], x, y, sx, sy int) T {
	lies := func(x, y int) bool { return c.still.Row(y << sy >> c.level)[x<<sx>>c.level] == 255 }
	own := plane.Row(y)[x]
	if lies(x, y) {
		return own
	}
	taps := [5]int{1, 4, 6, 4, 1}
	sum := 0
	for j, v := range taps {
		for i, u := range taps {
			px, py := min(max(x+i-2, 0), plane.Width-1), min(max(y+j-2, 0), plane.Height-1)
			if lies(px, py) {
				sum += u * v * int(own)
			} else {
				sum += u * v * int(plane.Row(py)[px])
			}
		}
	}
	w, h := calmSize>>sx, calmSize>>sy
	cx, fx := cellBefore(x, w)
	cy, fy := cellBefore(y, h)
	at := func(cx int) int {
		cx = min(max(cx, 0), c.strengths.Width-1)
		upper, lower := c.strengths.Row(max(cy, 0))[cx], c.strengths.Row(min(cy+1, c.strengths.Height-1))[cx]
		return (int(upper)*(2*h-fy) + int(lower)*fy) / (2 * h)
	}
	k := (at(cx)*(2*w-fx) + at(cx+1)*fx) / (2 * w)
	return T((int(plane.Row(y)[x])*(calmOne-k) + (sum+128)>>8*k + calmOne/2) / calmOne)
}
