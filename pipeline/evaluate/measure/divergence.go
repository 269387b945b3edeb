package measure

import (
	"math"

	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
)

// divergence finds where the motion of made frames diverges. It keeps its memory between frames.
type divergence struct {
	estimator *dis.Estimator
	pictures  [2]frame.Image[uint8] // the first planes, in 8 bits
	flows     [2]flow.Field         // from the first to the second, and back
	values    []int64
}

// leastDivergence is the share of the largest divergence above which a sample counts.
const leastDivergence = 100

// DivergentMSE returns the mean squared error of the made frame's first plane over the samples at
// which its motion to the next frame shown diverges, after C. Daly, D. Ramsook and A. Kokaram, "An
// Efficient Quality Metric for Video Frame Interpolation Based on Motion-Field Divergence" (2025):
// those where |∂u/∂x + ∂v/∂y| of the flow (u, v) exceeds a hundredth of its largest value. It is NaN
// if there are none. The measure of the paper, PSNR_DIV, is its PSNR.
func (m *Meter) DivergentMSE(truth, made, next *frame.Frame) (float64, error) {
	d := &m.divergence
	if d.estimator == nil {
		var err error
		if d.estimator, err = dis.New(dis.Quick(), m.workers); err != nil {
			return 0, err
		}
	}
	for i, f := range []*frame.Frame{made, next} {
		if f.Format.Bytes() == 1 {
			d.pictures[i] = frame.Samples[uint8](f.Planes[0])
		} else {
			upperBits(&d.pictures[i], frame.Samples[uint16](f.Planes[0]), f.Format.Depth)
		}
	}
	if err := d.estimator.Estimate(d.pictures[0], d.pictures[1], &d.flows[0], &d.flows[1], false); err != nil {
		return 0, err
	}
	if truth.Format.Bytes() == 1 {
		return divergentMSE[uint8](d, truth, made), nil
	}
	return divergentMSE[uint16](d, truth, made), nil
}

func upperBits(dst *frame.Image[uint8], src frame.Image[uint16], depth int) {
	dst.Resize(src.Width, src.Height)
	for y := range src.Height {
		out := dst.Row(y)
		for x, v := range src.Row(y) {
			out[x] = uint8(v >> (depth - 8))
		}
	}
}

// divergentMSE compares the first planes where the first of d's flows diverges.
func divergentMSE[T frame.Sample](d *divergence, truth, made *frame.Frame) float64 {
	most := d.measure(d.flows[0])
	a, b := frame.Samples[T](truth.Planes[0]), frame.Samples[T](made.Planes[0])
	var sum, n uint64
	for y := range a.Height {
		p, q := a.Row(y), b.Row(y)
		for x, v := range d.values[y*a.Width:][:a.Width] {
			if v*leastDivergence > most {
				e := int64(p[x]) - int64(q[x])
				sum += uint64(e * e)
				n++
			}
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return float64(sum) / float64(n)
}

// measure sets values to the magnitude of the flow's divergence in 1/512, and returns the largest.
// Derivatives are central differences, and one-sided ones at the edges.
func (d *divergence) measure(f flow.Field) (most int64) {
	d.values = frame.Resize(d.values, f.Width*f.Height)
	for y := range f.Height {
		row := f.Row(y)
		up, down, vertical := around(y, f.Height)
		upper, lower := f.Row(up), f.Row(down)
		for x := range row {
			left, right, horizontal := around(x, f.Width)
			v := horizontal*int64(row[right].X-row[left].X) + vertical*int64(lower[x].Y-upper[x].Y)
			v = max(v, -v)
			d.values[y*f.Width+x] = v
			most = max(most, v)
		}
	}
	return most
}

// around returns the places between which the difference at i of n is taken, and what makes it one
// over two steps.
func around(i, n int) (before, after int, factor int64) {
	before, after, factor = max(i-1, 0), min(i+1, n-1), 1
	if after-before == 1 {
		factor = 2
	}
	return before, after, factor
}
