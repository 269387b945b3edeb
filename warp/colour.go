package warp

import (
	"errors"

	"retime/flow"
	"retime/frame"
	"retime/inpaint"
)

// splatScratch is the memory for splatting one neighbour's plane.
type splatScratch struct {
	flow   flow.Field
	weight frame.Image[uint16]
	holes  frame.Image[uint8]
	moved8 frame.Image[uint8] // the pixels that arrived
	moved  frame.Image[uint16]
}

// splat makes a frame by moving both neighbours' colours forward. It blends by phase
// the pixels at which both arrive, takes the one that arrives alone, and inpaints the
// rest.
func splat[T frame.Sample](m *maker, dst *frame.Frame, phase Phase) error {
	for i := range dst.Planes {
		if err := splatPlane[T](m, dst, i, phase); err != nil {
			return err
		}
	}
	return nil
}

func splatPlane[T frame.Sample](m *maker, dst *frame.Frame, i int, phase Phase) error {
	in, workers := &m.of.in, m.params.Workers
	sx, sy := dst.Format.Subsampling(i)
	out := frame.Samples[T](dst.Planes[i])
	a := &m.splats[0]
	b := &m.splats[1]
	movedA := move[T](m, a, in.A.Planes[i], in.Flows[0].Forward, m.of.pairs[0].trustA, phase, sx-in.Level, sy-in.Level)
	movedB := move[T](m, b, in.B.Planes[i], in.Flows[0].Backward, m.of.pairs[0].trustB, PhaseOne-phase, sx-in.Level, sy-in.Level)
	mask := &m.holes
	mask.Resize(out.Width, out.Height)
	workers.Rows(out.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, hole := out.Row(y), mask.Row(y)
			ra, rb, ha, hb := movedA.Row(y), movedB.Row(y), a.holes.Row(y), b.holes.Row(y)
			for x := range row {
				hole[x] = ha[x] & hb[x]
				switch {
				case ha[x] != 0:
					row[x] = rb[x]
				case hb[x] != 0:
					row[x] = ra[x]
				default:
					row[x] = T((uint64(ra[x])*uint64(PhaseOne-phase) + uint64(rb[x])*uint64(phase) + PhaseOne/2) >> 16)
				}
			}
		}
	})
	m.inpaint[0].SetMask(*mask)
	err := inpaint.Fill(m.inpaint[0], out)
	if errors.Is(err, inpaint.ErrNoBorder) {
		// If nothing arrived from either neighbour, a cross-fade is the best guess
		// left.
		blendPlane(workers, out, frame.Samples[T](in.A.Planes[i]), frame.Samples[T](in.B.Planes[i]), phase)
		return nil
	}
	return err
}

// move splats p along f, which is on the guides' grid: 2^sx by 2^sy pixels of the grid
// make one of the plane.
func move[T frame.Sample](m *maker, c *splatScratch, p frame.Plane, f flow.Field, weight frame.Image[uint16], phase Phase, sx, sy int) frame.Image[T] {
	src := frame.Samples[T](p)
	c.flow.Resize(src.Width, src.Height)
	c.weight.Resize(src.Width, src.Height)
	c.holes.Resize(src.Width, src.Height)
	ResampleFlow(m.params.Workers, c.flow, f, sx, sy)
	ResampleWeights(m.params.Workers, c.weight, weight, sx, sy)
	dst := c.arrived(src.Width, src.Height, T(0)).(frame.Image[T])
	SplatPlane(&m.arrivals[0].splatter, dst, c.holes, src, Motion{Flow: c.flow, Phase: phase, Weight: c.weight}, 1)
	return dst
}

// arrived returns the scratch image whose samples have the type of sample.
func (c *splatScratch) arrived(width, height int, sample any) any {
	if _, ok := sample.(uint8); ok {
		c.moved8.Resize(width, height)
		return c.moved8
	}
	c.moved.Resize(width, height)
	return c.moved
}
