package cuda

import (
	"fmt"

	"retime/flow"
	"retime/pipeline/frame"
	"retime/warp"
)

// guides are an interval's pictures and flows in device memory, each of width by
// height without gaps, one after the other, and the errors along the flows.
//
// The pictures are A, B and those before and after; the flows lead from A to B and
// from B to A, in turn, then from them to the pictures beyond.
type guides struct {
	errorKernel *Kernel
	table       Buffer[uint16]

	width, height, level int
	inner                int  // flows between A and B
	beyond               bool // whether there are pictures before and after
	pictures             Buffer[byte]
	fixed                bool // whether anything lies still over the picture
	still                Buffer[byte]
	flows                Buffer[flow.Vec]
	errors, trust        Buffer[uint16]
}

func newGuides(s *Stream) (g guides, err error) {
	if g.errorKernel, err = s.device.Kernel("error", "warp_error"); err != nil {
		return g, err
	}
	return g, upload(s, &g.table, warp.Constants().Trust)
}

// upload resizes b and queues a copy.
func upload[T any](s *Stream, b *Buffer[T], values []T) error {
	if err := b.Resize(s.device, len(values)); err != nil {
		return err
	}
	return b.Upload(s, values)
}

func (g *guides) free() {
	g.table.Free()
	g.pictures.Free()
	g.still.Free()
	g.flows.Free()
	g.errors.Free()
	g.trust.Free()
}

// shape is an image of the guides' size without samples.
func (g *guides) shape() frame.Image[flow.Vec] {
	return frame.Image[flow.Vec]{Width: g.width, Height: g.height}
}

func (g *guides) resize(d *Device, width, height, inner int) error {
	pixels := width * height
	g.width, g.height, g.inner = width, height, inner
	if err := g.pictures.Resize(d, 4*pixels); err != nil {
		return err
	}
	if err := g.still.Resize(d, pixels); err != nil {
		return err
	}
	if err := g.flows.Resize(d, (inner+2)*pixels); err != nil {
		return err
	}
	if err := g.errors.Resize(d, (inner+2)*pixels); err != nil {
		return err
	}
	return g.trust.Resize(d, inner*pixels)
}

// load queues copies of in's guides and flows. acceleration says whether those
// beyond are wanted.
func (g *guides) load(s *Stream, in *warp.Interval, acceleration bool) error {
	g.level = in.Level
	g.beyond = acceleration && in.Before != nil && in.After != nil
	pictures := []frame.Image[uint8]{in.GuideA, in.GuideB}
	var flows []flow.Field
	for _, f := range in.Flows {
		flows = append(flows, f.Forward, f.Backward)
	}
	if g.beyond {
		pictures = append(pictures, in.Before.Guide, in.After.Guide)
		flows = append(flows, in.Before.Flow, in.After.Flow)
	}
	for i, p := range pictures {
		if err := uploadAt(s, g.pictures, i, g.width, g.height, p); err != nil {
			return fmt.Errorf("guide %d: %w", i, err)
		}
	}
	for i, f := range flows {
		if err := uploadAt(s, g.flows, i, g.width, g.height, f.Image); err != nil {
			return fmt.Errorf("flow %d: %w", i, err)
		}
	}
	if g.fixed = in.Static.Width > 0; g.fixed {
		if err := uploadAt(s, g.still, 0, g.width, g.height, in.Static); err != nil {
			return fmt.Errorf("static mask: %w", err)
		}
	}
	return nil
}

// measure queues the errors along the flows and the trust in them.
func (g *guides) measure(s *Stream) error {
	n := g.inner
	if g.beyond {
		n += 2
	}
	return s.Launch(g.errorKernel, over(g.width, g.height, n, wideTile), wideBlock, 0,
		g.pictures.Arg(), g.flows.Arg(), Int(g.inner), g.errors.Arg(), g.trust.Arg(), g.table.Arg(), Int(g.table.N), Int(g.width), Int(g.height))
}

// uploadAt queues a copy of m, which is width by height, to the i-th such image of
// b.
func uploadAt[T any](s *Stream, b Buffer[T], i, width, height int, m frame.Image[T]) error {
	return Image[T]{width, height, width, b, i * width * height}.Upload(s, m)
}
