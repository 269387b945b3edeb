package warp

import (
	"math"
	"sync"

	"retime/flow"
	"retime/frame"
)

// Assessor estimates, for each pixel of a made frame, how far to trust it. It keeps its
// memory between frames. Only one goroutine at a time may use it.
type Assessor struct {
	Workers frame.Workers

	splatter Splatter
	filler   FlowFiller
	in       Interval

	scratch, trust   [2]frame.Image[uint16]
	holes            [2]frame.Image[uint8]
	forward, reverse hypothesis
}

// Begin sets the interval to assess.
func (a *Assessor) Begin(in Interval) {
	a.in = in
	a.splatter.Workers, a.filler.Workers = a.Workers, a.Workers
	var e frame.Image[uint16]
	warpError(a.Workers, &e, &a.scratch[0], in.GuideA, in.GuideB, in.Flows[0].Forward)
	trust(a.Workers, &a.trust[0], e)
	warpError(a.Workers, &e, &a.scratch[0], in.GuideB, in.GuideA, in.Flows[0].Backward)
	trust(a.Workers, &a.trust[1], e)
}

// If the motions by the two flows differ by doubtfulMotion pixels of the picture at the
// time of the made frame, confidence is halved. Each flow that does not reach a pixel
// halves it, too.
const doubtfulMotion = 8

// errorConfidence is 255 exp(-error/16), indexed by the error in its units, until it
// falls to 0.
var errorConfidence = func() []uint8 {
	var t []uint8
	for d := 0; ; d++ {
		v := uint8(255*math.Exp(-float64(d)/(16*differenceOne)) + 0.5)
		t = append(t, v)
		if v == 0 {
			return t
		}
	}
}()

// motionConfidence is 256/(1 + (d/doubtfulMotion)²), indexed by the distance d in
// quarters of a pixel.
var motionConfidence = func() (t [256]uint32) {
	for d := range t {
		v := float64(d) / (4 * doubtfulMotion)
		t[d] = uint32(256/(1+v*v) + 0.5)
	}
	return t
}()

// Confidence returns the confidence in the frame at the phase, on the guides' grid,
// from 0 for none to 255 for full. It depends on how well the neighbours agree along
// the better of the two flows of the first estimate, how well these flows agree, and
// whether both reach the pixel.
func (a *Assessor) Confidence(phase Phase) frame.Image[uint8] {
	in := &a.in
	w, h := in.GuideA.Width, in.GuideA.Height
	for i, f := range [2]flow.Field{in.Flows[0].Forward, in.Flows[0].Backward} {
		hypothesis, part := &a.forward, phase
		if i == 1 {
			hypothesis, part = &a.reverse, PhaseOne-phase
		}
		hypothesis.motion.Resize(w, h)
		a.holes[i].Resize(w, h)
		a.splatter.Flow(hypothesis.motion, a.holes[i], f, Motion{Flow: f, Phase: part, Weight: a.trust[i]}, leastTrust)
		a.filler.Nearest(hypothesis.motion, a.holes[i])
	}
	negate(a.Workers, &a.reverse.motion, a.reverse.motion)
	a.forward.measure(a.Workers, &a.scratch[0], in, phase, flow.Field{})
	a.reverse.measure(a.Workers, &a.scratch[0], in, phase, flow.Field{})
	out := frame.NewImage[uint8](w, h)
	a.Workers.Rows(h, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, p, q := out.Row(y), a.forward.motion.Row(y), a.reverse.motion.Row(y)
			cp, cq, hp, hq := a.forward.cost.Row(y), a.reverse.cost.Row(y), a.holes[0].Row(y), a.holes[1].Row(y)
			for x := range row {
				cost := min(int(min(cp[x], cq[x])), len(errorConfidence)-1)
				dx, dy := p[x].X-q[x].X, p[x].Y-q[x].Y
				apart := min(max(dx, -dx, dy, -dy)<<in.Level>>(positionBits-2), int32(len(motionConfidence)-1))
				v := uint32(errorConfidence[cost]) * motionConfidence[apart] >> 8
				row[x] = uint8(v >> (hp[x]&1 + hq[x]&1))
			}
		}
	})
	return out
}

// Holes returns masks of the pixels that the flow from A and the flow from B did not
// reach in the last call of Confidence: 255 for holes, 0 for others. The masks are
// valid until the next call of Confidence.
func (a *Assessor) Holes() [2]frame.Image[uint8] { return a.holes }

// A masked blend fades to the cross-fade as confidence falls from blendKnee to half of
// it.
const blendKnee = 64

// MaskedBlend cross-fades a and b into dst at the samples with low confidence, given on
// the grid of guides that were halved level times. The edges of the mask are soft.
func MaskedBlend(workers frame.Workers, dst, a, b *frame.Frame, phase Phase, confidence frame.Image[uint8], level int) {
	var hard, mask frame.Image[uint16]
	hard.Resize(confidence.Width, confidence.Height)
	for y := range hard.Height {
		out := hard.Row(y)
		for x, v := range confidence.Row(y) {
			out[x] = uint16(min(max(blendKnee-int(v), 0)*512/blendKnee, 256))
		}
	}
	smooth(workers, &mask, hard, new(sync.Pool))
	for i := range dst.Planes {
		sx, sy := dst.Format.Subsampling(i)
		if dst.Format.Bytes() == 1 {
			maskedBlend[uint8](workers, dst.Planes[i], a.Planes[i], b.Planes[i], phase, mask, newGeometry(level, sx, sy))
		} else {
			maskedBlend[uint16](workers, dst.Planes[i], a.Planes[i], b.Planes[i], phase, mask, newGeometry(level, sx, sy))
		}
	}
}

// MaskedCopy copies from into dst at the samples with low confidence, as MaskedBlend cross-fades.
func MaskedCopy(workers frame.Workers, dst, from *frame.Frame, confidence frame.Image[uint8], level int) {
	MaskedBlend(workers, dst, from, from, 0, confidence, level)
}

// Where most of the pixels within doubtedReach pixels of the picture have a confidence below doubted,
// with which a masked blend is half the cross-fade, none of them is to be trusted.
const (
	doubted      = 3 * blendKnee / 4
	doubtedReach = 24
)

// Doubted returns an image of the confidence's size, given on the grid of guides that were halved level
// times: 0 for regions with low confidence, whatever single pixels have, and 255 for others.
func Doubted(workers frame.Workers, confidence frame.Image[uint8], level int) frame.Image[uint8] {
	var low, share frame.Image[uint16]
	low.Resize(confidence.Width, confidence.Height)
	cells := frame.NewImage[uint8](confidence.Width, confidence.Height)
	for y := range low.Height {
		out := low.Row(y)
		for x, v := range confidence.Row(y) {
			if out[x] = 0; v < doubted {
				out[x] = 255
			}
		}
	}
	boxMean(workers, &share, low, doubtedReach>>level)
	for y := range cells.Height {
		out := cells.Row(y)
		for x, v := range share.Row(y) {
			if v < 128 {
				out[x] = 255
			}
		}
	}
	return cells
}

func maskedBlend[T frame.Sample](workers frame.Workers, dst, a, b frame.Plane, phase Phase, mask frame.Image[uint16], g geometry) {
	out, from, to := frame.Samples[T](dst), frame.Samples[T](a), frame.Samples[T](b)
	wa, wb := uint64(PhaseOne-phase), uint64(phase)
	workers.Rows(out.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			_, cy := g.cell(0, y)
			row, p, q, m := out.Row(y), from.Row(y), to.Row(y), mask.Row(cy)
			for x := range row {
				cx, _ := g.cell(x, 0)
				if k := uint64(m[cx]); k != 0 {
					faded := (uint64(p[x])*wa + uint64(q[x])*wb + PhaseOne/2) >> 16
					row[x] = T((uint64(row[x])*(256-k) + faded*k + 128) >> 8)
				}
			}
		}
	})
}
