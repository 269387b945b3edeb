package generic

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/warp/boxspline"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/lattice"
)

// The generic sum and the generated code agree, and the gradient is the limit of differences.
// Elements without generated code sum to 1.
func TestEvaluate(t *testing.T) {
	for _, e := range boxspline.Elements() {
		if len(e.Terms()) > 300 {
			continue
		}
		rng := rand.New(rand.NewPCG(11, 12))
		s, err := lattice.NewSamples(e.Lattice, lattice.Periodic, lattice.Point{5, 4, 4})
		if err != nil {
			t.Fatal(err)
		}
		f, err := fast.Find(e.Name)
		generated := err == nil
		s.Each(func(p lattice.Point) {
			s.Set(p, 1)
			if generated {
				s.Set(p, 2*rng.Float64()-1)
			}
		})
		b, g := New(e), fast.NewGrid[float64](s, f.Along)
		dst := make([]float64, 1)
		for range 4 - e.Dim() {
			// Few digits keep the exact arithmetic fast.
			x := []float64{float64(rng.IntN(256)) / 64, float64(rng.IntN(192)) / 64, float64(rng.IntN(192)) / 64}[:e.Dim()]
			for i := range x {
				x[i] += 1. / 256 // off the knot planes
			}
			got := Evaluate(s, b, x)
			switch {
			case !generated:
				dst[0] = 1
			case f.Plane != nil:
				f.Plane(g, dst, x[:1], x[1:2])
			default:
				f.Volume(g, dst, x[:1], x[1:2], x[2:3])
			}
			if math.Abs(got-dst[0]) > 1e-12 {
				t.Errorf("%s at %v: %v, want %v", e.Name, x, got, dst[0])
			}
			gradient := make([]float64, e.Dim())
			Gradient(s, b, x, gradient)
			const h = 1e-6
			for i := range x {
				y := append([]float64(nil), x...)
				y[i] += h
				up := Evaluate(s, b, y)
				y[i] -= 2 * h
				if want := (up - Evaluate(s, b, y)) / (2 * h); math.Abs(gradient[i]-want) > 1e-5 {
					t.Errorf("%s at %v: derivative %d is %v, want %v", e.Name, x, i, gradient[i], want)
				}
			}
		}
	}
}
