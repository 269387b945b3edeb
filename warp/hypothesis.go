package warp

import (
	"math"
	"sync"
	"sync/atomic"

	"retime/flow"
	"retime/frame"
)

// A hypothesis is a guess, for every pixel of the guides' grid, at the motion from A to
// B through that pixel at the time of the made frame.
type hypothesis struct {
	kind   kind
	motion flow.Field          // from A to B, in 1/256 pixel of the guides
	cost   frame.Image[uint16] // how far the frames that show it disagree along it
	energy frame.Image[int16]  // how implausible it is, in units of differences
	weight frame.Image[uint16] // share of the result, not normalised
}

// kind says how a hypothesis was made, which determines its energy and the neighbours
// that show it.
type kind int

const (
	projected  kind = iota // a flow, splatted to the made frame's time
	neighbour              // the mean of the flows some distance away
	stationary             // no motion, for what lies still over the picture
	onlyFirst              // the motion from the frame before A goes on, and A alone shows it
	onlySecond             // the motion to the frame after B was the same before, and B alone shows it
)

// bends reports whether the common acceleration applies to hypotheses of this kind.
// Those that one neighbour shows keep the speed that they have beyond it.
func (k kind) bends() bool { return k == projected || k == neighbour }

// seen returns the neighbours that show hypotheses of this kind.
func (k kind) seen() Seen {
	switch k {
	case onlyFirst:
		return SeenInFirst
	case onlySecond:
		return SeenInSecond
	}
	return SeenInBoth
}

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

// The differences assumed if the neighbour that alone shows a hypothesis does not show
// the place, and if only the frame beyond that neighbour does not.
const (
	hidden       = 40 * differenceOne
	unseenBeyond = 8 * differenceOne
)

// measure sets h.cost to the mean difference along the motion, over a square, between
// the guides of A and B, or of the one neighbour that shows h and the frame beyond it.
func (h *hypothesis) measure(workers frame.Workers, scratch *frame.Image[uint16], in *Interval, phase Phase, bend flow.Field) {
	scratch.Resize(in.GuideA.Width, in.GuideA.Height)
	workers.Rows(scratch.Height, func(y0, y1 int) { h.compare(*scratch, in, phase, bend, y0, y1) })
	boxMean(workers, &h.cost, *scratch, costRadius>>in.Level)
}

// compare sets rows [y0, y1) of dst to the differences that measure averages.
func (h *hypothesis) compare(dst frame.Image[uint16], in *Interval, phase Phase, bend flow.Field, y0, y1 int) {
	if !h.kind.bends() {
		bend = flow.Field{}
	}
	switch h.kind {
	case onlyFirst:
		loops.disagreementBeyond(dst, in.GuideA, in.Before.Guide, h.motion, -int32(phase), -1, y0, y1)
	case onlySecond:
		loops.disagreementBeyond(dst, in.GuideB, in.After.Guide, h.motion, int32(PhaseOne-phase), 1, y0, y1)
	default:
		loops.disagreement(dst, in.GuideA, in.GuideB, h.motion, bend, phase, y0, y1)
	}
}

func disagreementRows(dst frame.Image[uint16], a, b frame.Image[uint8], motion, bend flow.Field, phase Phase, y0, y1 int) {
	for y := y0; y < y1; y++ {
		disagreement(dst.Row(y), a, b, motion.Row(y), y, phase, bend)
	}
}

// disagreement sets out to the differences between a and b along the motions through
// row y of the made frame.
func disagreement(out []uint16, a, b frame.Image[uint8], vec []flow.Vec, y int, phase Phase, bend flow.Field) {
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

func disagreementBeyondRows(dst frame.Image[uint16], near, far frame.Image[uint8], motion flow.Field, part, way int32, y0, y1 int) {
	for y := y0; y < y1; y++ {
		disagreementBeyond(dst.Row(y), near, far, motion.Row(y), y, part, way)
	}
}

// disagreementBeyond sets out to the differences, along the motions through row y of
// the made frame, between near, at the distance part of an interval, and far, which is
// one interval further in direction way, 1 or -1.
func disagreementBeyond(out []uint16, near, far frame.Image[uint8], vec []flow.Vec, y int, part, way int32) {
	for x := range out {
		v := vec[x]
		nx := int32(x)<<positionBits + int32((int64(v.X)*int64(part)+PhaseOne/2)>>16)
		ny := int32(y)<<positionBits + int32((int64(v.Y)*int64(part)+PhaseOne/2)>>16)
		fx, fy := nx+way*v.X, ny+way*v.Y
		switch {
		case !inside(near, nx, ny):
			out[x] = hidden
		case !inside(far, fx, fy):
			out[x] = unseenBeyond
		default:
			out[x] = difference(lookup(near, nx, ny), lookup(far, fx, fy))
		}
	}
}

// A gate is the energy that a hypothesis has beside its cost, indexed by the least cost
// of a flow. It lets the hypothesis in if no flow fits.
type gate []int16

// mostEnergy bounds the energy of a hypothesis that the choice may give a share.
const mostEnergy = 2000

// decay is the rate at which a likelihood falls with the difference, per grey level.
const decay = 1.0 / 15

// newGate returns a table of -ln(d²/(d² + knee²))/decay for a knee in grey levels.
func newGate(knee float64) gate {
	t := make(gate, 256*differenceOne)
	for d := range t {
		e := float64(d) / differenceOne
		t[d] = int16(math.Round(min(-math.Log(e*e/(e*e+knee*knee))/decay*differenceOne, mostEnergy)))
	}
	return t
}

func (g gate) at(least int32) int32 { return int32(g[min(int(least), len(g)-1)]) }

// covering is the energy of the hypothesis without motion. It leaves the hypothesis no
// share, whatever the messages add: cover alone gives it pixels.
const covering = 1 << 13

// The motions of neighbours count if no flow fits.
const neighbourKnee = 6 // grey levels

var neighbourGate = newGate(neighbourKnee)

// What one neighbour shows needs hardly any gate: where a flow fits, nothing is covered.
// Its cost is worth half as much, as the evidence comes from outside the interval.
const (
	onlyKnee  = 1 // grey level
	leastOnly = -381
)

var onlyGate = newGate(onlyKnee)

// energyOf returns the energy of a hypothesis of the given cost, if the least cost of a
// flow is least.
func (k kind) energyOf(cost, least int32) int32 {
	e := cost - least
	switch k {
	case neighbour:
		e = max(e, 0) + neighbourGate.at(least)
	case stationary:
		return covering
	case onlyFirst, onlySecond:
		e = max(e>>1+onlyGate.at(least), leastOnly)
	}
	return min(e, mostEnergy)
}

// weigh sets the hypotheses' energies from their costs. It returns the sum, over all
// pixels, of the least cost of a flow.
func weigh(workers frame.Workers, hypotheses []*hypothesis) int64 {
	var total atomic.Int64
	first := hypotheses[0].cost
	for _, h := range hypotheses {
		h.energy.Resize(first.Width, first.Height)
	}
	workers.Rows(first.Height, func(y0, y1 int) {
		total.Add(loops.weigh(hypotheses, y0*first.Width, y1*first.Width))
	})
	return total.Load()
}

// weighPixels does the work of weigh for pixels [i0, i1).
func weighPixels(hypotheses []*hypothesis, i0, i1 int) (sum int64) {
	for i := i0; i < i1; i++ {
		least := int32(math.MaxInt32)
		for _, h := range hypotheses {
			if h.kind == projected {
				least = min(least, int32(h.cost.Pix[i]))
			}
		}
		sum += int64(least)
		for _, h := range hypotheses {
			h.energy.Pix[i] = int16(h.kind.energyOf(int32(h.cost.Pix[i]), least))
		}
	}
	return sum
}

// smooth sets dst to w, blurred with the binomial kernel (1 4 6 4 1)/16 in both
// directions; it repeats the edges. scratch keeps memory between calls.
func smooth(workers frame.Workers, dst *frame.Image[uint16], w frame.Image[uint16], scratch *sync.Pool) {
	dst.Resize(w.Width, w.Height)
	eachChunk(workers, w.Height, 2, scratch, func(across *frame.Image[uint16], top, bottom, y0, y1 int) {
		across.Resize(w.Width, bottom-top)
		loops.smoothAcross(*across, rowsOf(w, top, bottom), 0, bottom-top)
		loops.smoothDown(rowsOf(*dst, top, bottom), *across, y0-top, y1-top)
	})
}

func smoothAcrossRows(dst, src frame.Image[uint16], y0, y1 int) {
	for y := y0; y < y1; y++ {
		smoothRow(dst.Row(y), src.Row(y))
	}
}

func smoothDownRows(dst, src frame.Image[uint16], y0, y1 int) {
	last := src.Height - 1
	for y := y0; y < y1; y++ {
		a, b, c := src.Row(max(y-2, 0)), src.Row(max(y-1, 0)), src.Row(y)
		d, e, out := src.Row(min(y+1, last)), src.Row(min(y+2, last)), dst.Row(y)
		a, b, c, d, e = a[:len(out)], b[:len(out)], c[:len(out)], d[:len(out)], e[:len(out)]
		for x := range out {
			out[x] = uint16((uint32(a[x]) + uint32(e[x]) + 4*(uint32(b[x])+uint32(d[x])) + 6*uint32(c[x]) + 8) >> 4)
		}
	}
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
