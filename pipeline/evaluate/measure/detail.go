package measure

import "retime/frame"

// Detail returns how much of the fine detail of the source frames before and after it a made frame
// keeps: its energy over the mean of theirs, where energy is what the first plane loses when
// blurred by the binomial kernel (1 4 6 4 1)/16 in both directions. It is NaN if the source frames
// have no detail.
func (m *Meter) Detail(before, after, made *frame.Frame) float64 {
	return 2 * m.energy(made) / (m.energy(before) + m.energy(after))
}

func (m *Meter) energy(f *frame.Frame) float64 {
	if f.Format.Bytes() == 1 {
		return fineEnergy(m.workers, frame.Samples[uint8](f.Planes[0]))
	}
	return fineEnergy(m.workers, frame.Samples[uint16](f.Planes[0]))
}

// fineEnergy returns the sum of squares of fine detail, in squared sample values; edges repeat.
func fineEnergy[T frame.Sample](workers frame.Workers, p frame.Image[T]) float64 {
	taps := [5]int64{1, 4, 6, 4, 1}
	rows := make([]int64, p.Height) // of 256 times the detail, squared and shifted right so that no row overflows
	workers.Rows(p.Height, func(y0, y1 int) {
		down := make([]int64, p.Width)
		for y := y0; y < y1; y++ {
			clear(down)
			for j, tap := range taps {
				for x, v := range p.Row(min(max(y+j-2, 0), p.Height-1)) {
					down[x] += tap * int64(v)
				}
			}
			for x, v := range p.Row(y) {
				d := int64(v) << 8
				for i, tap := range taps {
					d -= tap * down[min(max(x+i-2, 0), p.Width-1)]
				}
				rows[y] += d * d >> 8
			}
		}
	})
	var sum float64
	for _, e := range rows {
		sum += float64(e)
	}
	return sum / 256
}
