package warp

import (
	"math/big"

	"retime/flow"
	"retime/frame"
)

// referenceSplat splats value by the definition in integers of arbitrary size. It
// returns means and holes in raster order.
func referenceSplat(m Motion, least uint64, value func(x, y int) int64) (means []int64, holes []uint8) {
	width, height := m.Flow.Width, m.Flow.Height
	sums, weights := make([]big.Int, width*height), make([]big.Int, width*height)
	add := func(x, y, w, v int64) {
		if x < 0 || y < 0 || x >= int64(width) || y >= int64(height) {
			return
		}
		i := y*int64(width) + x
		weights[i].Add(&weights[i], big.NewInt(w))
		product := new(big.Int).Mul(big.NewInt(w), big.NewInt(v))
		sums[i].Add(&sums[i], product)
	}
	for y := range height {
		for x := range width {
			v := m.Flow.Row(y)[x]
			px := int64(x)*256 + floorDiv(int64(v.X)*int64(m.Phase)+32768, 65536)
			py := int64(y)*256 + floorDiv(int64(v.Y)*int64(m.Phase)+32768, 65536)
			ix, iy := floorDiv(px, 256), floorDiv(py, 256)
			fx, fy := px-256*ix, py-256*iy
			w := int64(1)
			if m.Weight.Pix != nil {
				w = int64(m.Weight.Row(y)[x])
			}
			s := value(x, y)
			add(ix, iy, w*(256-fx)*(256-fy), s)
			add(ix+1, iy, w*fx*(256-fy), s)
			add(ix, iy+1, w*(256-fx)*fy, s)
			add(ix+1, iy+1, w*fx*fy, s)
		}
	}
	means, holes = make([]int64, width*height), make([]uint8, width*height)
	for i := range sums {
		if weights[i].Sign() == 0 || weights[i].Cmp(new(big.Int).SetUint64(least)) < 0 {
			holes[i] = 255
			continue
		}
		means[i] = referenceMean(&sums[i], &weights[i])
	}
	return means, holes
}

// referenceMean returns sum/weight to the nearest integer, ties away from zero.
func referenceMean(sum, weight *big.Int) int64 {
	double := new(big.Int).Lsh(new(big.Int).Abs(sum), 1)
	double.Add(double, weight)
	double.Quo(double, new(big.Int).Lsh(weight, 1))
	if sum.Sign() < 0 {
		return -double.Int64()
	}
	return double.Int64()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// referenceNearest returns the vector nearest to (x, y) of those that are not in holes;
// of equally near ones it takes the first by column, then by row.
func referenceNearest(f flow.Field, holes frame.Image[uint8], x, y int) flow.Vec {
	var best flow.Vec
	least := -1
	for u := range f.Width {
		for v := range f.Height {
			d := (u-x)*(u-x) + (v-y)*(v-y)
			if holes.Row(v)[u] == 0 && (least < 0 || d < least) {
				best, least = f.Row(v)[u], d
			}
		}
	}
	return best
}
