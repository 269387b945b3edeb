package fast

import (
	"math"
	"math/bits"

	"retime/frame/simd"
)

// element numbers the functions, in the order of Functions.
type element int

// batchSize is the number of positions that a function processes together.
const batchSize = 64

// batch holds the places of positions in an array: for each the index of a coefficient and the
// position relative to it.
type batch[T Float] struct {
	at      [batchSize]int
	u       [3][batchSize]T
	folded  [3][batchSize]float64
	invalid uint64 // bit mask of the positions at which the spline has no value
}

// read reads up to a batch of the first positions, folded into the box. zs is nil in two
// dimensions.
func (b *batch[T]) read(g *Grid[T], xs, ys, zs []float64) (n int, x [3][]float64) {
	n = min(len(xs), batchSize)
	b.invalid = 0
	x = [3][]float64{xs[:n], ys[:n], zs}
	if g.dim == 3 {
		x[2] = zs[:n]
	}
	inside := g.inside(&x)
	if inside && g.along == 0 {
		return n, x
	}
	for k := range x {
		copy(b.folded[k][:n], x[k])
		x[k] = b.folded[k][:n]
	}
	if !inside {
		for i := range n {
			v, w, z := g.fold(x[0][i], x[1][i], x[2][i])
			if v != v {
				b.invalid |= 1 << i
				v = 0
			}
			x[0][i], x[1][i], x[2][i] = v, w, z
		}
	}
	if g.along != 0 {
		for i, v := range x[0] {
			x[0][i], x[1][i] = v+x[1][i], x[1][i]-v
		}
	}
	return n, x
}

// inside reports whether all positions are in the box.
func (g *Grid[T]) inside(x *[3][]float64) bool {
	for k, limit := range g.limit[:g.dim] {
		for _, v := range x[k] {
			if !(v >= 0 && v <= limit) {
				return false
			}
		}
	}
	return true
}

// place sets the places of n positions in an array. up is added to a position in the array before
// it is rounded down.
func (b *batch[T]) place(g *Grid[T], x *[3][]float64, array, n int, up *[3]float64) {
	scale, o := g.scale, &g.offsets[array]
	xs, ys := x[0][:n], x[1][:n]
	for i, v := range xs {
		v, w := float64((v-o[0])*scale), float64((ys[i]-o[1])*scale)
		m0, m1 := floor(v+up[0]), floor(w+up[1])
		j := i % batchSize
		b.u[0][j], b.u[1][j] = T(v-float64(m0)), T(w-float64(m1))
		b.at[j] = g.origin + m0 + m1*g.stride
	}
	if g.dim < 3 {
		return
	}
	for i, v := range x[2][:n] {
		v = float64((v - o[2]) * scale)
		m := floor(v + up[2])
		j := i % batchSize
		b.u[2][j] = T(v - float64(m))
		b.at[j] += m * g.slice
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

// chosen holds the loops in use.
var chosen = variant(simd.Chosen())

// native evaluates an element by the C loops, at as many of the first positions as they can. done
// is the number of these; C is worth trying again after next positions, and Go has to evaluate
// those in between.
func native[T Float](g *Grid[T], e element, dst []T, xs, ys, zs []float64) (done, next int) {
	done, ok := run(chosen, e, g, dst, xs, ys, zs)
	if !ok {
		return 0, len(dst)
	}
	return done, min(done+batchSize, len(dst))
}
