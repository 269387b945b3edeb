package cuda

import (
	"math/bits"

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
// given number of flows.
func hypotheses(flows int, neighbours bool, level int) []hypothesis {
	c := warp.Constants()
	var list []hypothesis
	for i := range flows {
		list = append(list, hypothesis{kind: c.Projected, first: int32(i)})
	}
	list = append(list, hypothesis{kind: c.Stationary})
	if neighbours {
		log := int32(bits.Len(uint(flows)) - 1) // flows is a power of two
		off := int32(c.Overlap >> level)
		for k := range int32(4) {
			list = append(list, hypothesis{kind: c.Neighbour, log: log, dx: off * (2*(k&1) - 1), dy: off * (k&2 - 1)})
		}
	}
	return list
}

// shares holds the weights of the hypotheses.
type shares struct {
	share, smooth *Kernel

	falloff, neighbourGate, stillGate Buffer[uint16]
	stillBonus                        Buffer[uint32]

	n                int
	list             Buffer[hypothesis]
	weights, scratch Buffer[uint16]
}

func newShares(s *Stream) (h shares, err error) {
	if h.share, err = s.device.Kernel("share", "share_weights"); err != nil {
		return h, err
	}
	if h.smooth, err = s.device.Kernel("smooth", "smooth_weights"); err != nil {
		return h, err
	}
	c := warp.Constants()
	for _, t := range []struct {
		b      *Buffer[uint16]
		values []uint16
	}{{&h.falloff, c.Falloff}, {&h.neighbourGate, c.NeighbourGate}, {&h.stillGate, c.StillGate}} {
		if err := upload(s, t.b, t.values); err != nil {
			return h, err
		}
	}
	return h, upload(s, &h.stillBonus, c.StillBonus)
}

func (h *shares) free() {
	h.falloff.Free()
	h.neighbourGate.Free()
	h.stillGate.Free()
	h.stillBonus.Free()
	h.list.Free()
	h.weights.Free()
	h.scratch.Free()
}

func (h *shares) resize(s *Stream, width, height int, list []hypothesis) error {
	h.n = len(list)
	if err := upload(s, &h.list, list); err != nil {
		return err
	}
	if err := h.weights.Resize(s.device, h.n*width*height); err != nil {
		return err
	}
	return h.scratch.Resize(s.device, h.n*width*height)
}

// make queues the kernels that set weights. bends may be 0. total grows by the least
// cost of a projected flow at each pixel.
func (h *shares) make(s *Stream, g *guides, p *projection, bends Arg, phase warp.Phase, total Arg) error {
	pixels := wideTile.X * wideTile.Y
	err := s.Launch(h.share, Cover(g.width, g.height, wideTile), wideBlock, h.n*pixels*2,
		g.pictures.Arg(), p.motions.Arg(), bends, h.list.Arg(), Int(h.n), h.scratch.Arg(), Int(g.width), Int(g.height),
		Int(int(phase)), Int(warp.Constants().CostRadius>>g.level),
		h.falloff.Arg(), Int(h.falloff.N), h.neighbourGate.Arg(), h.stillGate.Arg(), Int(h.stillGate.N),
		h.stillBonus.Arg(), Int(h.stillBonus.N), total)
	if err != nil {
		return err
	}
	var fixed Arg
	if g.fixed {
		fixed = g.still.Arg()
	}
	return s.Launch(h.smooth, over(g.width, g.height, h.n, wholeTile), wideBlock, 0,
		h.weights.Arg(), h.scratch.Arg(), h.list.Arg(), fixed, Int(g.width), Int(g.height))
}
