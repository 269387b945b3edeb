package warp

import (
	"testing"

	"retime/flow"
	"retime/frame"
)

// still returns an interval over a ground that stands still, without motion. draw says what A (0) and
// B (1) show at a place, if it is not the ground.
func still(width, height int, draw func(n, x, y int) (uint8, bool)) *Interval {
	at := ground(7)
	in := &Interval{Flows: []FlowPair{{flow.NewField(width, height), flow.NewField(width, height)}}}
	format := frame.Format{Name: "yuv444p", Depth: 8, Planes: 3}
	for n := range 2 {
		f := frame.New(format, width, height)
		y := frame.Samples[uint8](f.Planes[0])
		for j := range height {
			for i := range width {
				y.Row(j)[i] = at(i, j)
				if v, ok := draw(n, i, j); ok {
					y.Row(j)[i] = v
				}
			}
		}
		for _, p := range f.Planes[1:] {
			for i := range p.Pix {
				p.Pix[i] = 128
			}
		}
		if n == 0 {
			in.A, in.GuideA = f, y
		} else {
			in.B, in.GuideB = f, y
		}
	}
	return in
}

// digit draws an 8 or a 3 in white strokes, four pixels wide, of 20 by 36 pixels.
func digit(three bool, left, top, x, y int) (uint8, bool) {
	x, y = x-left, y-top
	if x < 0 || x >= 20 || y < 0 || y >= 36 {
		return 0, false
	}
	bar := y < 4 || y >= 32 || y >= 16 && y < 20
	return 235, bar || x >= 16 || x < 4 && !three
}

func TestJumps(t *testing.T) {
	const width, height = 320, 180
	counter := func(n, x, y int) (uint8, bool) { return digit(n == 1, 60, 40, x, y) }
	moving := func(n, x, y int) (uint8, bool) { return 235, x >= 60+24*n && x < 76+24*n && y >= 40 && y < 56 }
	move := func(in *Interval) {
		for y := 36; y < 60; y++ {
			for x := range width {
				if x >= 60 && x < 76 {
					in.Flows[0].Forward.Row(y)[x] = flow.Vec{X: 24 * flow.One}
				}
				if x >= 84 && x < 100 {
					in.Flows[0].Backward.Row(y)[x] = flow.Vec{X: -24 * flow.One}
				}
			}
		}
	}
	pan := func(in *Interval) { // the ground, too, which no flow tells
		g := ground(7)
		for y := range height {
			for x := range width {
				if _, ok := counter(1, x, y); !ok {
					in.GuideB.Row(y)[x] = g(x+7, y+3)
				}
			}
		}
	}
	colour := func(in *Interval) {
		for y := 40; y < 52; y++ {
			for x := 60; x < 100; x++ {
				frame.Samples[uint8](in.B.Planes[2]).Row(y)[x] = 220
			}
		}
	}
	soft := func(n, x, y int) (uint8, bool) { // no sign is that faint
		return uint8(100 + 40*n), x >= 60 && x < 80 && y >= 40 && y < 60
	}
	nothing := func(n, x, y int) (uint8, bool) { return 0, false }
	none := func(*Interval) {}
	for name, c := range map[string]struct {
		draw   func(n, x, y int) (uint8, bool)
		change func(in *Interval)
		want   bool
	}{
		"a digit":                {counter, none, true},
		"colour alone":           {nothing, colour, true},
		"a thing that moves":     {moving, move, false},
		"a thing without motion": {moving, none, true},
		"a digit over a pan":     {counter, pan, false},
		"a faint change":         {soft, none, false},
		"half the picture":       {func(n, x, y int) (uint8, bool) { return uint8(235 * n), y < height/2 }, none, false},
		"transparency alone": {nothing, func(in *Interval) {
			colour(in)
			for _, f := range []*frame.Frame{in.A, in.B} {
				f.Format = frame.Format{Name: "ya8", Depth: 8, Planes: 2}
				f.Planes = []frame.Plane{f.Planes[0], f.Planes[2]}
			}
		}, false},
		"nothing": {nothing, none, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := still(width, height, c.draw)
			c.change(in)
			cells := Jumps(frame.Workers{N: 3}, in)
			if got := cells.Height > 0; got != c.want {
				t.Fatalf("something jumps: %v, want %v", got, c.want)
			}
			for y := range cells.Height {
				for x, v := range cells.Row(y) {
					differs := in.GuideA.Row(y)[x] != in.GuideB.Row(y)[x]
					if far := x < 20 || y < 10 || x > 130 || y > 100; differs && v != 0 || far && v != 255 {
						t.Fatalf("(%d, %d): %d, where A and B differ: %v", x, y, v, differs)
					}
				}
			}
		})
	}
}

// Single pixels decide nothing about regions.
func TestDoubted(t *testing.T) {
	confidence := frame.NewImage[uint8](200, 120)
	inside := func(x, y, margin int) bool { return x >= 100+margin && y >= margin }
	for y := range confidence.Height {
		for x := range confidence.Row(y) {
			confidence.Row(y)[x] = 200
			if inside(x, y, 0) != (x%9 == 0 && y%9 == 0) {
				confidence.Row(y)[x] = doubted - 1
			}
		}
	}
	cells := Doubted(frame.Workers{N: 2}, confidence, 1)
	for y := range cells.Height {
		for x, v := range cells.Row(y) {
			if inside(x, y, 2) && v != 0 || !inside(x, y, -2) && v != 255 {
				t.Fatalf("(%d, %d): %d", x, y, v)
			}
		}
	}
}
