package measure

import (
	"sync/atomic"

	"retime/frame"
)

// Pair is a made frame and the true one.
type Pair struct{ Truth, Made *frame.Frame }

// ChangeMSE compares how the made frames and the true ones change from one pair to the next: it is
// the mean squared difference of the two changes in the first plane. A constant error counts
// nothing, and one that flickers counts twice.
func (m *Meter) ChangeMSE(from, to Pair) float64 {
	p := to.Truth.Planes[0]
	sum := changeError[uint8]
	if to.Truth.Format.Bytes() != 1 {
		sum = changeError[uint16]
	}
	return float64(sum(m.workers, from, to)) / float64(p.Width*p.Height)
}

func changeError[T frame.Sample](w frame.Workers, from, to Pair) uint64 {
	plane := func(f *frame.Frame) frame.Image[T] { return frame.Samples[T](f.Planes[0]) }
	a, b, c, d := plane(from.Truth), plane(from.Made), plane(to.Truth), plane(to.Made)
	var total atomic.Uint64
	w.Rows(a.Height, func(y0, y1 int) {
		var sum uint64
		for y := y0; y < y1; y++ {
			p, q, r, s := a.Row(y), b.Row(y), c.Row(y), d.Row(y)
			q, r, s = q[:len(p)], r[:len(p)], s[:len(p)]
			for x := range p {
				d := (int64(s[x]) - int64(q[x])) - (int64(r[x]) - int64(p[x]))
				sum += uint64(d * d)
			}
		}
		total.Add(sum)
	})
	return total.Load()
}
