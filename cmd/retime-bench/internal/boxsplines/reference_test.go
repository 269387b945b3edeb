package boxsplines

import (
	"testing"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// The reference equals the sum, over all sites, of the element's values in rational numbers, even
// on knot planes and where it folds positions.
func TestReference(t *testing.T) {
	for _, name := range []string{"courant", "zp", "quincunx-linear", "bcc-linear", "fcc-cubic", "bcc-voronoi-1"} {
		e, err := boxspline.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := noise(e.Lattice, lattice.Point{3, 3, 3})
		if err != nil {
			t.Fatal(err)
		}
		r := newReference(e, s)
		for _, x := range [][]float64{{1.25, 2.125, 1.75}, {2.5, 2.5, 3}, {0.75, 1.3125, 0.28125}, {1, 2, 3}} {
			x = x[:e.Dim()]
			if got, want := r.at(x), direct(e, s, x); got != want {
				t.Errorf("%s at %v: %v, want %v", name, x, got, want)
			}
		}
	}
}

func direct(e *boxspline.Element, s *lattice.Samples, x []float64) float64 {
	var sum exact.Rat
	at, from := make(exact.Vec, e.Dim()), make(exact.Vec, e.Dim())
	var low, high lattice.Point
	for i, reach := range e.Reach() {
		at[i] = exact.FromFloat(x[i])
		low[i], high[i] = at[i].Sub(reach).Floor(), at[i].Add(reach).Floor()+1
	}
	for c := low[2]; c <= high[2]; c++ {
		for b := low[1]; b <= high[1]; b++ {
			for a := low[0]; a <= high[0]; a++ {
				n := lattice.Point{a, b, c}
				if !s.Contains(n) {
					continue
				}
				for i := range from {
					from[i] = at[i].Sub(exact.Int(n[i]))
				}
				sum = sum.Add(e.At(from).Mul(exact.FromFloat(s.At(n))))
			}
		}
	}
	return sum.Float()
}
