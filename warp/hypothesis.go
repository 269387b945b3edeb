package warp

import (
	"math"
	"sync/atomic"

	"retime/flow"
	"retime/frame"
)

// A hypothesis is a guess, for every pixel of the guides' grid, at the motion from A to
// B through that pixel at the time of the made frame.
type hypothesis struct {
	kind   kind
	motion flow.Field          // from A to B, in 1/256 pixel of the guides
	cost   frame.Image[uint16] // how far A and B disagree along it
	weight frame.Image[uint16] // share of the result, not normalised
}

// kind says how a hypothesis was made, which determines its share.
type kind int

const (
	projected  kind = iota // a flow, splatted to the made frame's time
	neighbour              // the mean of the flows some distance away
	stationary             // no motion
)

// toward returns the part of v that is travelled at the phase, in the units of v,
// rounded to the nearest with ties up.
func toward(v int32, phase Phase) int32 {
	return int32((int64(v)*int64(phase) + PhaseOne/2) >> 16)
}

// unseen is the difference assumed if only one of the neighbours shows the place: it
// speaks neither for nor against the motion.
const unseen = 4 * differenceOne

// inside reports whether (x, y), in 1/256 pixel, is at most half a pixel outside img's
// outermost samples.
func inside[T any](img frame.Image[T], x, y int32) bool {
	return uint32(x+positionOne/2) <= uint32(img.Width)<<positionBits && uint32(y+positionOne/2) <= uint32(img.Height)<<positionBits
}

// measure sets h.cost to the mean difference between the guides along the motion over a
// square.
func (h *hypothesis) measure(workers frame.Workers, scratch *frame.Image[uint16], in *Interval, phase Phase, bend flow.Field, radius int) {
	a, b := in.GuideA, in.GuideB
	if h.kind == stationary {
		bend = flow.Field{}
	}
	scratch.Resize(a.Width, a.Height)
	workers.Rows(a.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out, vec := scratch.Row(y), h.motion.Row(y)
			var bent []flow.Vec
			if bend.Width > 0 {
				bent = bend.Row(y)
			}
			for x := range out {
				v := vec[x]
				ax := int32(x)<<positionBits - toward(v.X, phase)
				ay := int32(y)<<positionBits - toward(v.Y, phase)
				if bent != nil {
					ax -= bent[x].X
					ay -= bent[x].Y
				}
				bx, by := ax+v.X, ay+v.Y
				if inside(a, ax, ay) != inside(b, bx, by) {
					out[x] = unseen
					continue
				}
				out[x] = difference(lookup(a, ax, ay), lookup(b, bx, by))
			}
		}
	})
	boxMean(workers, &h.cost, *scratch, radius)
}

// Weights are integers; weightOne is the largest before a hypothesis's own factors.
const weightOne = 4096

// decay is the rate at which weights fall with the difference, per grey level.
const decay = 1.0 / 15

// falloff is weightOne * exp(-decay*d), indexed by the difference d in its units. The
// table ends where the value reaches 0.
var falloff = func() []uint16 {
	var t []uint16
	for d := 0; ; d++ {
		w := weightOne * math.Exp(-decay*float64(d)/differenceOne)
		t = append(t, uint16(w+0.5))
		if w < 0.5 {
			return t
		}
	}
}()

func fallen(d int32) uint32 {
	if int(d) < len(falloff) {
		return uint32(falloff[d])
	}
	return 0
}

// newGate returns a table of 256 * d^2/(d^2 + knee^2), indexed by the difference d, for
// a knee in grey levels.
func newGate(knee float64) []uint16 {
	t := make([]uint16, 256*differenceOne)
	for d := range t {
		e := float64(d) / differenceOne
		t[d] = uint16(256*e*e/(e*e+knee*knee) + 0.5)
	}
	return t
}

// The still hypothesis counts if the flow fails: its share grows with the least
// difference along any flow.
const (
	stillKnee   = 10 // grey levels
	stillLead   = 20 // grey levels of lead over the flow up to which the bonus grows
	stillFactor = 1.5
)

var stillGate = newGate(stillKnee)

// stillBonus is the factor exp(decay*lead), in 1/256, for leads up to stillLead.
var stillBonus = func() []uint32 {
	t := make([]uint32, stillLead*differenceOne+1)
	for d := range t {
		t[d] = uint32(256*stillFactor*math.Exp(decay*float64(d)/differenceOne) + 0.5)
	}
	return t
}()

// neighbourGate gives weight to the motions of neighbours if no flow fits.
var neighbourGate = newGate(neighbourKnee)

const neighbourKnee = 6 // grey levels

// share sets the hypotheses' weights from their costs. It returns the sum, over all
// pixels, of the least cost of a flow.
func share(workers frame.Workers, hypotheses []*hypothesis) int64 {
	var total atomic.Int64
	first := hypotheses[0].cost
	for _, h := range hypotheses {
		h.weight.Resize(first.Width, first.Height)
	}
	workers.Rows(first.Height, func(y0, y1 int) {
		var sum int64
		defer func() { total.Add(sum) }()
		for i := y0 * first.Width; i < y1*first.Width; i++ {
			least := int32(math.MaxInt32)
			for _, h := range hypotheses {
				if h.kind == projected {
					least = min(least, int32(h.cost.Pix[i]))
				}
			}
			sum += int64(least)
			for _, h := range hypotheses {
				cost := int32(h.cost.Pix[i])
				switch h.kind {
				case projected:
					h.weight.Pix[i] = uint16(fallen(cost - least))
				case neighbour:
					gate := uint32(neighbourGate[min(int(least), len(neighbourGate)-1)])
					h.weight.Pix[i] = uint16(fallen(max(cost-least, 0)) * gate >> 8)
				case stationary:
					h.weight.Pix[i] = stillShare(cost, least)
				}
			}
		}
	})
	return total.Load()
}

func stillShare(cost, least int32) uint16 {
	gate := uint32(stillGate[min(int(least), len(stillGate)-1)])
	if lead := least - cost; lead > 0 {
		return uint16(weightOne * gate * stillBonus[min(int(lead), len(stillBonus)-1)] >> 16)
	}
	return uint16(fallen(cost-least) * gate * stillBonus[0] >> 16)
}

// smooth blurs w with the binomial kernel (1 4 6 4 1)/16 in both directions, and
// repeats the edges.
func smooth(workers frame.Workers, w, scratch *frame.Image[uint16]) {
	scratch.Resize(w.Width, w.Height)
	workers.Rows(w.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			smoothRow(scratch.Row(y), w.Row(y))
		}
	})
	last := w.Height - 1
	workers.Rows(w.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			a, b, c := scratch.Row(max(y-2, 0)), scratch.Row(max(y-1, 0)), scratch.Row(y)
			d, e, out := scratch.Row(min(y+1, last)), scratch.Row(min(y+2, last)), w.Row(y)
			a, b, c, d, e = a[:len(out)], b[:len(out)], c[:len(out)], d[:len(out)], e[:len(out)]
			for x := range out {
				out[x] = uint16((uint32(a[x]) + uint32(e[x]) + 4*(uint32(b[x])+uint32(d[x])) + 6*uint32(c[x]) + 8) >> 4)
			}
		}
	})
}

func smoothRow(dst, src []uint16) {
	n := len(src)
	at := func(i int) uint32 { return uint32(src[min(max(i, 0), n-1)]) }
	tap := func(x int) uint16 {
		return uint16((at(x-2) + at(x+2) + 4*(at(x-1)+at(x+1)) + 6*at(x) + 8) >> 4)
	}
	for x := range min(2, n) {
		dst[x] = tap(x)
	}
	for x := 2; x < n-2; x++ {
		s := src[x-2 : x+3 : x+3]
		dst[x] = uint16((uint32(s[0]) + uint32(s[4]) + 4*(uint32(s[1])+uint32(s[3])) + 6*uint32(s[2]) + 8) >> 4)
	}
	for x := max(2, n-2); x < n; x++ {
		dst[x] = tap(x)
	}
}
