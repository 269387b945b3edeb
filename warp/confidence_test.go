package warp

import (
	"bytes"
	"testing"

	"retime/flow"
	"retime/frame"
)

// Confidence is full if the flows are right, and low if they lead to other content, or
// apart.
func TestConfidence(t *testing.T) {
	const width, height, half = 96, 64, 48
	in := panned(width, height, 6, 0, ground(8), func(int, int) bool { return false })
	var a Assessor
	a.Begin(in)
	for _, phase := range phasesOf {
		c := a.Confidence(phase)
		for y := 8; y < height-8; y++ {
			for x := 16; x < width-16; x++ {
				if c.Row(y)[x] != 255 {
					t.Fatalf("phase %d (%d,%d): %d, want 255", phase, x, y, c.Row(y)[x])
				}
			}
		}
	}
	for y := range height {
		for x := half; x < width; x++ {
			in.Flows[0].Forward.Row(y)[x], in.Flows[0].Backward.Row(y)[x] = flow.Vec{Y: 20 * flow.One}, flow.Vec{X: 20 * flow.One}
		}
	}
	a.Begin(in)
	c := a.Confidence(PhaseOne / 2)
	var right, wrong int
	for y := range height {
		for x := 16; x < half-20; x++ {
			right += int(c.Row(y)[x])
		}
		for x := half + 20; x < width; x++ {
			wrong += int(c.Row(y)[x])
		}
	}
	if r, w := right/(height*(half-36)), wrong/(height*(half-20)); r < 240 || w > 30 {
		t.Errorf("mean confidence %d where the flow is right, %d where it is wrong", r, w)
	}
}

var phasesOf = []Phase{1, PhaseOne / 3, PhaseOne / 2, PhaseOne - 1}

func TestConfidenceWorkersAndSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 2}, {33, 57}} {
		var first []uint8
		for _, n := range []int{1, 8} {
			a := Assessor{Workers: frame.Workers{N: n}}
			a.Begin(panned(size[0], size[1], 3, 1, ground(2), func(int, int) bool { return false }))
			c := a.Confidence(20000)
			if c.Width != size[0] || c.Height != size[1] {
				t.Errorf("%v: map of %dx%d", size, c.Width, c.Height)
			}
			if first == nil {
				first = c.Pix
			} else if !bytes.Equal(c.Pix, first) {
				t.Errorf("%v: %d workers give another map", size, n)
			}
		}
	}
}

// Without confidence a frame becomes the cross-fade; with it, it stays as it is.
// Between the two lies a soft edge.
func TestMaskedBlend(t *testing.T) {
	for _, format := range formats {
		for level := range MaxLevel + 1 {
			const width, height = 53, 37
			a, b, made := noiseFrame(1, format, width, height), noiseFrame(2, format, width, height), noiseFrame(3, format, width, height)
			faded := makeFrame(t, Params{Mode: Blend}, Interval{A: a, B: b}, PhaseOne/5)
			guide := frame.NewImage[uint8](1+(width-1)>>level, 1+(height-1)>>level)
			for y := range guide.Height {
				for x := range guide.Width {
					if x >= guide.Width/2 {
						guide.Row(y)[x] = 255
					}
				}
			}
			got := frame.New(format, width, height)
			frame.Copy(got, made)
			MaskedBlend(frame.Workers{}, got, a, b, PhaseOne/5, guide, level)
			edge := guide.Width / 2 << level
			for i, p := range got.Planes {
				sx, _ := format.Subsampling(i)
				for y := range p.Height {
					for x := range p.Width {
						g, m, f := getSample(got, i, x, y), getSample(made, i, x, y), getSample(faded, i, x, y)
						switch at := x << sx; {
						case at < edge-2<<level && g != f:
							t.Fatalf("%s level %d plane %d (%d,%d): %d, want the cross-fade %d", format.Name, level, i, x, y, g, f)
						case at >= edge+2<<level && g != m:
							t.Fatalf("%s level %d plane %d (%d,%d): %d, want the made %d", format.Name, level, i, x, y, g, m)
						case g < min(m, f) || g > max(m, f):
							t.Fatalf("%s level %d plane %d (%d,%d): %d, not between %d and %d", format.Name, level, i, x, y, g, m, f)
						}
					}
				}
			}
		}
	}
}
