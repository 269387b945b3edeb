package warp

import (
	"unsafe"

	"retime/frame"
)

// sampleSum holds what a pixel received of a plane. With 8192x8192 = 2^26 pixels,
// weight is below 2^26 * 2^16 * 2^16 = 2^58. sum is exact as long as weight is within
// sampleLimit, which it always is if the photometric weights are at most 32.
type sampleSum struct{ sum, weight uint64 }

// sampleLimit returns the largest weight at which a sum of T's is sure to stay below
// 2^63.
func sampleLimit[T frame.Sample]() uint64 {
	var t T
	if unsafe.Sizeof(t) == 1 {
		return sampleLimit8
	}
	return sampleLimit16
}

const (
	sampleLimit8  = 1 << (63 - 8)
	sampleLimit16 = 1 << (63 - 16)
)

// SplatPlane moves the samples of src along m and sets holes to the mask of the holes.
// All images have the size of the plane; ResampleFlow fits a flow to it. Pixels that
// receive less than least are holes; a pixel spreads SplatOne times its photometric
// weight. dst must not share memory with src.
func SplatPlane[T frame.Sample](s *Splatter, dst frame.Image[T], holes frame.Image[uint8], src frame.Image[T], m Motion, least uint64) {
	m.check([2]int{src.Width, src.Height}, [2]int{dst.Width, dst.Height}, [2]int{holes.Width, holes.Height})
	s.targets.find(s.Workers, &m)
	s.bands(src.Width, src.Height, func(b *band) {
		b.samples = frame.Resize(b.samples, b.size())
		clear(b.samples)
		s.targets.visit(b, func(y, x0, x1 int) { addSamples(b, src, &m, y, x0, x1) })
		if storeSamples(b, dst, holes, max(least, 1)) {
			return
		}
		value := func(x, y int) int64 { return int64(src.Pix[y*src.Stride+x]) }
		s.wideMeans(b, &m, value, func(x, y int, sum wideSum) {
			if holes.Pix[y*holes.Stride+x] == 0 {
				dst.Pix[y*dst.Stride+x] = T(sum.mean(row(b, b.samples, y)[x].weight))
			}
		})
	})
}

// addSamples adds columns [x0, x1) of row y of src to b.
func addSamples[T frame.Sample](b *band, src frame.Image[T], m *Motion, y, x0, x1 int) {
	motion, samples, weights := m.Flow.Row(y)[x0:x1], src.Row(y)[x0:x1], m.weightRow(y, x0, x1)
	samples, weights = samples[:len(motion)], weights[:len(motion)]
	f := b.flight(x0, y, m.Phase)
	for i, v := range motion {
		at, fx, fy, ok := f.land(i, v)
		if !ok {
			continue
		}
		upper, lower := spread(uint64(weights[i]), fy)
		addSample(b.samples[at:], uint64(samples[i]), upper, fx)
		addSample(b.samples[at+f.stride:], uint64(samples[i]), lower, fx)
	}
}

// addSample adds value to the first two sums.
func addSample(sums []sampleSum, value, weight, fx uint64) {
	left, right := spread(weight, fx)
	_ = sums[1]
	sums[0].add(value, left)
	sums[1].add(value, right)
}

func (s *sampleSum) add(value, weight uint64) {
	s.sum += value * weight
	s.weight += weight
}

// storeSamples writes b's means and holes. It returns false if a sum may have
// overflowed; in that case it has written the holes but not all means.
func storeSamples[T frame.Sample](b *band, dst frame.Image[T], holes frame.Image[uint8], least uint64) bool {
	limit, exact := sampleLimit[T](), true
	for y := b.y0; y < b.y1; y++ {
		out, mask, sums := dst.Row(y), holes.Row(y), row(b, b.samples, y)
		mask, sums = mask[:len(out)], sums[:len(out)]
		for x := range out {
			s := &sums[x]
			if s.weight < least {
				out[x], mask[x] = 0, 255
				continue
			}
			mask[x] = 0
			if s.weight > limit {
				exact = false
				continue
			}
			out[x] = T((s.sum + s.weight/2) / s.weight)
		}
	}
	return exact
}
