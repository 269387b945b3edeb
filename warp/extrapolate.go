package warp

import (
	"retime/flow"
	"retime/frame"
)

// Extrapolate fills dst with src moved on beyond the end of a clip. f is the flow from
// src to the frame before it (or after it, at the start of a clip), on guides that were
// halved level times. beyond is how far to go in the opposite direction, in units of
// that distance divided by PhaseOne. Extrapolate reads each sample at the position to
// which the flow at the sample's own place leads, and repeats the edge of src outside.
func Extrapolate(workers frame.Workers, dst, src *frame.Frame, f flow.Field, level int, beyond Phase) {
	for i := range dst.Planes {
		sx, sy := dst.Format.Subsampling(i)
		if dst.Format.Bytes() == 1 {
			extrapolate(workers, frame.Samples[uint8](dst.Planes[i]), frame.Samples[uint8](src.Planes[i]), f, level, sx, sy, beyond)
		} else {
			extrapolate(workers, frame.Samples[uint16](dst.Planes[i]), frame.Samples[uint16](src.Planes[i]), f, level, sx, sy, beyond)
		}
	}
}

func extrapolate[T frame.Sample](workers frame.Workers, dst, src frame.Image[T], f flow.Field, level, sx, sy int, beyond Phase) {
	workers.Rows(dst.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out, vec := dst.Row(y), f.Row(min(y<<sy>>level, f.Height-1))
			for x := range out {
				v := vec[min(x<<sx>>level, f.Width-1)]
				dx := int64(v.X) * int64(beyond) << level >> sx
				dy := int64(v.Y) * int64(beyond) << level >> sy
				out[x] = sampleAt(src, int64(x)<<positionBits+(dx+PhaseOne/2)>>16, int64(y)<<positionBits+(dy+PhaseOne/2)>>16)
			}
		}
	})
}

// sampleAt returns m at (x, y), in 1/256 sample, interpolated bilinearly and rounded to
// the nearest.
func sampleAt[T frame.Sample](m frame.Image[T], x, y int64) T {
	x = min(max(x, 0), int64(m.Width-1)<<positionBits)
	y = min(max(y, 0), int64(m.Height-1)<<positionBits)
	ix, iy := int(x>>positionBits), int(y>>positionBits)
	fx, fy := uint64(x&(positionOne-1)), uint64(y&(positionOne-1))
	upper, lower := m.Row(iy), m.Row(min(iy+1, m.Height-1))
	right := min(ix+1, m.Width-1)
	sum := (positionOne-fy)*((positionOne-fx)*uint64(upper[ix])+fx*uint64(upper[right])) +
		fy*((positionOne-fx)*uint64(lower[ix])+fx*uint64(lower[right]))
	return T((sum + positionOne*positionOne/2) >> (2 * positionBits))
}

// MeanError returns the mean absolute difference between a and b, read along the flow f
// from a, in grey levels.
func MeanError(workers frame.Workers, a, b frame.Image[uint8], f flow.Field) float64 {
	var e, scratch frame.Image[uint16]
	warpError(workers, &e, &scratch, a, b, f)
	var sum uint64
	for _, v := range e.Pix {
		sum += uint64(v)
	}
	return float64(sum) / float64(len(e.Pix)) / differenceOne
}
