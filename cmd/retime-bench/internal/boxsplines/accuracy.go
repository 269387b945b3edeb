// Package boxsplines measures the generated code of package boxspline: its errors against
// exact arithmetic, and its speed against the generic sum, package bspline and other
// libraries.
package boxsplines

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/generic"
	"retime/warp/boxspline/lattice"
)

// ErrorRow holds an element's largest errors relative to the largest coefficient.
type ErrorRow struct {
	Element         string
	Double, Float   float64
	Points, Subject int // positions, and coefficients in the box
}

// precision is that of the reference, in bits.
const precision = 120

// Errors compares an element's function with its exact polynomials at random positions.
func Errors(f fast.Function, points int) (ErrorRow, error) {
	row := ErrorRow{Element: f.Element, Points: points}
	e, err := boxspline.Find(f.Element)
	if err != nil {
		return row, err
	}
	s, err := noise(e.Lattice, lattice.Point{6, 6, 6})
	if err != nil {
		return row, err
	}
	x := positions(e, s, points)
	got, got32 := make([]float64, points), make([]float32, points)
	evaluate(f, fast.NewGrid[float64](s, f.Along), got, x)
	evaluate(f, fast.NewGrid[float32](s, f.Along), got32, x)
	r := reference{generic.New(e), s, map[uintptr][]bigTerm{}, len(e.Terms()) > 1}
	for i := range got {
		at := make([]float64, e.Dim())
		for k := range at {
			at[k] = x[k][i]
		}
		want := r.at(at)
		row.Double = max(row.Double, math.Abs(got[i]-want))
		row.Float = max(row.Float, math.Abs(float64(got32[i])-want))
	}
	return row, nil
}

// noise returns samples from -1 to 1, exact in float32.
func noise(l *lattice.Lattice, size lattice.Point) (*lattice.Samples, error) {
	rng := rand.New(rand.NewPCG(41, 42))
	s, err := lattice.NewSamples(l, lattice.Periodic, size)
	if err != nil {
		return nil, err
	}
	s.Each(func(p lattice.Point) { s.Set(p, float64(float32(2*rng.Float64()-1))) })
	return s, nil
}

// fine is the number of positions in a unit: few digits keep exact arithmetic quick.
const fine = 4096

// positions returns random positions in the box.
func positions(e *boxspline.Element, s *lattice.Samples, n int) (x [3][]float64) {
	rng := rand.New(rand.NewPCG(43, 44))
	for k := range x {
		x[k] = make([]float64, n)
		side := 1
		if k < e.Dim() {
			side = s.Size[k]*e.Lattice.Step - 1
		}
		for i := range x[k] {
			x[k][i] = float64(rng.IntN(side*fine)) / fine
		}
	}
	return x
}

// evaluate calls f's function for the type of the grid.
func evaluate[T fast.Float](f fast.Function, g *fast.Grid[T], dst []T, x [3][]float64) {
	switch g := any(g).(type) {
	case *fast.Grid[float64]:
		if f.Plane != nil {
			f.Plane(g, any(dst).([]float64), x[0], x[1])
		} else {
			f.Volume(g, any(dst).([]float64), x[0], x[1], x[2])
		}
	case *fast.Grid[float32]:
		if f.Plane != nil {
			f.Plane32(g, any(dst).([]float32), x[0], x[1])
		} else {
			f.Volume32(g, any(dst).([]float32), x[0], x[1], x[2])
		}
	}
}

// reference sums the exact polynomials in numbers of high precision.
type reference struct {
	basis   *generic.Spline
	samples *lattice.Samples
	terms   map[uintptr][]bigTerm // of polynomials by their address
	// fold says that the element has the symmetries of the cube, as the sums of box splines
	// have: then a 48th of the pieces, which take long to compute, does.
	fold bool
}

type bigTerm struct {
	exponents exact.Monomial
	factor    *big.Float
}

// of returns the terms of p, which basis keeps.
func (r *reference) of(p exact.Poly) []bigTerm {
	key := reflect.ValueOf(p).Pointer()
	list, ok := r.terms[key]
	if !ok {
		for _, m := range p.Monomials() {
			list = append(list, bigTerm{m, new(big.Float).SetPrec(precision).SetRat(p[m].Big())})
		}
		r.terms[key] = list
	}
	return list
}

func (r *reference) at(x []float64) float64 {
	support := r.basis.Support()
	nearest := r.samples.Nearest(x)
	sum, product := newFloat(0), newFloat(0)
	at := make([]float64, len(x))
	var low, high lattice.Point
	for i := range x {
		low[i], high[i] = nearest[i]-support[i]-1, nearest[i]+support[i]+1
	}
	for c := low[2]; c <= high[2]; c++ {
		for b := low[1]; b <= high[1]; b++ {
			for a := low[0]; a <= high[0]; a++ {
				n := lattice.Point{a, b, c}
				if !r.samples.Contains(n) {
					continue
				}
				for i := range x {
					at[i] = x[i] - float64(n[i])
				}
				if r.fold {
					for i := range at {
						at[i] = math.Abs(at[i])
					}
					slices.Sort(at)
				}
				if p := r.basis.Piece(at); p != nil {
					product.Mul(r.value(p, at), newFloat(r.samples.At(n)))
					sum.Add(sum, product)
				}
			}
		}
	}
	v, _ := sum.Float64()
	return v
}

func newFloat(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

// value returns p at x, from a table of the powers of each coordinate.
func (r *reference) value(p exact.Poly, x []float64) *big.Float {
	terms := r.of(p)
	var powers [3][]*big.Float
	degree := 0
	for _, t := range terms {
		for _, e := range t.exponents {
			degree = max(degree, int(e))
		}
	}
	for i, v := range x {
		powers[i] = []*big.Float{newFloat(1)}
		for k := range degree {
			powers[i] = append(powers[i], newFloat(0).Mul(powers[i][k], newFloat(v)))
		}
	}
	sum, product := newFloat(0), newFloat(0)
	for _, t := range terms {
		product.Set(t.factor)
		for i := range x {
			if e := t.exponents[i]; e > 0 {
				product.Mul(product, powers[i][e])
			}
		}
		sum.Add(sum, product)
	}
	return sum
}
