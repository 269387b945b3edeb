package warp

import (
	"math/bits"

	"retime/frame"
)

// wideSum is a sum of 128 bits in two's complement.
type wideSum struct{ high, low uint64 }

// add adds value*weight, whose magnitude must be below 2^64.
func (s *wideSum) add(value int64, weight uint64) {
	var carry uint64
	if value < 0 {
		s.low, carry = bits.Sub64(s.low, uint64(-value)*weight, 0)
		s.high -= carry
		return
	}
	s.low, carry = bits.Add64(s.low, uint64(value)*weight, 0)
	s.high += carry
}

// mean returns s/weight to the nearest integer, ties away from zero. The magnitude of
// the mean must be below 2^63.
func (s wideSum) mean(weight uint64) int64 {
	negative := int64(s.high) < 0
	if negative {
		var borrow uint64
		s.low, borrow = bits.Sub64(0, s.low, 0)
		s.high, _ = bits.Sub64(0, s.high, borrow)
	}
	low, carry := bits.Add64(s.low, weight/2, 0)
	magnitude, _ := bits.Div64(s.high+carry, low, weight)
	if negative {
		return -int64(magnitude)
	}
	return int64(magnitude)
}

// wideMeans sums value over the pixels that land in b and calls store for each pixel of
// b. It serves the rare bands in which thousands of pixels land on one spot, so that 64
// bits might not hold their sum.
func (s *Splatter) wideMeans(b *band, m *Motion, value func(x, y int) int64, store func(x, y int, sum wideSum)) {
	b.wide = frame.Resize(b.wide, b.size())
	clear(b.wide)
	s.targets.visit(b, func(y, x0, x1 int) {
		weights := m.weightRow(y, x0, x1)
		f := b.flight(x0, y, m.Phase)
		for i, v := range m.Flow.Row(y)[x0:x1] {
			at, fx, fy, ok := f.land(i, v)
			if !ok {
				continue
			}
			value := value(x0+i, y)
			upper, lower := spread(uint64(weights[i]), fy)
			for _, weight := range [2]uint64{upper, lower} {
				left, right := spread(weight, fx)
				b.wide[at].add(value, left)
				b.wide[at+1].add(value, right)
				at += f.stride
			}
		}
	})
	for y := b.y0; y < b.y1; y++ {
		for x, sum := range row(b, b.wide, y) {
			store(x, y, sum)
		}
	}
}
