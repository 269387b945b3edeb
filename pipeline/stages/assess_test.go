package stages

import (
	"slices"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// What is expected of an HDR frame that was made, which states no transfer function, is in the levels of the guides.
func TestRatingsOfHDR(t *testing.T) {
	const size = 32
	picture := func(transfer frame.Transfer) *frame.Frame {
		f := frame.New(frame.Format{Name: "gray10le", Depth: 10, Planes: 1}, size, size)
		p := frame.Samples[uint16](f.Planes[0])
		for y := range size {
			for x := range size {
				p.Row(y)[x] = uint16((x*37 + y*11) % 1024)
			}
		}
		f.Transfer = transfer
		return f
	}
	a := picture(frame.HLG)
	guide, still, before := warp.Luma(a), flow.NewField(size, size), flow.NewField(size, size)
	for i := range before.Pix {
		before.Pix[i].X = 8 * flow.One
	}
	in := warp.Interval{A: a, B: a, GuideA: guide, GuideB: guide, Flows: []warp.FlowPair{{Forward: still, Backward: still}}, Before: &warp.Outer{Guide: guide, Flow: before}}
	var s assessor
	_, got := s.assess(in, warp.PhaseOne/2, picture(frame.SDR), true)
	_, want := s.assess(in, warp.PhaseOne/2, picture(frame.HLG), true)
	if !slices.Equal(got.Pix, want.Pix) {
		t.Error("a made frame is rated in other levels")
	}
	if slices.Max(got.Pix) == 0 {
		t.Error("no error is expected of a speed that changes")
	}
}
