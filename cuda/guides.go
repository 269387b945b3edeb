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
	bending              warp.Bending
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

// load queues copies of what is on the device of in's guides, flows and mask, in the
// order of imagesOf.
func (g *guides) load(s *Stream, in *warp.Interval, beyond bool, images []*image) error {
	g.level, g.beyond, g.fixed = in.Level, beyond, in.Static.Width > 0
	pixels, pictures, flows := g.width*g.height, 2, g.inner
	if beyond {
		pictures, flows = pictures+2, flows+2
		g.bending = in.Bending()
	}
	for i, m := range images {
		var to Buffer[byte]
		switch {
		case i < pictures:
			to = g.pictures.part(i*pixels, pixels)
		case i < pictures+flows:
			to = g.flows.part((i-pictures)*pixels, pixels).bytes()
		default:
			to = g.still
		}
		if m.bytes.N != to.N {
			return fmt.Errorf("image %d of the interval: %d bytes, want %d", i, m.bytes.N, to.N)
		}
		if err := to.copyFrom(s, m.bytes); err != nil {
			return err
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
