package cuda

import (
	"retime/flow"
	"retime/warp"
)

// bend computes how far moving things lie off the straight line between two frames.
type bend struct {
	gather, move, average, combine, spread *Kernel
	credits                                Buffer[uint16]

	columns, lines int              // of cells
	motions        Buffer[flow.Vec] // of the cells
	changes, moved Buffer[uint64]   // moved is zero between frames
	means          Buffer[[3]float32]
	cells          Buffer[[2]float32]
	field          Buffer[flow.Vec]
}

func newBend(s *Stream) (b bend, err error) {
	err = s.device.Kernels("bend", map[string]**Kernel{
		"bend_gather": &b.gather, "bend_move": &b.move, "bend_average": &b.average,
		"bend_combine": &b.combine, "bend_spread": &b.spread,
	})
	if err != nil {
		return b, err
	}
	return b, upload(s, &b.credits, warp.Constants().Credit)
}

func (b *bend) free() {
	b.credits.Free()
	b.motions.Free()
	b.changes.Free()
	b.moved.Free()
	b.means.Free()
	b.cells.Free()
	b.field.Free()
}

// cellSize returns the side of a cell in pixels of the guides.
func cellSize(level int) int { return 1 << (warp.Constants().CellBits - level) }

func (b *bend) resize(d *Device, width, height, level int) error {
	size := cellSize(level)
	b.columns, b.lines = ceilDiv(width, size), ceilDiv(height, size)
	cells := b.columns * b.lines
	if err := b.motions.Resize(d, 2*cells); err != nil {
		return err
	}
	if err := b.changes.Resize(d, 6*cells); err != nil {
		return err
	}
	if err := b.moved.Resize(d, 6*cells); err != nil {
		return err
	}
	if err := b.means.Resize(d, 2*cells); err != nil {
		return err
	}
	if err := b.cells.Resize(d, cells); err != nil {
		return err
	}
	return b.field.Resize(d, width*height)
}

// prepare queues the work that all phases of an interval share.
func (b *bend) prepare(s *Stream, g *guides) error {
	how := &g.bending
	return s.Launch(b.gather, over(b.columns, b.lines, 2, wideBlock), wideBlock, 0,
		g.flows.Arg(), g.errors.Arg(), Int(g.inner), b.changes.Arg(), b.motions.Arg(), Int(g.width), Int(g.height),
		Int(b.columns), Int(b.lines), Int(cellSize(g.level)),
		Int(int(how.Inner[0])), Int(int(how.Inner[1])), Int(int(how.Outer[0])), Int(int(how.Outer[1])), Int(int(how.Limit[0])), Int(int(how.Limit[1])),
		b.credits.Arg(), Int(b.credits.N))
}

// make queues the kernels that set field to the bend at the phase.
func (b *bend) make(s *Stream, g *guides, phase warp.Phase) error {
	level := g.level
	err := s.Launch(b.move, over(b.columns, b.lines, 2, wideBlock), wideBlock, 0,
		b.changes.Arg(), b.motions.Arg(), b.moved.Arg(), Int(b.columns), Int(b.lines),
		Int(warp.Constants().CellBits-level), Int(int(phase)))
	if err != nil {
		return err
	}
	size := int64(cellSize(level))
	unit := 1 / float32(flow.One*flow.One*warp.Constants().CreditOne*size*size)
	length := unit * float32(int64(1)<<level) / flow.One
	err = s.Launch(b.average, over(b.columns, b.lines, 2, wideBlock), wideBlock, 0,
		b.moved.Arg(), b.means.Arg(), Int(b.columns), Int(b.lines), Float(length), Float(unit))
	if err != nil {
		return err
	}
	t := float32(phase) / warp.PhaseOne
	factor := float32(float32(-0.5*t) * (1 - t))
	shareA, shareB, dispute := g.bending.Weights(phase)
	err = s.Launch(b.combine, Cover(b.columns, b.lines, wideBlock), wideBlock, 0,
		b.means.Arg(), b.moved.Arg(), b.cells.Arg(), Int(b.columns), Int(b.lines), Float(factor),
		Float(shareA), Float(shareB), Float(dispute))
	if err != nil {
		return err
	}
	return s.Launch(b.spread, Cover(g.width, g.height, wideBlock), wideBlock, 0,
		b.cells.Arg(), b.field.Arg(), Int(g.width), Int(g.height), Int(b.columns), Int(b.lines),
		Int(int(size)), Float(float32(flow.One)/float32(int(1)<<level)))
}
