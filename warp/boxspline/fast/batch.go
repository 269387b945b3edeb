package fast

import (
	"math"
	"math/bits"

	"retime/frame/simd"
)

// element numbers the functions, as they stand in Functions.
type element int

// batchSize is the number of positions that a function works on together.
const batchSize = 64

// batch holds positions, and their places in one array after the other: the index of a
// coefficient, and the position relative to it.
type batch[T Float] struct {
	x       [3][batchSize]float64
	invalid uint64 // a bit for each position at which the spline has no value
	at      [batchSize]int
	u       [3][batchSize]T
}

// read takes as many of the first positions as a batch holds, folds them into the box, and
// returns their number. zs is nil in two dimensions.
func (b *batch[T]) read(g *Grid[T], xs, ys, zs []float64) int {
	n := min(len(xs), batchSize)
	b.invalid = 0
	copy(b.x[0][:n], xs)
	copy(b.x[1][:n], ys)
	inside := 1
	for k, limit := range g.limit[:g.dim] {
		x := b.x[k][:n]
		if k == 2 {
			copy(x, zs)
		}
		for _, v := range x {
			if !(v >= 0 && v <= limit) {
				inside = 0
			}
		}
	}
	if inside == 0 {
		for i := range n {
			x, y, z := g.fold(b.x[0][i], b.x[1][i], b.x[2][i])
			if x != x {
				b.invalid |= 1 << i
				x = 0
			}
			b.x[0][i], b.x[1][i], b.x[2][i] = x, y, z
		}
	}
	if g.along != 0 {
		x, y := b.x[0][:n], b.x[1][:n]
		for i, v := range x {
			x[i], y[i] = v+y[i], y[i]-v
		}
	}
	return n
}

// place sets the places of the first n positions in an array. up is what to add to a
// position in the array before it is rounded down.
func (b *batch[T]) place(g *Grid[T], array, n int, up *[3]float64) {
	steps := [3]int{1, g.stride, g.slice}
	at := b.at[:n]
	for i := range at {
		at[i] = g.origin
	}
	for k, step := range steps[:g.dim] {
		x, u := b.x[k][:n], b.u[k][:n]
		offset, scale, up := g.offsets[array][k], g.scale, up[k]
		for i, v := range x {
			v = float64((v - offset) * scale)
			m := floor(v + up)
			u[i] = T(v - float64(m))
			at[i] += m * step
		}
	}
}

// finish marks the positions without a value.
func (b *batch[T]) finish(dst []T) {
	for m := b.invalid; m != 0; m &= m - 1 {
		dst[bits.TrailingZeros64(m)] = T(math.NaN())
	}
}

// floor returns x rounded down. x must be finite and small enough for an int.
func floor(x float64) int {
	n := int(x)
	if float64(n) > x {
		n--
	}
	return n
}

// chosen is the loops in use.
var chosen = variant(simd.Chosen())

// native evaluates an element by the loops in C at as many of the first positions as they
// can, and returns the number of these, and of those after which to try C again: Go has to
// evaluate the ones between.
func native[T Float](g *Grid[T], e element, dst []T, xs, ys, zs []float64) (done, next int) {
	done, ok := run(chosen, e, g, dst, xs, ys, zs)
	if !ok {
		return 0, len(dst)
	}
	return done, min(done+batchSize, len(dst))
}
