//go:build linux

package fast

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/frame/simd"
	"retime/frame/simd/simdtest"
	"retime/warp/boxspline"
	"retime/warp/boxspline/lattice"
)

// call evaluates f's function for the type of g.
func call[T Float](f Function, g *Grid[T], dst []T, x [3][]float64) {
	switch g := any(g).(type) {
	case *Grid[float64]:
		if f.Plane != nil {
			f.Plane(g, any(dst).([]float64), x[0], x[1])
		} else {
			f.Volume(g, any(dst).([]float64), x[0], x[1], x[2])
		}
	case *Grid[float32]:
		if f.Plane != nil {
			f.Plane32(g, any(dst).([]float32), x[0], x[1])
		} else {
			f.Volume32(g, any(dst).([]float32), x[0], x[1], x[2])
		}
	}
}

// Exact: the Go functions define the C loops, for whole and partial batches, inside the box,
// outside it and without a value. All memory is between pages that fault.
func TestLoops(t *testing.T) {
	for _, f := range Functions {
		e, err := boxspline.Find(f.Element)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range []int{1, 3, 8, 63, 64, 65, 150, 331} {
			boundary := []lattice.Boundary{lattice.WholeSymmetric, lattice.Periodic}[i%2]
			s := noise(t, rand.New(rand.NewPCG(11, uint64(n))), e.Lattice, boundary, lattice.Point{6, 5, 4})
			compareLoops[float64](t, f, s, n)
			compareLoops[float32](t, f, s, n)
		}
	}
}

func compareLoops[T Float](t *testing.T, f Function, s *lattice.Samples, n int) {
	t.Helper()
	defer func(before loops) { chosen = before }(chosen)
	rng := rand.New(rand.NewPCG(12, uint64(n)))
	end := n%2 == 0
	g := NewGrid[T](s, f.Along)
	for i, c := range g.cosets {
		g.cosets[i] = simdtest.Copy(t, c, end)
	}
	var x [3][]float64
	for k := range x {
		x[k] = simdtest.Guarded[float64](t, n, end)
		side := float64(s.Size[k]*s.Lattice.Step - 1)
		for i := range x[k] {
			x[k][i] = rng.Float64() * side
			switch rng.IntN(6) {
			case 0:
				x[k][i] = math.Round(2*x[k][i]) / 2
			case 1:
				x[k][i] = []float64{0, math.Copysign(0, -1), side}[rng.IntN(3)]
			}
		}
	}
	if n > 140 {
		x[0][70], x[1][n-1] = -0.3, math.Inf(1)
	}
	want, got := make([]T, n), simdtest.Guarded[T](t, n, end)
	chosen = variant(simd.Go)
	call(f, g, want, x)
	for _, level := range simd.Levels()[1:] {
		clear(got)
		chosen = variant(level)
		call(f, g, got, x)
		for i := range want {
			if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) || math.Signbit(float64(got[i])) != math.Signbit(float64(want[i])) && want[i] == want[i] {
				t.Fatalf("%s, %v, %T: position %d of %d: %v, want %v", f.Element, level, want[i], i, n, got[i], want[i])
			}
		}
	}
}

// With a grid that does not fit the element, C behaves like Go, which may panic.
func TestLoopsWrongGrid(t *testing.T) {
	defer func(before loops) { chosen = before }(chosen)
	const n = 13
	try := func(f Function, g *Grid[float64], level simd.Level) (dst []float64, panics bool) {
		x := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
		for k := range x {
			for i := range x[k] {
				x[k][i] = float64(i%3) + 0.375
			}
		}
		dst = simdtest.Guarded[float64](t, n, true)
		for i := range dst {
			dst[i] = 7
		}
		chosen = variant(level)
		defer func() { panics = recover() != nil }()
		call(f, g, dst, x)
		return dst, false
	}
	for _, f := range Functions {
		for _, of := range Functions {
			e, err := boxspline.Find(of.Element)
			if err != nil {
				t.Fatal(err)
			}
			g := NewGrid[float64](noise(t, rand.New(rand.NewPCG(9, 10)), e.Lattice, lattice.WholeSymmetric, lattice.Point{4, 4, 4}), of.Along)
			want, panics := try(f, g, simd.Go)
			for _, level := range simd.Levels()[1:] {
				got, also := try(f, g, level)
				if also != panics || !panics && !slices.Equal(got, want) {
					t.Errorf("%s on a grid for %s, %v: %v and panics %v, want %v and %v", f.Element, of.Element, level, got, also, want, panics)
				}
			}
		}
	}
}

// On coefficients that are a monomial of a degree that an element reproduces, the spline is a
// polynomial with this leading term: its differences of that order, in any direction, equal the
// monomial's.
func TestReproducesMonomials(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, f := range Functions {
		e, err := boxspline.Find(f.Element)
		if err != nil {
			t.Fatal(err)
		}
		s, err := lattice.NewSamples(e.Lattice, lattice.WholeSymmetric, lattice.Point{14, 14, 14})
		if err != nil {
			t.Fatal(err)
		}
		degree, middle := e.Reproduces, 7*e.Lattice.Step
		for range 12 {
			// The exponents of a monomial.
			var exponents [3]int
			for range degree {
				exponents[rng.IntN(e.Dim())]++
			}
			value := func(x [3]float64) float64 {
				v := 1.0
				for k, n := range exponents {
					v *= math.Pow((x[k]-float64(middle))/4, float64(n))
				}
				return v
			}
			s.Each(func(p lattice.Point) { s.Set(p, value([3]float64{float64(p[0]), float64(p[1]), float64(p[2])})) })
			g := NewGrid[float64](s, f.Along)
			// The positions for a difference along a random direction, away from the edges.
			var from, step [3]float64
			for k := range e.Dim() {
				from[k], step[k] = float64(middle)+2*rng.Float64()-1, (2*rng.Float64()-1)/float64(degree+1)
			}
			var x [3][]float64
			got, want, binomial := 0.0, 0.0, 1.0
			for i := range degree + 1 {
				var at [3]float64
				for k := range x {
					at[k] = from[k] + float64(i)*step[k]
					x[k] = append(x[k], at[k])
				}
				want += binomial * value(at)
				binomial *= -float64(degree-i) / float64(i+1)
			}
			dst := make([]float64, degree+1)
			call(f, g, dst, x)
			binomial = 1
			for i, v := range dst {
				got += binomial * v
				binomial *= -float64(degree-i) / float64(i+1)
			}
			if !(math.Abs(got-want) < 1e-12) {
				t.Errorf("%s: differences of monomial %v: %v, want %v", f.Element, exponents, got, want)
			}
		}
	}
}
