// Package fast evaluates splines of box-spline elements at many positions, with code that
// warp/boxspline/compile generates: one function for each element.
//
// Results depend on the input alone: an explicit conversion rounds every product, so that no
// platform may fuse it with a sum. The Go functions define the results; C loops for vector
// instructions (native.h) give the same bits.
package fast

import (
	"fmt"
	"math"

	"retime/warp/boxspline/lattice"
)

// Float is the type of coefficients and values.
type Float interface{ float32 | float64 }

// Grid holds the coefficients of a spline as the generated functions read them: an array for each
// coset, continued by the boundary as far as an element reaches. Positions are in the lattice's
// coordinates, with the box's first point at the origin. Outside the box the spline is mirrored or
// repeated, depending on the boundary.
type Grid[T Float] struct {
	lattice  *lattice.Lattice
	boundary lattice.Boundary
	cosets   [][]T
	shape    lattice.Point // of an array
	base     lattice.Point // index on the lattice of an array's first coefficient
	layout
}

// layout describes, in plain numbers, how arrays are placed on the lattice and in memory. C reads
// it as boxspline_layout.
type layout struct {
	dim, arrays int
	along       int // 1 for one array along the lattice's basis
	origin      int // position of index (0, 0, 0) in an array
	stride      int
	slice       int
	limit       [3]float64 // positions from 0 to limit are inside
	scale       float64    // from distances on the lattice to distances in an array
	offsets     [4][3]float64
}

// reach is how many coefficients beyond the box the arrays hold. No element reaches farther.
const reach = 4

// NewGrid returns a grid of the samples. If along is set, it is one array along the lattice's
// basis; otherwise it has an array for each coset. An element's entry in Functions says which its
// function needs.
func NewGrid[T Float](s *lattice.Samples, along bool) *Grid[T] {
	l := s.Lattice
	g := &Grid[T]{lattice: l, boundary: s.Boundary}
	offsets := l.Offsets
	g.dim, g.scale = l.Dim, 1/float64(l.Step)
	g.shape = lattice.Point{1, 1, 1}
	for i := range l.Dim {
		g.limit[i] = float64(s.Size[i]*l.Step - 1)
		if s.Boundary == lattice.Periodic {
			g.limit[i]++
		}
		g.base[i], g.shape[i] = -reach, s.Size[i]+2*reach+1
	}
	site := func(m lattice.Point) (p lattice.Point) {
		for i := range l.Dim {
			p[i] = m[i] * l.Step
		}
		return p
	}
	if along {
		offsets, g.along = []lattice.Point{{}}, 1
		// The plane's box, turned, is inside a larger one.
		w, h := s.Size[0]*l.Step, s.Size[1]*l.Step
		half := (w + h) / 2
		g.base = lattice.Point{-reach, -w/2 - reach}
		g.shape = lattice.Point{half + 2*reach + 1, half + 2*reach + 1, 1}
		site = func(m lattice.Point) lattice.Point {
			return lattice.Point{m[0]*l.Basis[0][0] + m[1]*l.Basis[1][0], m[0]*l.Basis[0][1] + m[1]*l.Basis[1][1]}
		}
	}
	g.stride, g.slice = g.shape[0], g.shape[0]*g.shape[1]
	g.origin = -(g.base[0] + g.base[1]*g.stride + g.base[2]*g.slice)
	g.arrays = len(offsets)
	for k, o := range offsets {
		for i := range o {
			g.offsets[k][i] = float64(o[i])
		}
		c := make([]T, g.slice*g.shape[2])
		i := 0
		for z := range g.shape[2] {
			for y := range g.shape[1] {
				for x := range g.shape[0] {
					c[i] = T(s.At(site(lattice.Point{x, y, z}.Add(g.base)).Add(o)))
					i++
				}
			}
		}
		g.cosets = append(g.cosets, c)
	}
	return g
}

// Arrays returns the number of arrays: one for each coset, or 1 along the basis.
func (g *Grid[T]) Arrays() int { return len(g.cosets) }

// Array returns the coefficients of a coset, the shape of all arrays, and the index on the
// lattice of their first coefficient.
func (g *Grid[T]) Array(coset int) (c []T, shape, base lattice.Point) {
	return g.cosets[coset], g.shape, g.base
}

// fold returns the position inside the box at which the spline has the same value. Its first
// coordinate is NaN if one of x, y and z is not finite or too large to have a fraction.
func (g *Grid[T]) fold(x, y, z float64) (float64, float64, float64) {
	p := [3]float64{x, y, z}
	for i, v := range p[:g.dim] {
		limit := g.limit[i]
		switch {
		case !(math.Abs(v) < 1<<51):
			return math.NaN(), 0, 0
		case v >= 0 && v <= limit:
		case g.boundary == lattice.HalfSymmetric:
			// The mirrors are at -1/2 and limit+1/2.
			v = math.Abs(v+0.5) - 0.5
			n := limit + 1
			v -= float64(2 * n * math.Floor((v+0.5)/(2*n)))
			p[i] = min(v, 2*n-1-v)
		case limit == 0:
			p[i] = 0
		case g.boundary == lattice.Periodic:
			p[i] = v - float64(limit*math.Floor(v/limit))
		default:
			v = math.Abs(v)
			v -= float64(2 * limit * math.Floor(v/(2*limit)))
			p[i] = min(v, 2*limit-v)
		}
	}
	return p[0], p[1], p[2]
}

// Function is a generated function for one type of coefficients.
type Function struct {
	Element string
	Along   bool // whether it needs a Grid of one array along the lattice's basis
	// Plane evaluates two-dimensional elements and Volume three-dimensional ones; the other is nil.
	Plane  func(g *Grid[float64], dst, xs, ys []float64)
	Volume func(g *Grid[float64], dst, xs, ys, zs []float64)
	// Plane32 and Volume32 are the same in float32.
	Plane32  func(g *Grid[float32], dst []float32, xs, ys []float64)
	Volume32 func(g *Grid[float32], dst []float32, xs, ys, zs []float64)
}

// Find returns the function of an element, or an error if there is none.
func Find(element string) (Function, error) {
	for _, f := range Functions {
		if f.Element == element {
			return f, nil
		}
	}
	return Function{}, fmt.Errorf("fast: no function for element %q", element)
}
