// Package generic evaluates the sum of shifts of any basis function over any lattice. It is slow,
// and is the reference for the code that warp/boxspline/compile generates.
package generic

import (
	"sync"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// Lattice holds values at the points of a lattice. [lattice.Samples] is one.
type Lattice interface {
	// Contains reports whether p is a point of the lattice.
	Contains(p lattice.Point) bool
	// Nearest returns a nearest point of the lattice.
	Nearest(x []float64) lattice.Point
	// At returns the value at a point of the lattice.
	At(p lattice.Point) float64
}

// Basis is a function of compact support. Several goroutines may use it at once.
type Basis interface {
	// Support returns how many integers away from the origin the function reaches, along each
	// coordinate.
	Support() lattice.Point
	// At returns the value at x.
	At(x []float64) float64
	// Gradient sets dst to the derivatives at x along each coordinate.
	Gradient(x, dst []float64)
}

// Evaluate returns Σ c_n b(x - n) over the points n of the lattice with the values c_n.
func Evaluate(l Lattice, b Basis, x []float64) float64 {
	value := 0.0
	each(l, b, x, func(at []float64, c float64) {
		if w := b.At(at); w != 0 {
			value += w * c
		}
	})
	return value
}

// Gradient sets dst to the derivatives of the sum at x along each coordinate.
func Gradient(l Lattice, b Basis, x, dst []float64) {
	clear(dst)
	var buffer [lattice.MaxDim]float64
	d := buffer[:len(x)]
	each(l, b, x, func(at []float64, c float64) {
		b.Gradient(at, d)
		for i, v := range d {
			dst[i] += v * c
		}
	})
}

// each calls f with x - n and the value at n for each point n that may contribute.
func each(l Lattice, b Basis, x []float64, f func(at []float64, c float64)) {
	nearest, support := l.Nearest(x), b.Support()
	var buffer [lattice.MaxDim]float64
	at := buffer[:len(x)]
	// The nearest point may be a whole step away from x.
	for i := range x {
		support[i]++
	}
	for k := -support[2]; k <= support[2]; k++ {
		for j := -support[1]; j <= support[1]; j++ {
			for i := -support[0]; i <= support[0]; i++ {
				n := nearest.Add(lattice.Point{i, j, k})
				if !l.Contains(n) {
					continue
				}
				for a := range x {
					at[a] = x[a] - float64(n[a])
				}
				f(at, l.At(n))
			}
		}
	}
}

// piece is a polynomial of a spline, and its derivatives.
type piece struct {
	value []term
	along [lattice.MaxDim][]term
}

type term struct {
	exponents exact.Monomial
	factor    float64
}

// Spline is the basis of an element. It computes a piece exactly when a position first needs it.
type Spline struct {
	of      *boxspline.Element
	reach   []float64
	support lattice.Point
	normals [][]float64
	offsets [][]float64

	mu     sync.RWMutex
	pieces map[int]*piece
}

// New returns the basis of an element.
func New(e *boxspline.Element) *Spline {
	b := &Spline{of: e, reach: e.Reach().Floats(), pieces: map[int]*piece{}}
	for i, r := range e.Reach() {
		b.support[i] = -r.Neg().Floor()
	}
	for _, f := range e.Planes() {
		b.normals, b.offsets = append(b.normals, f.Normal.Floats()), append(b.offsets, exact.Vec(f.Offsets).Floats())
	}
	return b
}

// Support implements [Basis].
func (b *Spline) Support() lattice.Point { return b.support }

// At implements [Basis].
func (b *Spline) At(x []float64) float64 {
	if p := b.piece(x); p != nil {
		return at(p.value, x)
	}
	return 0
}

// Gradient implements [Basis].
func (b *Spline) Gradient(x, dst []float64) {
	clear(dst)
	if p := b.piece(x); p != nil {
		for i := range dst {
			dst[i] = at(p.along[i], x)
		}
	}
}

func at(terms []term, x []float64) float64 {
	sum := 0.0
	for _, t := range terms {
		v := t.factor
		for i := range x {
			for range t.exponents[i] {
				v *= x[i]
			}
		}
		sum += v
	}
	return sum
}

// piece returns the piece at x, or nil outside the support.
func (b *Spline) piece(x []float64) *piece {
	for i, r := range b.reach {
		if x[i] < -r || x[i] > r {
			return nil
		}
	}
	key := 0
	for i, normal := range b.normals {
		d := 0.0
		for k, n := range normal {
			d += n * x[k]
		}
		below := 0
		for _, o := range b.offsets[i] {
			if d >= o {
				below++
			}
		}
		key = key*(len(b.offsets[i])+1) + below
	}
	b.mu.RLock()
	p, ok := b.pieces[key]
	b.mu.RUnlock()
	if !ok {
		p = b.compute(x)
		b.mu.Lock()
		b.pieces[key] = p
		b.mu.Unlock()
	}
	return p
}

func (b *Spline) compute(x []float64) *piece {
	near := make(exact.Vec, len(x))
	for i, v := range x {
		near[i] = exact.FromFloat(v)
	}
	poly := b.of.Near(near).Shifted(make(exact.Vec, len(x)))
	if len(poly) == 0 {
		return nil
	}
	p := &piece{value: terms(poly)}
	for i := range x {
		p.along[i] = terms(poly.Derivative(i))
	}
	return p
}

func terms(p exact.Poly) []term {
	var list []term
	for _, m := range p.Monomials() {
		list = append(list, term{m, p[m].Float()})
	}
	return list
}
