package cuda

import (
	"errors"
	"fmt"

	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// guides are an interval's pictures and flows in device memory, each of width by height without
// gaps, one after the other, and the errors along the flows.
//
// The pictures are A, B, the one before and the one after. The flows lead, in turn,
// from A to B and from B to A, then from A and B to the pictures before and after.
type guides struct {
	kernels guideKernels
	table   Buffer[uint16]

	width, height, level int
	inner                int // number of flows between A and B
	outside
	pictures      Buffer[byte]
	quads         Buffer[uint32] // of the pictures
	fixed         bool           // whether something may be still on top of the picture
	still         Buffer[byte]
	flows         Buffer[flow.Vec]
	errors, trust Buffer[uint16]
}

// outside tells what guides have beyond A and B.
type outside struct {
	outer   [2]bool // whether there is a picture before, and after
	beyond  bool    // whether there are flows to both
	steady  bool    // whether these flows also show what only one neighbour has
	bending warp.Bending
}

// guideKernels are the kernels that work on guides.
type guideKernels struct{ errors, overlay, quads *Kernel }

func (g *guides) open(s *Stream, _ *warp.Params) (err error) {
	if g.kernels.errors, err = s.device.Kernel("error", "warp_error"); err != nil {
		return err
	}
	if g.kernels.overlay, err = s.device.Kernel("overlay", "overlay_mask"); err != nil {
		return err
	}
	if g.kernels.quads, err = s.device.Kernel("quad", "make_quads"); err != nil {
		return err
	}
	return upload(s, &g.table, warp.Constants().Trust)
}

// upload resizes b and queues a copy of values to it.
func upload[T any](s *Stream, b *Buffer[T], values []T) error {
	if err := b.Resize(s.device, len(values)); err != nil {
		return err
	}
	return b.Upload(s, values)
}

func (g *guides) free() {
	g.table.Free()
	g.pictures.Free()
	g.quads.Free()
	g.still.Free()
	g.flows.Free()
	g.errors.Free()
	g.trust.Free()
}

// shape returns an image of the guides' size without samples.
func (g *guides) shape() frame.Image[flow.Vec] {
	return frame.Image[flow.Vec]{Width: g.width, Height: g.height}
}

func (g *guides) resize(s *Stream, to *layout) error {
	g.width, g.height, g.inner = to.guideWidth, to.guideHeight, to.flows
	d, pixels := s.device, g.width*g.height
	return errors.Join(
		g.pictures.Resize(d, maxPictures*pixels), g.quads.Resize(d, maxPictures*pixels), g.still.Resize(d, pixels),
		g.flows.Resize(d, (g.inner+2)*pixels), g.errors.Resize(d, (g.inner+2)*pixels), g.trust.Resize(d, (g.inner+2)*pixels),
	)
}

// maxPictures is the largest number of guides.
const maxPictures = 4

// load queues copies of in's guides, flows and mask from images, which are on the device. at
// describes each image.
func (g *guides) load(s *Stream, in *warp.Interval, beyond bool, at []rows, images []*image) error {
	g.level, g.beyond, g.fixed, g.outer = in.Level, beyond, false, [2]bool{}
	g.steady = beyond && in.Steady()
	if beyond {
		g.bending = in.Bending()
	}
	pixels := g.width * g.height
	for i, m := range images {
		var to Buffer[byte]
		switch place := at[i].place; {
		case at[i].kind == flowKind:
			to = g.flows.part(place*pixels, pixels).bytes()
		case place == maskPlace:
			to, g.fixed = g.still, true
		default:
			to = g.pictures.part(place*pixels, pixels)
			if place >= 2 {
				g.outer[place-2] = true
			}
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

// findOverlays queues the kernel that adds overlays to the mask, if there are enough
// pictures to detect them.
func (g *guides) findOverlays(s *Stream) error {
	// One picture may serve as both of the others.
	third, fourth := 2, 3
	switch {
	case !g.outer[0] && !g.outer[1]:
		return nil
	case !g.outer[0]:
		third = fourth
	case !g.outer[1]:
		fourth = third
	}
	var given Arg
	if g.fixed {
		given = g.still.Arg()
	}
	var beyond Arg
	if pixels := g.width * g.height; g.beyond {
		beyond = g.flows.part(g.inner*pixels, 2*pixels).Arg()
	}
	g.fixed = true
	return s.Launch(g.kernels.overlay, Cover(g.width, g.height, wideTile), wideBlock, 0,
		g.still.Arg(), given, g.pictures.Arg(), Int(third), Int(fourth), g.flows.Arg(), beyond, Int(g.width), Int(g.height),
		Int(g.level))
}

// projected is the number of flows that are splatted to the made frame's time.
func (g *guides) projected() int {
	if g.steady {
		return g.inner + 2
	}
	return g.inner
}

// measure queues the kernel that computes the errors along the flows and the trust in
// the flows.
func (g *guides) measure(s *Stream) error {
	n := g.inner
	if g.beyond {
		n += 2
	}
	return s.Launch(g.kernels.errors, over(g.width, g.height, n, wideTile), wideBlock, 0,
		g.pictures.Arg(), g.flows.Arg(), Int(g.inner), g.errors.Arg(), g.trust.Arg(), g.table.Arg(), Int(g.table.N), Int(g.width), Int(g.height))
}

// findQuads queues the kernel that makes the quads of the pictures that hypotheses read.
func (g *guides) findQuads(s *Stream) error {
	n := 2
	if g.beyond {
		n = maxPictures
	}
	return s.Launch(g.kernels.quads, over(g.width, g.height, n, wideBlock), wideBlock, 0,
		g.quads.Arg(), g.pictures.Arg(), Int(g.width), Int(g.height))
}

// lying returns the address of the certainties that pixels are still, or 0 if none is.
func (g *guides) lying() Arg {
	if !g.fixed {
		return Arg{}
	}
	return g.still.Arg()
}
