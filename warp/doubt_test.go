package warp

import (
	"math"
	"testing"

	"retime/flow"
	"retime/frame"
)

// No error is expected where the flows agree and things keep their speed, an error where the flows
// show something else, and one where the speed changes before the interval and after it.
func TestErrors(t *testing.T) {
	const width, height, half = 96, 64, 48
	in := panned(width, height, 6, 0, ground(8), func(int, int) bool { return false })
	expected := func(in Interval) (left, right float64) {
		var a Assessor
		a.Begin(in)
		a.Confidence(PhaseOne / 2)
		e := a.Errors(PhaseOne/2, in.GuideA)
		for y := 8; y < height-8; y++ {
			for x := 16; x < half-16; x++ {
				left += float64(e.Row(y)[x])
			}
			for x := half + 16; x < width-16; x++ {
				right += float64(e.Row(y)[x])
			}
		}
		const n = 256 * (half - 32) * (height - 16)
		return math.Sqrt(left / n), math.Sqrt(right / n)
	}
	if l, r := expected(in); l != 0 || r != 0 {
		t.Errorf("of right flows: %.1f, %.1f", l, r)
	}
	steady := func(v int32) *Outer {
		f := flow.NewField(width, height)
		for i := range f.Pix {
			f.Pix[i].X = v * flow.One
		}
		return &Outer{Guide: in.GuideA, Flow: f}
	}
	even, jerking, late := in, in, in
	even.Before, even.After = steady(-6), steady(6)
	jerking.Before, jerking.After = steady(14), steady(-14)
	late.Before, late.After = steady(-6), steady(-14)
	if l, r := expected(even); l != 0 || r != 0 {
		t.Errorf("of an even speed: %.1f, %.1f", l, r)
	}
	if l, r := expected(late); l != 0 || r != 0 {
		t.Errorf("of a speed that is even before: %.1f, %.1f", l, r)
	}
	if l, r := expected(jerking); l < 8 || r < 8 {
		t.Errorf("of a speed that changes by 20 pixels: %.1f, %.1f", l, r)
	}
	apart := in
	forward := flow.NewField(width, height)
	copy(forward.Pix, in.Flows[0].Forward.Pix)
	apart.Flows = []FlowPair{{forward, in.Flows[0].Backward}}
	for y := range height {
		for x := half; x < width; x++ {
			forward.Row(y)[x].X += 9 * flow.One
		}
	}
	if l, r := expected(apart); l != 0 || r < 8 {
		t.Errorf("of flows apart on the right: %.1f, %.1f", l, r)
	}
}

// Errors are the same whatever the number of workers, of pictures of every size.
func TestErrorsWorkersAndSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 2}, {33, 57}} {
		var first []uint32
		for _, n := range []int{1, 8} {
			in := panned(size[0], size[1], 3, 1, ground(2), func(int, int) bool { return false })
			in.Before = &Outer{Guide: in.GuideB, Flow: in.Flows[0].Forward, Span: PhaseOne / 3}
			a := Assessor{Workers: frame.Workers{N: n}}
			a.Begin(in)
			a.Confidence(20000)
			e := a.Errors(20000, in.GuideA)
			if first == nil {
				first = e.Pix
			}
			for i, v := range e.Pix {
				if v != first[i] {
					t.Fatalf("%v: %d at %d with %d workers, %d with one", size, v, i, n, first[i])
				}
			}
		}
	}
}

// The worst window is where errors are largest, whole within the map.
func TestWorstWindow(t *testing.T) {
	m := frame.NewImage[uint32](97, 48)
	for i := range m.Pix {
		m.Pix[i] = 256
	}
	if x, y, side, rms := WorstWindow(m); x != 0 || y != 0 || side != 4 || math.Abs(rms-1) > 1e-9 {
		t.Errorf("even: %d, %d, %d, %f", x, y, side, rms)
	}
	for y := 44; y < 48; y++ {
		for x := 93; x < 97; x++ {
			m.Row(y)[x] = 256 * 255 * 255
		}
	}
	if x, y, _, rms := WorstWindow(m); x != 93 || y != 44 || math.Abs(rms-255) > 1e-9 {
		t.Errorf("in the corner: %d, %d, %f", x, y, rms)
	}
	for _, size := range [][2]int{{1, 1}, {2, 60}, {60, 2}} {
		tiny := frame.NewImage[uint32](size[0], size[1])
		if x, y, side, rms := WorstWindow(tiny); x != 0 || y != 0 || side != min(size[0], size[1], 5) || rms != 0 {
			t.Errorf("%v: %d, %d, %d, %f", size, x, y, side, rms)
		}
	}
}
