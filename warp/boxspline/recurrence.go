package boxspline

import "retime/warp/boxspline/exact"

// Pieces computes the polynomials of a spline and of its shifts near a point.
type Pieces struct {
	of   *Spline
	near exact.Vec
	memo map[pieceKey]exact.Poly
}

type pieceKey struct {
	times powers
	at    string
}

// Near returns the pieces of s at x. On a plane between two pieces it takes the piece in the
// direction (1, ε, ε²).
func (s *Spline) Near(x exact.Vec) *Pieces {
	return &Pieces{s, x, map[pieceKey]exact.Poly{}}
}

// Shifted returns the polynomial in x that equals the spline at x - by, near the point.
func (p *Pieces) Shifted(by exact.Vec) exact.Poly {
	sum := exact.Poly{}
	for _, t := range p.of.terms {
		sum.Accumulate(p.box(t.Times, by.Add(p.of.corner(t))), t.Weight)
	}
	return sum
}

// At returns the value of the spline at x, by the recurrence.
func (s *Spline) At(x exact.Vec) exact.Rat {
	return s.Near(x).Shifted(make(exact.Vec, s.dim)).At(x)
}

// box returns the piece of the box spline with its corner at q, by the recurrence of de Boor and
// Höllig, which follows from the convolutions: with x - q = Σ t_ξ ξ and n directions in s
// dimensions, (n-s) M(x-q) is the sum, over all directions ξ, of t_ξ times the box spline without ξ
// at x-q plus (1 - t_ξ) times the same box spline at x-q-ξ.
func (p *Pieces) box(m powers, q exact.Vec) exact.Poly {
	s := p.of
	if !p.mayReach(m, q) {
		return nil
	}
	key := pieceKey{m, q.Key()}
	if v, ok := p.memo[key]; ok {
		return v
	}
	basis, of := s.basis(m)
	var sum exact.Poly
	if len(basis) == s.dim {
		inverse, _ := basis.Inverse()
		if n := m.total() - s.dim; n == 0 {
			sum = p.parallelepiped(basis, inverse, q)
		} else {
			sum = p.reduce(m, q, inverse, of).Scale(exact.Frac(1, n))
		}
	}
	p.memo[key] = sum
	return sum
}

func (p *Pieces) reduce(m powers, q exact.Vec, inverse exact.Matrix, of []int) exact.Poly {
	sum := exact.Poly{}
	for i, d := range p.of.directions {
		if m[i] == 0 {
			continue
		}
		less := m
		less[i]--
		here, there := p.box(less, q), p.box(less, q.Add(d))
		// One of the m[i] copies has the coordinate t, the others have 0.
		t := exact.Poly{}
		for j, k := range of {
			if k == i {
				row := inverse.Row(j)
				t = exact.Linear(row, row.Dot(q).Neg())
			}
		}
		sum.Accumulate(t.Mul(here.Add(there, exact.Int(-1))), exact.Int(1))
		sum.Accumulate(there, exact.Int(int(m[i])))
	}
	return sum
}

// basis returns the first independent directions that m names.
func (s *Spline) basis(m powers) (basis exact.Matrix, of []int) {
	for i, d := range s.directions {
		if m[i] == 0 {
			continue
		}
		if next := append(basis[:len(basis):len(basis)], d); next.Rank() > len(basis) {
			basis, of = next, append(of, i)
		}
	}
	return basis, of
}

// parallelepiped returns 1/|det basis| if the point is in the parallelepiped of the basis at q,
// else 0.
func (p *Pieces) parallelepiped(basis, inverse exact.Matrix, q exact.Vec) exact.Poly {
	from := p.near.Sub(q)
	for i := range inverse {
		row := inverse.Row(i)
		t := row.Dot(from)
		if side(t, row) < 0 || side(t.Sub(exact.Int(1)), row) >= 0 {
			return nil
		}
	}
	return exact.Constant(exact.Int(1).Div(basis.Det().Abs()))
}

// mayReach reports whether the point is in the bounding box of the box spline at q.
func (p *Pieces) mayReach(m powers, q exact.Vec) bool {
	for k := range q {
		low, high := q[k], q[k]
		for i, d := range p.of.directions {
			e := d[k].Mul(exact.Int(int(m[i])))
			if e.Sign() < 0 {
				low = low.Add(e)
			} else {
				high = high.Add(e)
			}
		}
		if p.near[k].Cmp(low) < 0 || p.near[k].Cmp(high) > 0 {
			return false
		}
	}
	return true
}

// side returns the sign of t or, if t is zero, of row·(1, ε, ε²).
func side(t exact.Rat, row exact.Vec) int {
	if t.Sign() != 0 {
		return t.Sign()
	}
	for _, a := range row {
		if a.Sign() != 0 {
			return a.Sign()
		}
	}
	return 0
}
