package restore

import "retime/frame"

// compose fills dst with a where mask is 0, with b where mask is 255, and in between with a
// proportional mixture, rounded to nearest. A chroma sample has the mean weight of the pixels that
// it covers.
func compose(workers frame.Workers, dst, a, b *frame.Frame, mask frame.Image[uint8]) {
	if dst.Format.Bytes() == 2 {
		composeSamples[uint16](workers, dst, a, b, mask)
	} else {
		composeSamples[uint8](workers, dst, a, b, mask)
	}
}

func composeSamples[T frame.Sample](workers frame.Workers, dst, a, b *frame.Frame, mask frame.Image[uint8]) {
	for i := range dst.Planes {
		sx, sy := dst.Format.Subsampling(i)
		d, p, q := frame.Samples[T](dst.Planes[i]), frame.Samples[T](a.Planes[i]), frame.Samples[T](b.Planes[i])
		workers.Rows(d.Height, func(y0, y1 int) {
			for y := y0; y < y1; y++ {
				rd, rp, rq := d.Row(y), p.Row(y), q.Row(y)
				for x := range rd {
					w := weightAt(mask, x, y, sx, sy)
					rd[x] = T((uint32(rp[x])*(255-w) + uint32(rq[x])*w + 127) / 255)
				}
			}
		})
	}
}

// weightAt returns the mean of mask, rounded to nearest, over the pixels that the
// sample at x, y covers in a plane subsampled by sx, sy bits.
func weightAt(mask frame.Image[uint8], x, y, sx, sy int) uint32 {
	if sx|sy == 0 {
		return uint32(mask.Row(y)[x])
	}
	var sum, n uint32
	for v := y << sy; v < min((y+1)<<sy, mask.Height); v++ {
		for _, w := range mask.Row(v)[x<<sx : min((x+1)<<sx, mask.Width)] {
			sum, n = sum+uint32(w), n+1
		}
	}
	return (sum + n/2) / n
}
