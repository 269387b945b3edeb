package cuda

import (
	"errors"

	"retime/flow"
	"retime/warp"
)

// accelerations holds the accelerations of cells of the guides in both frames of an interval.
type accelerations struct {
	gather  *Kernel
	credits Buffer[uint16]

	columns, lines int              // of cells
	motions        Buffer[flow.Vec] // of the cells
	changes        Buffer[uint64]
}

func (a *accelerations) open(s *Stream, _ *warp.Params) (err error) {
	if a.gather, err = s.device.Kernel("bend", "bend_gather"); err != nil {
		return err
	}
	return upload(s, &a.credits, warp.Constants().Credit)
}

func (a *accelerations) free() {
	a.credits.Free()
	a.motions.Free()
	a.changes.Free()
}

func (a *accelerations) resize(s *Stream, to *layout) error {
	a.columns, a.lines = bendCells(to)
	cells := a.columns * a.lines
	return errors.Join(a.motions.Resize(s.device, 2*cells), a.changes.Resize(s.device, 6*cells))
}

// bendCells returns the number of columns and of rows of cells.
func bendCells(l *layout) (columns, lines int) {
	size := cellSize(l.level)
	return ceilDiv(l.guideWidth, size), ceilDiv(l.guideHeight, size)
}

// bend computes how far moving things are off the straight line between two frames.
type bend struct {
	move, average, combine, spread *Kernel

	columns, lines int            // of cells
	moved          Buffer[uint64] // zero between frames
	means          Buffer[[3]float32]
	cells          Buffer[[2]float32]
	field          Buffer[flow.Vec]
}

func (b *bend) open(s *Stream, _ *warp.Params) error {
	return s.device.Kernels("bend", map[string]**Kernel{
		"bend_move": &b.move, "bend_average": &b.average, "bend_combine": &b.combine, "bend_spread": &b.spread,
	})
}

func (b *bend) free() {
	b.moved.Free()
	b.means.Free()
	b.cells.Free()
	b.field.Free()
}

// cellSize returns the side of a cell in pixels of the guides.
func cellSize(level int) int { return 1 << (warp.Constants().CellBits - level) }

func (b *bend) resize(s *Stream, to *layout) error {
	b.columns, b.lines = bendCells(to)
	cells, d := b.columns*b.lines, s.device
	return errors.Join(b.moved.Resize(d, 6*cells), b.means.Resize(d, 2*cells), b.cells.Resize(d, cells),
		b.field.Resize(d, to.guideWidth*to.guideHeight))
}

// measure queues the kernel that sets the accelerations from the flows and their errors.
func (a *accelerations) measure(s *Stream, g *guides) error {
	how := &g.bending
	return s.Launch(a.gather, over(a.columns, a.lines, 2, wideBlock), wideBlock, 0,
		g.flows.Arg(), g.errors.Arg(), Int(g.inner), a.changes.Arg(), a.motions.Arg(), Int(g.width), Int(g.height),
		Int(a.columns), Int(a.lines), Int(cellSize(g.level)),
		Int(int(how.Inner[0])), Int(int(how.Inner[1])), Int(int(how.Outer[0])), Int(int(how.Outer[1])), Int(int(how.Limit[0])), Int(int(how.Limit[1])),
		a.credits.Arg(), Int(a.credits.N))
}

// make queues the kernels that set field to the bend at the phase.
func (b *bend) make(s *Stream, g *guides, a *accelerations, phase warp.Phase) error {
	level := g.level
	err := s.Launch(b.move, over(b.columns, b.lines, 2, wideBlock), wideBlock, 0,
		a.changes.Arg(), a.motions.Arg(), b.moved.Arg(), Int(b.columns), Int(b.lines),
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
