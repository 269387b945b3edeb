package warp

import (
	"math"
	"testing"

	"retime/flow"
	"retime/frame"
)

// A smooth picture moves along x(s), so its bend is known, whether the outer frames are
// an interval away or nearer.
func TestBend(t *testing.T) {
	const width, height = 160, 96
	path := func(a, jerk float64) func(s float64) float64 {
		return func(s float64) float64 { return 5*s + a*s*s/2 + jerk*s*s*s/6 }
	}
	for _, c := range []struct {
		name   string
		x      func(s float64) float64
		span   Phase
		within float64 // pixels
		bends  bool    // whether a straight line would be off by more than that
	}{
		{"straight", path(0, 0), 0, 0.02, false},
		{"straight, near", path(0, 0), PhaseOne / 3, 0.02, false},
		{"accelerated", path(8, 0), 0, 0.06, true},
		{"accelerated, as far", path(8, 0), PhaseOne, 0.06, true},
		{"accelerated, near", path(8, 0), PhaseOne / 2, 0.06, true},
		{"accelerated, nearer", path(-12, 0), PhaseOne / 4, 0.12, true},
		{"changing", path(6, 8), PhaseOne / 4, 0.25, true},
	} {
		r := float64(c.span) / PhaseOne
		if c.span == 0 {
			r = 1
		}
		guide := func(s float64) frame.Image[uint8] {
			m := frame.NewImage[uint8](width, height)
			for y := range height {
				for x := range width {
					u := float64(x) - c.x(s)
					m.Row(y)[x] = uint8(128 + 50*math.Sin(u/7)*math.Cos(float64(y)/9) + 40*math.Sin(u/23))
				}
			}
			return m
		}
		steady := func(from, to float64) flow.Field {
			f := flow.NewField(width, height)
			v := flow.Vec{X: int32(math.Round(flow.One * (c.x(to) - c.x(from))))}
			for i := range f.Pix {
				f.Pix[i] = v
			}
			return f
		}
		s, err := NewSynthesizer(Params{Mode: Project, Order: 3, Acceleration: true})
		if err != nil {
			t.Fatal(err)
		}
		a, b := frame.New(formats[0], width, height), frame.New(formats[0], width, height)
		in := Interval{
			A: a, B: b, GuideA: guide(0), GuideB: guide(1), Flows: []FlowPair{{steady(0, 1), steady(1, 0)}},
			Before: &Outer{Guide: guide(-r), Flow: steady(0, -r), Span: c.span}, After: &Outer{Guide: guide(1 + r), Flow: steady(1, 1+r), Span: c.span},
		}
		p, err := s.Prepare(in)
		if err != nil {
			t.Fatal(err)
		}
		var bend bend
		for _, phase := range []Phase{PhaseOne / 4, PhaseOne / 2, PhaseOne * 2 / 3} {
			at := float64(phase) / PhaseOne
			want := c.x(at) - at*c.x(1)
			got := bend.at(frame.Workers{}, p.open, phase).Row(height / 2)[width/2]
			if off := float64(got.X)/flow.One - want; math.Abs(off) > c.within || got.Y != 0 {
				t.Errorf("%s at %.2f: bent by %.2f, %d, want %.2f", c.name, at, float64(got.X)/flow.One, got.Y, want)
			}
			if c.bends && math.Abs(want) < 2*c.within {
				t.Errorf("%s at %.2f: %.2f is too little to tell", c.name, at, want)
			}
		}
		p.Close()
		s.Close()
	}
}

// Whatever the spans, scales stay in range and steady motion has no acceleration.
func TestBending(t *testing.T) {
	for _, span := range []Phase{0, 1, 7, 100, PhaseOne / 64, PhaseOne / 3, PhaseOne - 1, PhaseOne} {
		in := Interval{Before: &Outer{Span: span}, After: &Outer{Span: PhaseOne / 2}, Level: 1}
		b := in.Bending()
		r := float64(span) / PhaseOne
		if span == 0 {
			r = 1
		}
		r = max(r, 1.0/64)
		if off := float64(b.Inner[0]) - float64(b.Outer[0])*r; math.Abs(off) > 2 || b.Inner[0] <= 0 || b.Limit[0] <= 0 {
			t.Errorf("span %d: %+v", span, b)
		}
		if p, q, dispute := b.Weights(PhaseOne / 4); p+q != 1 || (dispute == 1) != (span == 0 || span == PhaseOne) {
			t.Errorf("span %d: weights %v, %v, %v", span, p, q, dispute)
		}
	}
}

// A square moves at one speed over a flat ground. Ahead of it, where it hides the ground in the next frame, and behind
// it, where it does in the one before, flows make up the square's motion for the ground. The flow back
// contradicts them, so they bend hardly anything.
func TestBendIgnoresHidden(t *testing.T) {
	const width, height, side, speed, left, end = 160, 96, 40, 12, 50, 90
	guide := func(s int) frame.Image[uint8] {
		m := frame.NewImage[uint8](width, height)
		for y := range height {
			row := m.Row(y)
			for x := range row {
				row[x] = 60
			}
			for x := left + s*speed; x < end+s*speed; x++ {
				row[x] = 200
			}
		}
		return m
	}
	// leads returns the flow from frame s to s+way: of the square, and of what is ahead of it and behind it.
	leads := func(s, way, behind, ahead int) flow.Field {
		f := flow.NewField(width, height)
		for y := range height {
			for x := left + s*speed - behind; x < end+s*speed+ahead; x++ {
				f.Row(y)[x].X = int32(way * speed * flow.One)
			}
		}
		return f
	}
	s, err := NewSynthesizer(Params{Mode: Project, Order: 3, Acceleration: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, b := frame.New(formats[0], width, height), frame.New(formats[0], width, height)
	p, err := s.Prepare(Interval{
		A: a, B: b, GuideA: guide(0), GuideB: guide(1), Flows: []FlowPair{{leads(0, 1, 0, speed), leads(1, -1, speed, 0)}},
		Before: &Outer{Guide: guide(-1), Flow: leads(0, -1, speed, 0)}, After: &Outer{Guide: guide(2), Flow: leads(1, 1, 0, speed)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var bend bend
	for i, v := range bend.at(frame.Workers{}, p.open, PhaseOne/2).Pix {
		if max(v.X, -v.X) > flow.One/10 {
			t.Fatalf("bent by %d/256 pixel at (%d, %d)", v.X, i%width, i/width)
		}
	}
}

// A flow back that misses takes the bend away only if it misses by much of the change: what speeds up misses a little, too, as
// flows are not exact, and less than a pixel tells nothing.
func TestBendOfMissedFlows(t *testing.T) {
	const width, height, speed = 128, 96, 4
	uniform := func(pixels float64) flow.Field {
		f := flow.NewField(width, height)
		for i := range f.Pix {
			f.Pix[i].X = int32(pixels * flow.One)
		}
		return f
	}
	s, err := NewSynthesizer(Params{Mode: Project, Order: 3, Acceleration: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	flat := frame.NewImage[uint8](width, height)
	for _, c := range []struct {
		change, miss float64 // pixels
		bends        bool
	}{
		{8, 0, true}, {8, 5.9, true}, {8, 6.1, false}, {8, 8, false}, {-8, 5.9, true}, {-8, 6.1, false},
		{1, 0.9, true}, {1, 1.1, false}, {4, 2.9, true}, {4, 3.1, false},
	} {
		a, b := frame.New(formats[0], width, height), frame.New(formats[0], width, height)
		p, err := s.Prepare(Interval{
			A: a, B: b, GuideA: flat, GuideB: flat, Flows: []FlowPair{{uniform(speed), uniform(c.miss - speed)}},
			Before: &Outer{Guide: flat, Flow: uniform(c.change - speed)}, After: &Outer{Guide: flat, Flow: uniform(c.change - c.miss + speed)},
		})
		if err != nil {
			t.Fatal(err)
		}
		var bend bend
		got := bend.at(frame.Workers{}, p.open, PhaseOne/2).Row(height / 2)[width/2]
		if straight := got.X == 0; straight == c.bends || c.bends && (got.X > 0) == (c.change > 0) {
			t.Errorf("a change of %v pixels whose flow back misses by %v: bent by %d/256 pixel", c.change, c.miss, got.X)
		}
		p.Close()
	}
}
