package cuda

import (
	"errors"
	"fmt"

	"retime/flow"
	"retime/warp"
)

// hypothesis describes one motion for every pixel of the guides. It is laid out like Hypothesis in
// hypothesis.cuh.
type hypothesis struct {
	kind   int32 // as package warp numbers them
	plane  int32 // index of the motion in projection
	dx, dy int32 // offset at which to read it
}

// hypotheses lists the guesses for a pixel's motion in package warp's order, for the
// given number of flows, without the stationary one. The last two are the guesses from the
// flows beyond the interval.
func hypotheses(flows, level int) []hypothesis {
	c := warp.Constants()
	var list []hypothesis
	for i := range flows {
		list = append(list, hypothesis{kind: c.Projected, plane: int32(i)})
	}
	mean := int32(meanPlane(flows))
	for _, at := range c.Around {
		list = append(list, hypothesis{c.Neighbour, mean, int32(at[0] / (1 << level)), int32(at[1] / (1 << level))})
	}
	return append(list, hypothesis{kind: c.OnlyFirst, plane: int32(flows)}, hypothesis{kind: c.OnlySecond, plane: int32(flows + 1)})
}

// shares holds the weights of the hypotheses.
type shares struct {
	energy, pass, share *Kernel
	tables              choiceTables

	n        int // number of hypotheses in use, which is even
	strip    strip
	list     Buffer[hypothesis]
	energies Buffer[int16]
	cells    cells

	weights Buffer[uint16]
}

// choiceTables are package warp's tables.
type choiceTables struct {
	neighbourGate, onlyGate Buffer[int16]
	penalty, likelihood     Buffer[uint16]
}

// cells holds the choice on cells of the guides' grid.
type cells struct {
	energies Buffer[int16]
	motions  Buffer[flow.Vec]
	sums     Buffer[uint16] // two per word
	guide    Buffer[byte]
}

func (h *shares) open(s *Stream, _ *warp.Params) error {
	c, t := warp.Constants(), &h.tables
	return errors.Join(
		s.device.Kernels("choose", map[string]**Kernel{"pass_messages": &h.pass, "share_weights": &h.share}),
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
}

func (h *shares) resize(s *Stream, to *layout) (err error) {
	columns, lines := choiceCells(to.guideWidth, to.guideHeight)
	list, pixels := hypotheses(to.flows, to.level), to.guideWidth*to.guideHeight
	n, cells, d := len(list), columns*lines, s.device
	h.strip = stripFor(warp.Constants().CostRadius >> to.level)
	if h.energy, err = d.Kernel("energy", fmt.Sprintf("energies_%d", h.strip.radius)); err != nil {
		return err
	}
	return errors.Join(
		upload(s, &h.list, list),
		h.energies.Resize(d, n*pixels),
		h.cells.energies.Resize(d, n*cells), h.cells.motions.Resize(d, n*cells), h.cells.sums.Resize(d, n*cells), h.cells.guide.Resize(d, cells),
		h.weights.Resize(d, n*pixels),
	)
}

// choiceCells returns the number of columns and of rows of cells.
func choiceCells(width, height int) (columns, lines int) {
	size := 1 << warp.Constants().ChoiceBits
	return ceilDiv(width, size), ceilDiv(height, size)
}

// begin selects the hypotheses of an interval.
func (h *shares) begin(g *guides) {
	h.n = h.list.N
	if !g.steady {
		h.n -= 2
	}
}

// strip is the part of the guides on which a block of energies_RADIUS works: Strip in energy.cu.
type strip struct{ radius, columns, rows int }

const stripLanes = 32

// memory returns the number of bytes of shared memory that n hypotheses take: Memory in energy.cu
// divides them.
func (s strip) memory(n int) int {
	cells := s.columns * s.rows >> (2 * warp.Constants().ChoiceBits)
	return n*cells*(vectorBytes+2) + n*s.rows*stripLanes*2 + s.rows*s.columns*2
}

func stripFor(radius int) strip {
	cell := 1 << warp.Constants().ChoiceBits
	turns := map[int]int{1: 10, 2: 8, 4: 4}[radius]
	return strip{radius, (stripLanes - 2*radius) &^ (cell - 1), turns*(2*radius+1) - 2*radius}
}

// The sizes of a tile of share_weights and of what the tile reads.
var (
	shareTile = Dim{32, 22, 1}
	shareHalo = Dim{36, 26, 1}
)

// passBlock is the number of threads that follow a path.
var passBlock = Dim{128, 1, 1}

// make queues the kernels that set weights. bends may be 0. total grows by the lowest cost of a
// projected flow at each pixel.
func (h *shares) make(s *Stream, g *guides, p *projection, bends Arg, phase warp.Phase, total Arg) error {
	t, c := &h.tables, &h.cells
	block := Dim{stripLanes, h.n, 1}
	err := s.Launch(h.energy, Cover(g.width, g.height, Dim{h.strip.columns, h.strip.rows, 1}), block, h.strip.memory(h.n),
		g.quads.Arg(), p.motions.Arg(), bends, h.list.Arg(), Int(g.inner), h.energies.Arg(), Int(g.width), Int(g.height), Int(int(phase)),
		t.neighbourGate.Arg(), t.onlyGate.Arg(), Int(t.onlyGate.N), total,
		c.energies.Arg(), c.motions.Arg(), c.sums.Arg(), c.guide.Arg())
	if err != nil {
		return err
	}
	const directions = 4
	columns, lines := choiceCells(g.width, g.height)
	err = s.Launch(h.pass, Dim{max(columns, lines), directions, 1}, passBlock, 0,
		c.energies.Arg(), c.motions.Arg(), c.guide.Arg(), Int(h.n), Int(columns), Int(lines), t.penalty.Arg(), c.sums.Arg())
	if err != nil {
		return err
	}
	return s.Launch(h.share, Cover(g.width, g.height, shareTile), block, 2*(t.likelihood.N+1+h.n*shareHalo.X*shareHalo.Y),
		h.energies.Arg(), c.sums.Arg(), h.weights.Arg(), g.lying(), Int(g.width), Int(g.height), t.likelihood.Arg(), Int(t.likelihood.N))
}
