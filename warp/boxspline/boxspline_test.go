package boxspline

import (
	"math/rand/v2"
	"testing"

	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// points returns random rational points in and around the support of s.
func points(rng *rand.Rand, s *Spline, n int) []exact.Vec {
	list := make([]exact.Vec, n)
	for k := range list {
		list[k] = make(exact.Vec, s.Dim())
		// Half of the points are on a grid that knot planes meet.
		den := []int{2, 60}[k%2]
		for i, r := range s.Reach() {
			reach := int(r.Float()*float64(den)) + 2
			list[k][i] = exact.Frac(rng.IntN(2*reach+1)-reach, den)
		}
	}
	return list
}

// The explicit form, the recurrence and the convolutions give the same numbers.
func TestThreeWaysAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, e := range Elements() {
		n, convolutions := 6, 3
		if e.Continuity < 0 || len(e.Terms()) > 100 {
			n = 2
		}
		if len(e.Terms()) > 300 {
			continue
		}
		for _, x := range points(rng, e.Spline, n) {
			want := e.explicit(x)
			if got := e.At(x); got.Cmp(want) != 0 {
				t.Errorf("%s at %v: %v by the recurrence, %v by the explicit form", e.Name, x, got, want)
			}
			if e.Degree() <= convolutions && len(e.Terms()) == 1 {
				if got := e.integrated(x); got.Cmp(want) != 0 {
					t.Errorf("%s at %v: %v by convolutions, %v by the explicit form", e.Name, x, got, want)
				}
			}
		}
	}
}

// neighbours returns the points of the lattice whose shifts of e may reach x.
func neighbours(e *Element, x exact.Vec) []lattice.Point {
	var list []lattice.Point
	reach := e.Reach()
	var low, high lattice.Point
	for i := range e.Dim() {
		low[i], high[i] = x[i].Sub(reach[i]).Floor(), x[i].Add(reach[i]).Floor()+1
	}
	for a := low[0]; a <= high[0]; a++ {
		for b := low[1]; b <= high[1]; b++ {
			for c := low[2]; c <= high[2]; c++ {
				if p := (lattice.Point{a, b, c}); e.Lattice.Contains(p) {
					list = append(list, p)
				}
			}
		}
	}
	return list
}

func vec(e *Element, p lattice.Point) exact.Vec { return exact.Ints(p[:e.Dim()]...) }

// If the shifts are weighted by a monomial's values at the lattice, up to the degree that the
// element states, then they sum near any point to a polynomial whose leading term is the monomial,
// and to the same polynomial everywhere.
func TestReproducesPolynomials(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, e := range Elements() {
		if len(e.Terms()) > 300 {
			continue
		}
		first := map[exact.Monomial]exact.Poly{}
		for _, x := range points(rng, e.Spline, 3) {
			at := e.Near(x)
			sums := map[exact.Monomial]exact.Poly{}
			for _, p := range neighbours(e, x) {
				piece := at.Shifted(vec(e, p))
				for a := range uint8(e.Reproduces + 1) {
					for b := range uint8(e.Reproduces+1) - a {
						m := exact.Monomial{a, b}
						if sums[m] == nil {
							sums[m] = exact.Poly{}
						}
						sums[m] = sums[m].Add(piece, exact.Int(p[0]).Pow(int(a)).Mul(exact.Int(p[1]).Pow(int(b))))
					}
				}
			}
			for m, got := range sums {
				rest := got.Add(exact.Poly{m: exact.Int(1)}, exact.Int(-1))
				if rest.Degree() >= m.Degree() {
					t.Errorf("%s: %v becomes %v near %v", e.Name, m, got, x)
				}
				if first[m] == nil {
					first[m] = got
				} else if !first[m].Equal(got) {
					t.Errorf("%s: %v becomes %v near %v, but %v elsewhere", e.Name, m, got, x, first[m])
				}
			}
		}
	}
}
