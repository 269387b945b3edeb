package warp

import (
	"retime/flow"
	"retime/frame"
)

// vectorSum holds what a pixel received of a flow. weight has the bound of sampleSum.
// x and y are exact as long as weight is within vectorLimit; exceeding it takes more
// than 2^16 of photometric weight on one spot.
type vectorSum struct {
	x, y   int64
	weight uint64
	_      uint64 // makes four words, a vector
}

// vectorLimit is the largest weight at which every sum of components fits 64 bits: the
// magnitude of a component is at most 2^31.
const vectorLimit = 1 << 32

// Flow moves the vectors of src, which may be those of m or any others, along m. The
// images and least are as in SplatPlane. The caller marks pixels of unknown flow by a
// weight of 0.
func (s *Splatter) Flow(dst flow.Field, holes frame.Image[uint8], src flow.Field, m Motion, least uint64) {
	m.check([2]int{src.Width, src.Height}, [2]int{dst.Width, dst.Height}, [2]int{holes.Width, holes.Height})
	s.targets.find(s.Workers, &m)
	s.bands(src.Width, src.Height, func(b *band) {
		b.vectors = frame.Resize(b.vectors, b.size())
		clear(b.vectors)
		s.targets.visit(b, func(y, x0, x1 int) { loops.addVectors(b, src, &m, y, x0, x1) })
		if b.storeVectors(dst, holes, max(least, 1)) {
			return
		}
		for component := range 2 {
			value := func(x, y int) int64 { return int64(*part(&src.Pix[y*src.Stride+x], component)) }
			s.wideMeans(b, &m, value, func(x, y int, sum wideSum) {
				if holes.Pix[y*holes.Stride+x] == 0 {
					*part(&dst.Pix[y*dst.Stride+x], component) = int32(sum.mean(row(b, b.vectors, y)[x].weight))
				}
			})
		}
	})
}

// part returns the address of component 0 or 1 of v.
func part(v *flow.Vec, component int) *int32 {
	if component == 0 {
		return &v.X
	}
	return &v.Y
}

// addVectors adds columns [x0, x1) of row y of src to b.
func addVectors(b *band, src flow.Field, m *Motion, y, x0, x1 int) {
	motion, vectors, weights := m.Flow.Row(y)[x0:x1], src.Row(y)[x0:x1], m.weightRow(y, x0, x1)
	vectors, weights = vectors[:len(motion)], weights[:len(motion)]
	f := b.flight(x0, y, m.Phase)
	for i, v := range motion {
		at, fx, fy, ok := f.land(i, v)
		if !ok {
			continue
		}
		upper, lower := spread(uint64(weights[i]), fy)
		addVector(b.vectors[at:], vectors[i], upper, fx)
		addVector(b.vectors[at+f.stride:], vectors[i], lower, fx)
	}
}

// addVector adds v to the first two sums. It is a function of its own because, inside
// the loop, its values would not fit the registers, which costs more than the call.
//
//go:noinline
func addVector(sums []vectorSum, v flow.Vec, weight, fx uint64) {
	left, right := spread(weight, fx)
	_ = sums[1]
	sums[0].add(v, left)
	sums[1].add(v, right)
}

func (s *vectorSum) add(v flow.Vec, weight uint64) {
	s.x += int64(v.X) * int64(weight)
	s.y += int64(v.Y) * int64(weight)
	s.weight += weight
}

// storeVectors writes b's means and holes. It returns false if a sum may have
// overflowed; in that case it has written the holes but not all means.
func (b *band) storeVectors(dst flow.Field, holes frame.Image[uint8], least uint64) bool {
	exact := true
	for y := b.y0; y < b.y1; y++ {
		exact = loops.storeVectors(dst.Row(y), holes.Row(y), row(b, b.vectors, y), least) && exact
	}
	return exact
}

func storeVectors(dst []flow.Vec, mask []uint8, sums []vectorSum, least uint64) bool {
	mask, sums = mask[:len(dst)], sums[:len(dst)]
	exact := true
	for x := range dst {
		s := &sums[x]
		if s.weight < least {
			dst[x], mask[x] = flow.Vec{}, 255
			continue
		}
		mask[x] = 0
		if s.weight > vectorLimit {
			exact = false
			continue
		}
		dst[x] = flow.Vec{X: mean(s.x, s.weight), Y: mean(s.y, s.weight)}
	}
	return exact
}

// mean returns sum/weight to the nearest integer, ties away from zero.
func mean(sum int64, weight uint64) int32 {
	sign := sum >> 63
	magnitude := (uint64((sum^sign)-sign) + weight/2) / weight
	return int32((int64(magnitude) ^ sign) - sign)
}
