package fast

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// noise returns random samples from -1 to 1 on the lattice.
func noise(t *testing.T, rng *rand.Rand, l *lattice.Lattice, b lattice.Boundary, size lattice.Point) *lattice.Samples {
	t.Helper()
	s, err := lattice.NewSamples(l, b, size)
	if err != nil {
		t.Fatal(err)
	}
	s.Each(func(p lattice.Point) { s.Set(p, float64(float32(2*rng.Float64()-1))) })
	return s
}

// reference returns the value of the spline at x in rational arithmetic, rounded.
func reference(e *boxspline.Element, s *lattice.Samples, x []float64) float64 {
	var at exact.Vec
	for _, v := range x {
		at = append(at, exact.FromFloat(v))
	}
	pieces := e.Near(at)
	var low, high lattice.Point
	for i, r := range e.Reach() {
		low[i], high[i] = at[i].Sub(r).Floor(), at[i].Add(r).Floor()+1
	}
	var sum exact.Rat
	for a := low[0]; a <= high[0]; a++ {
		for b := low[1]; b <= high[1]; b++ {
			for c := low[2]; c <= high[2]; c++ {
				p := lattice.Point{a, b, c}
				if !e.Lattice.Contains(p) {
					continue
				}
				if w := pieces.Shifted(exact.Ints(p[:e.Dim()]...)); len(w) > 0 {
					sum = sum.Add(w.At(at).Mul(exact.FromFloat(s.At(p))))
				}
			}
		}
	}
	return sum.Float()
}

// evaluate calls f for one position, in float64 and in float32.
func evaluate(f Function, g *Grid[float64], h *Grid[float32], x []float64) (float64, float32) {
	d, d32 := make([]float64, 1), make([]float32, 1)
	if f.Plane != nil {
		f.Plane(g, d, x[:1], x[1:2])
		f.Plane32(h, d32, x[:1], x[1:2])
	} else {
		f.Volume(g, d, x[:1], x[1:2], x[2:3])
		f.Volume32(h, d32, x[:1], x[1:2], x[2:3])
	}
	return d[0], d32[0]
}

// mirrored returns x, at most n samples off, reflected into [0, n].
func mirrored(x, n float64) float64 {
	if x = math.Abs(x); x > n {
		x = 2*n - x
	}
	return x
}

// Every function agrees with the reference, within 1e-13 of the largest coefficient in float64 and
// 2e-6 in float32, in the middle of subregions and on knot planes, inside the box and outside.
func TestAgreesWithReference(t *testing.T) {
	for _, f := range Functions {
		e, err := boxspline.Find(f.Element)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		var worst, worst32 float64
		for _, b := range []lattice.Boundary{lattice.WholeSymmetric, lattice.Periodic} {
			s := noise(t, rng, e.Lattice, b, lattice.Point{5, 4, 3})
			g, h := NewGrid[float64](s, f.Along), NewGrid[float32](s, f.Along)
			n := 30
			if e.Dim() == 3 {
				n = 5
			}
			for i := range n {
				x := make([]float64, e.Dim())
				for k := range x {
					side := float64(s.Size[k] * e.Lattice.Step)
					x[k] = (rng.Float64()*1.6 - 0.3) * side
					// Some positions are where knot planes meet, or near there.
					switch i % 5 {
					case 3:
						x[k] = math.Round(2*x[k]) / 2
					case 4:
						x[k] = math.Nextafter(math.Round(x[k]), 100)
					default:
						x[k] = math.Round(x[k]*1024) / 1024
					}
				}
				at := x
				if f.Element == "courant" && b == lattice.WholeSymmetric {
					// Courant's triangles have no mirror image, so the reference follows the grid's
					// rule: outside is the mirror image of the spline.
					at = []float64{mirrored(x[0], 4), mirrored(x[1], 3)}
				}
				want := reference(e, s, at)
				got, got32 := evaluate(f, g, h, x)
				worst, worst32 = max(worst, math.Abs(got-want)), max(worst32, math.Abs(float64(got32)-want))
				if math.Abs(got-want) > 1e-13 || math.Abs(float64(got32)-want) > 2e-6 {
					t.Errorf("%s, boundary %v at %v: %v and %v, want %v", f.Element, b, x, got, got32, want)
					break
				}
			}
		}
		t.Logf("%s: %.1e %.1e", f.Element, worst, worst32)
	}
}

func TestPositionsWithoutValue(t *testing.T) {
	for _, f := range Functions {
		e, _ := boxspline.Find(f.Element)
		s := noise(t, rand.New(rand.NewPCG(7, 8)), e.Lattice, lattice.WholeSymmetric, lattice.Point{2, 2, 2})
		g, h := NewGrid[float64](s, f.Along), NewGrid[float32](s, f.Along)
		for _, v := range []float64{math.NaN(), math.Inf(1), 1e300} {
			if got, got32 := evaluate(f, g, h, []float64{1, v, 1}); f.Plane != nil && (got == got || got32 == got32) {
				t.Errorf("%s: %v and %v at %v", f.Element, got, got32, v)
			}
		}
	}
}
