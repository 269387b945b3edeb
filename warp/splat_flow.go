package warp

import (
	"math"
	"math/bits"

	"retime/flow"
	"retime/pipeline/frame"
)

// vectorSum is what a pixel received of a flow; weight is bounded as in
// sampleSum. x and y are exact as long as weight times the largest component
// stays below 2^63.
type vectorSum struct {
	x, y   int64
	weight uint64
}

// Flow moves the vectors of src, which may be those of m or any others, along
// m. Images and least are as in SplatPlane. Mark the pixels of unknown flow
// by a weight of 0.
func (s *Splatter) Flow(dst flow.Field, holes frame.Image[uint8], src flow.Field, m Motion, least uint64) {
	m.check([2]int{src.Width, src.Height}, [2]int{dst.Width, dst.Height}, [2]int{holes.Width, holes.Height})
	s.targets.find(s.Workers, &m)
	s.bands(src.Width, src.Height, func(b *band) {
		b.vectors = resize(b.vectors, b.size())
		clear(b.vectors)
		var magnitude uint32
		s.targets.visit(b, func(y, x0, x1 int) { magnitude |= addVectors(b, src, &m, y, x0, x1) })
		if storeVectors(b, dst, holes, max(least, 1), vectorLimit(magnitude)) {
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

// vectorLimit returns the largest weight with which a sum of components is sure
// to stay below 2^63. magnitude is the union of the bits of their magnitudes,
// with -1 - v for those below 0.
func vectorLimit(magnitude uint32) uint64 { return math.MaxInt64 >> bits.Len32(magnitude) }

// addVectors adds columns [x0, x1) of row y to b. It returns the union of the
// bits of their magnitudes.
func addVectors(b *band, src flow.Field, m *Motion, y, x0, x1 int) (magnitude uint32) {
	var list [cellWidth]landing
	vectors, sums, stride := src.Row(y), b.vectors, b.stride()
	landed := b.land(&list, m, y, x0, x1)
	for i := range landed {
		p := &landed[i]
		v := vectors[p.x]
		magnitude |= uint32(v.X^v.X>>31) | uint32(v.Y^v.Y>>31)
		upper, lower := sums[p.at:][:2], sums[int(p.at)+stride:][:2]
		upper[0].add(v, uint64(p.weights[0]))
		upper[1].add(v, uint64(p.weights[1]))
		lower[0].add(v, uint64(p.weights[2]))
		lower[1].add(v, uint64(p.weights[3]))
	}
	return magnitude
}

func (s *vectorSum) add(v flow.Vec, weight uint64) {
	s.x += int64(v.X) * int64(weight)
	s.y += int64(v.Y) * int64(weight)
	s.weight += weight
}

// storeVectors writes b's means and holes. It returns false, with the holes
// written but not all means, where a sum may have overflowed.
func storeVectors(b *band, dst flow.Field, holes frame.Image[uint8], least, limit uint64) bool {
	exact := true
	for y := b.y0; y < b.y1; y++ {
		out, mask, sums := dst.Row(y), holes.Row(y), row(b, b.vectors, y)
		mask, sums = mask[:len(out)], sums[:len(out)]
		for x := range out {
			s := &sums[x]
			if s.weight < least {
				out[x], mask[x] = flow.Vec{}, 255
				continue
			}
			mask[x] = 0
			if s.weight > limit {
				exact = false
				continue
			}
			out[x] = flow.Vec{X: mean(s.x, s.weight), Y: mean(s.y, s.weight)}
		}
	}
	return exact
}

// mean returns sum/weight to the nearest integer, ties away from zero.
func mean(sum int64, weight uint64) int32 {
	sign := sum >> 63
	magnitude := (uint64((sum^sign)-sign) + weight/2) / weight
	return int32((int64(magnitude) ^ sign) - sign)
}
