package aov

import (
	"testing"

	"retime/flow"
	"retime/pipeline/stages"
	"retime/warp"
)

// A square moves 8 pixels to the right over a background that moves 8 to the left: half-way, the square is
// between, and what it covers on either side only one picture shows.
func TestMotion(t *testing.T) {
	const w, h = 64, 24
	move := func(left int, there int32) flow.Field {
		f := flow.NewField(w, h)
		for y := range h {
			for x := range w {
				f.Row(y)[x].X = -there
				if x >= left && x < left+16 && y >= 4 && y < 20 {
					f.Row(y)[x].X = there
				}
			}
		}
		return f
	}
	v := stages.Vectors{Width: w, Height: h, FlowPair: warp.FlowPair{Forward: move(20, 8*256), Backward: move(28, -8*256)}}
	var m motion
	if err := m.find(v, w, h, stages.Origin{Phase: warp.PhaseOne / 2}); err != nil {
		t.Fatal(err)
	}
	for x, want := range map[int]struct {
		motion int32
		seen   uint8
	}{8: {-8, both}, 26: {8, both}, 30: {8, both}, 38: {8, both}, 22: {-8, second}, 42: {-8, first}, 56: {-8, both}} {
		if got, seen := m.at(x, 12); got.X != 256*want.motion || got.Y != 0 || seen != want.seen {
			t.Errorf("column %d moves by %v, seen in %b, want %+v", x, got, seen, want)
		}
	}
	if err := m.find(stages.Vectors{}, w, h, stages.Origin{Phase: warp.PhaseOne / 2}); err != nil {
		t.Fatal(err)
	}
	if got, seen := m.at(26, 12); got != (flow.Vec{}) || seen != both {
		t.Errorf("without vectors: %v, seen in %b", got, seen)
	}
}
