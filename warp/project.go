package warp

import (
	"bytes"
	"errors"
	"math/bits"
	"sync"

	"retime/flow"
	"retime/frame"
	"retime/inpaint"
)

// renderer holds the tables and the scratch memory for rendering the planes of a frame.
type renderer struct {
	workers    frame.Workers
	taps       *taps
	hypotheses []*hypothesis
	bend       flow.Field // distance of each place of the made frame from a straight line
	gridWidth  int
	phase      Phase
	limit      int
	calm       *calm
}

// project makes a frame by sampling both neighbours along the motion at the frame's
// time.
func project[T frame.Sample](m *maker, dst *frame.Frame, phase Phase) error {
	in, workers := &m.of.in, m.params.Workers
	m.motion(phase)
	m.offset(&m.mean)
	hypotheses := m.hypotheses()
	bend := m.bend.at(workers, m.of, phase)
	m.measure(hypotheses, phase, bend)
	least := weigh(workers, hypotheses)
	pixels := float64(in.GuideA.Width * in.GuideA.Height)
	m.made = Made{Residual: float64(least) / (pixels * differenceOne), Holes: m.made.Holes}
	m.chooser.choose(hypotheses, in, phase)
	for _, h := range hypotheses {
		smooth(workers, &m.words[0], h.weight, &m.smoothing)
		h.weight, m.words[0] = m.words[0], h.weight
	}
	cover(workers, hypotheses, in.Static)
	r := &renderer{workers, m.taps, hypotheses, bend, in.GuideA.Width, phase, dst.Format.Max(), &m.calm}
	var layers []layer[T]
	for first := 0; first < len(dst.Planes); {
		n := first + 1
		for n < len(dst.Planes) && sameSubsampling(dst.Format, first, n) {
			n++
		}
		layers = append(layers, newLayer[T](m, dst, first, n))
		first = n
	}
	m.calm.begin(in)
	render(r, in.GuideA.Height, layers)
	m.calm.find(workers)
	for i, p := range dst.Planes {
		sx, sy := dst.Format.Subsampling(i)
		soften(&m.calm, workers, frame.Samples[T](p), sx, sy)
	}
	return m.fillHoles(dst)
}

// measure sets the costs of the hypotheses. No one reads that of the stationary one but
// Inspect, which measures it.
func (m *maker) measure(hypotheses []*hypothesis, phase Phase, bend flow.Field) {
	in := &m.of.in
	measured := make([]*hypothesis, 0, maxHypotheses)
	for _, h := range hypotheses {
		h.cost.Resize(in.GuideA.Width, in.GuideA.Height)
		if h.kind != stationary {
			measured = append(measured, h)
		}
	}
	for i := range m.words {
		m.words[i].Resize(in.GuideA.Width, in.GuideA.Height)
	}
	radius := costRadius >> in.Level
	inverse := reciprocals(2*radius + 1)
	// Each round compares for one hypothesis and averages for the one before.
	for k := range len(measured) + 1 {
		m.params.Workers.Rows(in.GuideA.Height, func(y0, y1 int) {
			if k > 0 {
				loops.boxMean(measured[k-1].cost, m.words[(k-1)&1], radius, inverse, y0, y1)
			}
			if k < len(measured) {
				measured[k].compare(m.words[k&1], in, phase, bend, y0, y1)
			}
		})
	}
}

// hypotheses lists the guesses in the order in which they count.
func (m *maker) hypotheses() (list []*hypothesis) {
	for i := range m.estimates {
		list = append(list, &m.estimates[i].forward, &m.estimates[i].reverse)
	}
	if m.of.in.Static.Height > 0 {
		list = append(list, &m.still)
	}
	for i := range m.around {
		list = append(list, &m.around[i])
	}
	if m.of.steady {
		list = append(list, &m.only[0], &m.only[1])
	}
	return list
}

func sameSubsampling(f frame.Format, i, j int) bool {
	ix, iy := f.Subsampling(i)
	jx, jy := f.Subsampling(j)
	return ix == jx && iy == jy
}

// costRadius is the radius, in pixels of the picture, of the squares over which costs
// are averaged.
const costRadius = 4

// leastTrust is the weight below which a splatted pixel counts as a hole.
const leastTrust = 4 * SplatOne

// motion sets the motions of the projected hypotheses at the phase.
func (m *maker) motion(phase Phase) {
	in := &m.of.in
	w, h := in.GuideA.Width, in.GuideA.Height
	m.made = Made{}
	for len(m.estimates) < len(in.Flows) {
		m.estimates = append(m.estimates, estimate{})
	}
	m.estimates = m.estimates[:len(in.Flows)]
	for i, f := range in.Flows {
		e, pair := &m.estimates[i], &m.of.pairs[i]
		e.forward.motion.Resize(w, h)
		e.reverse.motion.Resize(w, h)
		holes := m.arrive(
			[2]flow.Field{e.forward.motion, e.reverse.motion}, [2]flow.Field{f.Forward, f.Backward}, phase,
			[2]frame.Image[uint16]{pair.trustA, pair.trustB})
		for _, share := range holes {
			m.made.Holes += share / float64(2*len(in.Flows))
		}
	}
	if m.of.steady {
		first, second := &m.of.beyond[0], &m.of.beyond[1]
		for i := range m.only {
			m.only[i].motion.Resize(w, h)
		}
		m.arrive(
			[2]flow.Field{m.only[0].motion, m.only[1].motion}, [2]flow.Field{first.onward, second.onward}, phase,
			[2]frame.Image[uint16]{first.trust, second.trust})
	}
	if m.still.motion.Width != w || m.still.motion.Height != h {
		m.still.motion = flow.NewField(w, h)
	}
}

// around lists the places, in pixels of the picture, at which a pixel reads the motions
// of its neighbours.
var around = [aroundCount][2]int{
	{-10, -10}, {10, -10}, {-10, 10}, {10, 10}, // the centres of overlapped blocks
	{-24, 0}, {24, 0}, {0, -24}, {0, 24},
}

const aroundCount = 8

// farthest is the largest distance in around.
const farthest = 24

// offset sets the motions of the neighbour hypotheses: the mean of the projected flows,
// read at the places around. They share the memory of mean, which repeats its edges as far
// as the farthest place.
func (m *maker) offset(mean *flow.Field) {
	a := m.estimates[0].forward.motion
	border := offsetAt(farthest, m.of.in.Level)
	mean.Resize(a.Width+2*border, a.Height+2*border)
	inner := window(*mean, border, border, a.Width, a.Height)
	m.params.Workers.Rows(a.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			loops.average(inner.Row(y), m.estimates, y)
			repeatEnds(mean.Row(border+y), border)
		}
	})
	for y := range border {
		copy(mean.Row(y), mean.Row(border))
		copy(mean.Row(border+a.Height+y), mean.Row(border+a.Height-1))
	}
	for k := range m.around {
		h := &m.around[k]
		h.kind = neighbour
		dx, dy := offsetAt(around[k][0], m.of.in.Level), offsetAt(around[k][1], m.of.in.Level)
		h.motion = window(*mean, border+dx, border+dy, a.Width, a.Height)
	}
}

// window returns the part of f from (x, y) on, with f's memory.
func window(f flow.Field, x, y, width, height int) flow.Field {
	at := y*f.Stride + x
	return flow.Field{Image: frame.Image[flow.Vec]{
		Width: width, Height: height, Stride: f.Stride, Pix: f.Pix[at : at+(height-1)*f.Stride+width],
	}}
}

// repeatEnds sets the first and the last border elements to the ones next to them.
func repeatEnds(row []flow.Vec, border int) {
	end := len(row) - border
	for x := range border {
		row[x], row[end+x] = row[border], row[end-1]
	}
}

// offsetAt returns a distance on guides that were halved level times, rounded toward 0.
func offsetAt(pixels, level int) int { return pixels / (1 << level) }

// averageShift returns log2 of the number of flows of so many estimates.
func averageShift(estimates int) int { return bits.Len(uint(2*estimates - 1)) }

// average sets mean to the means of the estimates in row y.
func average(mean []flow.Vec, estimates []estimate, y int) {
	shift := averageShift(len(estimates))
	for x := range mean {
		var sum flow.Vec
		for k := range estimates {
			f, b := estimates[k].forward.motion.Row(y)[x], estimates[k].reverse.motion.Row(y)[x]
			sum.X, sum.Y = sum.X+f.X+b.X, sum.Y+f.Y+b.Y
		}
		mean[x] = flow.Vec{X: sum.X >> shift, Y: sum.Y >> shift}
	}
}

// arrival is the memory of a flow on its way to the made frame's time.
type arrival struct {
	splatter Splatter
	filler   FlowFiller
	holes    frame.Image[uint8]
	landed   flow.Field // before the medians
	scratch  sync.Pool
}

// arrive sets dst to the flows of A and of B at the phase, the second one reversed: it
// splats each along itself, fills the pixels that nothing reaches, and takes medians of the
// result twice. It returns the shares of the filled pixels.
func (m *maker) arrive(dst, f [2]flow.Field, phase Phase, weights [2]frame.Image[uint16]) (holes [2]float64) {
	one := func(i int, phase Phase) {
		a := &m.arrivals[i]
		a.landed.Resize(f[i].Width, f[i].Height)
		a.holes.Resize(f[i].Width, f[i].Height)
		a.splatter.Flow(a.landed, a.holes, f[i], Motion{Flow: f[i], Phase: phase, Weight: weights[i]}, leastTrust)
		a.filler.Nearest(a.landed, a.holes)
		medianTwice(m.params.Workers, dst[i], a.landed, int32(1-2*i), &a.scratch)
		holes[i] = holeShare(a.holes)
	}
	m.params.Workers.Both(func() { one(0, phase) }, func() { one(1, PhaseOne-phase) })
	return holes
}

// holeShare returns the share of nonzero pixels in a mask.
func holeShare(mask frame.Image[uint8]) float64 {
	set := 0
	for y := range mask.Height {
		row := mask.Row(y)
		set += len(row) - bytes.Count(row, []byte{0})
	}
	return float64(set) / float64(max(1, mask.Width*mask.Height))
}

// negate sets dst to src with every vector reversed.
func negate(workers frame.Workers, dst *flow.Field, src flow.Field) {
	dst.Resize(src.Width, src.Height)
	workers.Rows(src.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out := dst.Row(y)
			for x, v := range src.Row(y) {
				out[x] = flow.Vec{X: -v.X, Y: -v.Y}
			}
		}
	})
}

// newLayer returns planes first to end-1 of dst, which have one geometry, with a mask that
// marks nothing.
func newLayer[T frame.Sample](m *maker, dst *frame.Frame, first, end int) layer[T] {
	sx, sy := dst.Format.Subsampling(first)
	l := layer[T]{geometry: newGeometry(m.of.in.Level, sx, sy)}
	for i := first; i < end; i++ {
		l.dst = append(l.dst, frame.Samples[T](dst.Planes[i]))
		l.a, l.b = append(l.a, frame.Samples[T](m.of.in.A.Planes[i])), append(l.b, frame.Samples[T](m.of.in.B.Planes[i]))
		l.ca, l.cb = append(l.ca, &m.of.sources[0].planes[i]), append(l.cb, &m.of.sources[1].planes[i])
	}
	mask := &m.mask[maskOf(dst.Format, first)]
	mask.Resize(l.dst[0].Width, l.dst[0].Height)
	mask.Clear()
	l.mask = *mask
	return l
}

// maskOf returns which mask tells the holes of plane i. Planes of one size share a mask.
func maskOf(format frame.Format, i int) int {
	if sx, sy := format.Subsampling(i); sx != 0 || sy != 0 {
		return 1
	}
	return 0
}

// fillHoles inpaints the pixels that neither neighbour shows.
func (m *maker) fillHoles(dst *frame.Frame) error {
	var set [len(m.mask)]bool
	for i, p := range dst.Planes {
		k := maskOf(dst.Format, i)
		if !set[k] {
			m.inpaint[k].SetMask(m.mask[k])
			set[k] = true
		}
		var err error
		if dst.Format.Bytes() == 1 {
			err = inpaint.Fill(m.inpaint[k], frame.Samples[uint8](p))
		} else {
			err = inpaint.Fill(m.inpaint[k], frame.Samples[uint16](p))
		}
		if err != nil && !errors.Is(err, inpaint.ErrNoBorder) {
			return err // without a border, the samples from the edges stay
		}
	}
	return nil
}
