// Package boxsplines measures the generated code of package boxspline: its errors against
// exact arithmetic, and its speed against the generic sum, package bspline and other
// libraries.
package boxsplines

import (
	"math"
	"math/rand/v2"

	"retime/warp/boxspline"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/lattice"
)

// ErrorRow holds an element's largest errors relative to the largest coefficient.
type ErrorRow struct {
	Element         string
	Double, Float   float64
	Points, Subject int // number of positions, and of coefficients in the box
}

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
	r := newReference(e, s)
	at := make([]float64, e.Dim())
	for i := range got {
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

// fine is the number of positions in a unit: few digits keep exact arithmetic fast.
const (
	fineBits = 12
	fine     = 1 << fineBits
)

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

// evaluate calls f's function for the grid's type.
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
