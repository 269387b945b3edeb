package cuda

import (
	"errors"
	"math/bits"

	"retime/flow"
	"retime/warp"
)

// hypothesis describes one motion for every pixel of the guides. It has the layout of
// Hypothesis in hypothesis.cuh.
type hypothesis struct {
	kind       int32 // as package warp numbers them
	first, log int32 // it is the mean of 1<<log projected flows, from number first on
	dx, dy     int32 // offset at which it is read
	_          int32
}

// hypotheses lists the guesses for a pixel's motion in package warp's order, for the
// given number of flows. The last two are the guesses from the flows beyond the
// interval.
func hypotheses(flows, level int) []hypothesis {
	c := warp.Constants()
	var list []hypothesis
	for i := range flows {
		list = append(list, hypothesis{kind: c.Projected, first: int32(i)})
	}
	list = append(list, hypothesis{kind: c.Stationary})
	log := int32(bits.Len(uint(flows)) - 1) // flows is a power of two
	for _, at := range c.Around {
		list = append(list, hypothesis{kind: c.Neighbour, log: log, dx: int32(at[0] / (1 << level)), dy: int32(at[1] / (1 << level))})
	}
	return append(list, hypothesis{kind: c.OnlyFirst, first: int32(flows)}, hypothesis{kind: c.OnlySecond, first: int32(flows + 1)})
}

// shares holds the weights of the hypotheses.
type shares struct {
	energy, cell, pass, share, smooth *Kernel
	tables                            choiceTables

	n        int // number of hypotheses in use
	list     Buffer[hypothesis]
	energies Buffer[int16]
	cells    cells

	weights, scratch Buffer[uint16]
}

// choiceTables are package warp's.
type choiceTables struct {
	neighbourGate, onlyGate Buffer[int16]
	penalty, likelihood     Buffer[uint16]
}

// cells holds the choice on cells of the guides' grid.
type cells struct {
	energies Buffer[int16]
	motions  Buffer[flow.Vec]
	sums     Buffer[int32]
	guide    Buffer[byte]
}

func newShares(s *Stream) (h shares, err error) {
	for _, k := range []struct {
		kernel     **Kernel
		file, name string
	}{
		{&h.energy, "energy", "hypothesis_energies"}, {&h.cell, "choose", "cell_energies"},
		{&h.pass, "choose", "pass_messages"}, {&h.share, "choose", "share_weights"}, {&h.smooth, "smooth", "smooth_weights"},
	} {
		if *k.kernel, err = s.device.Kernel(k.file, k.name); err != nil {
			return h, err
		}
	}
	c, t := warp.Constants(), &h.tables
	return h, errors.Join(
		upload(s, &t.neighbourGate, c.NeighbourGate), upload(s, &t.onlyGate, c.OnlyGate),
		upload(s, &t.penalty, c.Penalty), upload(s, &t.likelihood, c.Likelihood),
	)
}

func (h *shares) free() {
	h.tables.neighbourGate.Free()
	h.tables.onlyGate.Free()
	h.tables.penalty.Free()
	h.tables.likelihood.Free()
	h.list.Free()
	h.energies.Free()
	h.cells.energies.Free()
	h.cells.motions.Free()
	h.cells.sums.Free()
	h.cells.guide.Free()
	h.weights.Free()
	h.scratch.Free()
}

func (h *shares) resize(s *Stream, width, height int, list []hypothesis) error {
	columns, lines := choiceCells(width, height)
	n, cells, d := len(list), columns*lines, s.device
	return errors.Join(
		upload(s, &h.list, list),
		h.energies.Resize(d, n*width*height),
		h.cells.energies.Resize(d, n*cells), h.cells.motions.Resize(d, n*cells), h.cells.sums.Resize(d, n*cells), h.cells.guide.Resize(d, cells),
		h.weights.Resize(d, n*width*height), h.scratch.Resize(d, n*width*height),
	)
}

// choiceCells returns the number of columns and of lines of cells.
func choiceCells(width, height int) (columns, lines int) {
	size := 1 << warp.Constants().ChoiceBits
	return ceilDiv(width, size), ceilDiv(height, size)
}

// begin chooses the hypotheses of an interval.
func (h *shares) begin(g *guides) {
	h.n = h.list.N
	if !g.steady {
		h.n -= 2
	}
}

// make queues the kernels that set weights. bends may be 0. total grows by the least
// cost of a projected flow at each pixel.
func (h *shares) make(s *Stream, g *guides, p *projection, bends Arg, phase warp.Phase, total Arg) error {
	pixels := wideTile.X * wideTile.Y
	err := s.Launch(h.energy, Cover(g.width, g.height, wideTile), wideBlock, h.n*pixels*2,
		g.pictures.Arg(), p.motions.Arg(), bends, h.list.Arg(), Int(h.n), h.energies.Arg(), Int(g.width), Int(g.height),
		Int(int(phase)), Int(warp.Constants().CostRadius>>g.level),
		h.tables.neighbourGate.Arg(), h.tables.onlyGate.Arg(), Int(h.tables.onlyGate.N), total)
	if err != nil {
		return err
	}
	if err := h.choose(s, g, p, phase); err != nil {
		return err
	}
	var fixed Arg
	if g.fixed {
		fixed = g.still.Arg()
	}
	return s.Launch(h.smooth, over(g.width, g.height, h.n, wholeTile), wideBlock, 0,
		h.weights.Arg(), h.scratch.Arg(), h.list.Arg(), fixed, Int(g.width), Int(g.height))
}

// A block of pass_messages follows passPaths paths with a thread for each of up to
// sixteen hypotheses.
const passPaths = 8

var passBlock = Dim{passPaths * 16, 1, 1}

// choose queues the kernels that set scratch to the shares that follow from the
// energies.
func (h *shares) choose(s *Stream, g *guides, p *projection, phase warp.Phase) error {
	columns, lines := choiceCells(g.width, g.height)
	err := s.Launch(h.cell, Cover(columns, lines, wideBlock), wideBlock, 0,
		g.pictures.Arg(), p.motions.Arg(), h.list.Arg(), Int(h.n), h.energies.Arg(), Int(g.width), Int(g.height), Int(int(phase)),
		h.cells.energies.Arg(), h.cells.motions.Arg(), h.cells.sums.Arg(), h.cells.guide.Arg())
	if err != nil {
		return err
	}
	const directions = 4
	err = s.Launch(h.pass, Dim{ceilDiv(max(columns, lines), passPaths), directions, 1}, passBlock, 0,
		h.cells.energies.Arg(), h.cells.motions.Arg(), h.cells.guide.Arg(), Int(h.n), Int(columns), Int(lines), h.tables.penalty.Arg(), h.cells.sums.Arg())
	if err != nil {
		return err
	}
	return s.Launch(h.share, Cover(g.width, g.height, wideBlock), wideBlock, 0,
		h.energies.Arg(), h.cells.sums.Arg(), Int(h.n), h.scratch.Arg(), Int(g.width), Int(g.height), h.tables.likelihood.Arg(), Int(h.tables.likelihood.N))
}
