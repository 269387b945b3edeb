package warp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
)

// A picture that pans by whole samples of every plane continues to pan.
func TestExtrapolatePan(t *testing.T) {
	const width, height = 45, 31
	rng := rand.New(rand.NewPCG(3, 1))
	for _, format := range formats {
		for level := range 3 {
			for _, c := range []struct {
				dx, dy int // of the flow, in pixels
				beyond Phase
			}{{0, 0, PhaseOne}, {4, -8, PhaseOne}, {-8, 4, 2 * PhaseOne}, {8, 8, PhaseOne / 2}, {400, 0, PhaseOne}} {
				src, dst := frame.New(format, width, height), frame.New(format, width, height)
				f := flow.NewField((width+1<<level-1)>>level, (height+1<<level-1)>>level)
				for i := range f.Pix {
					f.Pix[i] = flow.Vec{X: int32(c.dx * flow.One >> level), Y: int32(c.dy * flow.One >> level)}
				}
				name := fmt.Sprintf("%s, level %d, %v", format.Name, level, c)
				if format.Bytes() == 1 {
					checkPan[uint8](t, rng, name, dst, src, f, level, c.dx, c.dy, c.beyond)
				} else {
					checkPan[uint16](t, rng, name, dst, src, f, level, c.dx, c.dy, c.beyond)
				}
			}
		}
	}
}

func checkPan[T frame.Sample](t *testing.T, rng *rand.Rand, name string, dst, src *frame.Frame, f flow.Field, level, dx, dy int, beyond Phase) {
	t.Helper()
	for i := range src.Planes {
		m := frame.Samples[T](src.Planes[i])
		for y := range m.Height {
			for x := range m.Width {
				m.Row(y)[x] = T(rng.IntN(src.Format.Max() + 1))
			}
		}
	}
	Extrapolate(frame.Workers{N: 3}, dst, src, f, level, beyond)
	for i := range src.Planes {
		sx, sy := src.Format.Subsampling(i)
		from, to := frame.Samples[T](src.Planes[i]), frame.Samples[T](dst.Planes[i])
		u, v := dx*int(beyond)/PhaseOne>>sx, dy*int(beyond)/PhaseOne>>sy
		for y := range to.Height {
			for x := range to.Width {
				want := from.Row(min(max(y+v, 0), from.Height-1))[min(max(x+u, 0), from.Width-1)]
				if got := to.Row(y)[x]; got != want {
					t.Fatalf("%s: plane %d at %d, %d is %d, want %d", name, i, x, y, got, want)
				}
			}
		}
	}
}

// Between samples, sampleAt is bilinear, rounded to the nearest.
func TestSampleAt(t *testing.T) {
	m := frame.NewImage[uint16](2, 2)
	copy(m.Pix, []uint16{0, 65535, 1000, 3000})
	for _, c := range []struct {
		x, y int64
		want uint16
	}{{0, 0, 0}, {256, 0, 65535}, {128, 0, 32768}, {128, 128, 17384}, {0, 64, 250}, {-900, 1 << 40, 1000}, {1 << 40, -1 << 40, 65535}} {
		if got := sampleAt(m, c.x, c.y); got != c.want {
			t.Errorf("at %d, %d: %d, want %d", c.x, c.y, got, c.want)
		}
	}
	one := frame.NewImage[uint8](1, 1)
	one.Pix[0] = 7
	if got := sampleAt(one, 100, -100); got != 7 {
		t.Errorf("of one sample: %d", got)
	}
}

func TestMeanError(t *testing.T) {
	a, b := frame.NewImage[uint8](9, 5), frame.NewImage[uint8](9, 5)
	for i := range b.Pix {
		a.Pix[i], b.Pix[i] = 100, 112
	}
	if got := MeanError(frame.Workers{}, a, b, flow.NewField(9, 5)); got != 12 {
		t.Errorf("%v grey levels, want 12", got)
	}
}
