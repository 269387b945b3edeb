package boxspline

import (
	"slices"

	"retime/warp/boxspline/exact"
)

// greens is a sum of Green's functions of products of directional derivatives: each key names
// independent directions and how often the derivative along each is taken.
type greens map[powers]exact.Rat

// decompose writes the Green's function of the product of the derivatives along the directions,
// where direction i occurs m[i] times, as a sum of Green's functions of independent directions.
// With z_i the derivative along direction i, a relation Σ ν_i z_i = 0 gives 1 = -Σ (ν_i/ν_k)
// z_i/z_k over i != k: it replaces a z_i by a z_k with k < i, until no relation is left.
func (s *Spline) decompose(m powers) greens {
	done, open := greens{}, greens{m: exact.Int(1)}
	for len(open) > 0 {
		for m, weight := range open {
			delete(open, m)
			if weight.Sign() == 0 {
				continue
			}
			relation, k := s.relation(m)
			if relation == nil {
				done[m] = done[m].Add(weight)
				continue
			}
			for i, v := range relation {
				if i == k || v.Sign() == 0 {
					continue
				}
				n := m
				n[i]--
				n[k]++
				open[n] = open[n].Sub(weight.Mul(v).Div(relation[k]))
			}
		}
	}
	return done
}

// relation returns the coefficients of a vanishing sum of the directions that m names, and the
// index of the first with a nonzero one, or nil if the directions are independent.
func (s *Spline) relation(m powers) (exact.Vec, int) {
	var basis exact.Matrix
	var of []int
	for i := len(s.directions) - 1; i >= 0; i-- {
		if m[i] == 0 {
			continue
		}
		if next := append(basis[:len(basis):len(basis)], s.directions[i]); next.Rank() > len(basis) {
			basis, of = next, append(of, i)
			continue
		}
		// Directions after i span direction i, so i is the first in the relation.
		r := make(exact.Vec, len(s.directions))
		r[i] = exact.Int(-1)
		for j, a := range combine(basis, s.directions[i]) {
			r[of[j]] = a
		}
		return r, i
	}
	return nil, 0
}

// combine returns the coefficients of v in terms of independent vectors that span it.
func combine(basis exact.Matrix, v exact.Vec) exact.Vec {
	// The normal equations have an exact solution.
	gram, right := make(exact.Matrix, len(basis)), make(exact.Vec, len(basis))
	for j := range basis {
		gram[j] = make(exact.Vec, len(basis))
		for i := range basis {
			gram[j][i] = basis[i].Dot(basis[j])
		}
		right[j] = basis[j].Dot(v)
	}
	inverse, _ := gram.Inverse()
	return inverse.Apply(right)
}

// explicit returns s(x) by the explicit form of box splines, differences of truncated
// powers: Σ γ λ |det Ξ_α|⁻¹ Π ((Ξ_α⁻¹(x - p))_i)_+^(μ_i - 1) / (μ_i - 1)!, over the shifts
// (γ, p) of the difference operator and the Green's functions (λ, α) of decompose. On a
// plane between two pieces it takes the piece in the direction (1, ε, ε²).
func (s *Spline) explicit(x exact.Vec) exact.Rat {
	var sum exact.Rat
	for _, t := range s.terms {
		from := x.Sub(s.corner(t))
		shifts := s.differences(t.Times)
		for m, weight := range s.decompose(t.Times) {
			g := s.truncated(m)
			for _, d := range shifts {
				sum = sum.Add(t.Weight.Mul(weight).Mul(d.weight).Mul(g.at(from.Sub(d.by))))
			}
		}
	}
	return sum
}

type shift struct {
	by     exact.Vec
	weight exact.Rat
}

// differences returns the terms of the product, over all directions, of (1 - the shift by the
// direction).
func (s *Spline) differences(m powers) []shift {
	list := []shift{{make(exact.Vec, s.dim), exact.Int(1)}}
	for i, d := range s.directions {
		for range m[i] {
			var next []shift
			at := map[string]int{}
			for _, l := range list {
				for _, n := range []shift{l, {l.by.Add(d), l.weight.Neg()}} {
					k := n.by.Key()
					if j, ok := at[k]; ok {
						next[j].weight = next[j].weight.Add(n.weight)
						continue
					}
					at[k] = len(next)
					next = append(next, n)
				}
			}
			list = next
		}
	}
	return list
}

// truncatedPower is the Green's function of independent directions.
type truncatedPower struct {
	rows   []exact.Vec // of the inverse of the directions' matrix
	powers []int
	scale  exact.Rat
}

func (s *Spline) truncated(m powers) truncatedPower {
	var g truncatedPower
	var basis exact.Matrix
	g.scale = exact.Int(1)
	for i, d := range s.directions {
		if m[i] == 0 {
			continue
		}
		basis = append(basis, d)
		g.powers = append(g.powers, int(m[i])-1)
		for f := 2; f < int(m[i]); f++ {
			g.scale = g.scale.Div(exact.Int(f))
		}
	}
	inverse, _ := basis.Inverse()
	g.scale = g.scale.Div(basis.Det().Abs())
	for i := range inverse {
		g.rows = append(g.rows, inverse.Row(i))
	}
	return g
}

func (g truncatedPower) at(x exact.Vec) exact.Rat {
	v := g.scale
	for i, row := range g.rows {
		t := row.Dot(x)
		if side(t, row) < 0 {
			return exact.Rat{}
		}
		v = v.Mul(t.Pow(g.powers[i]))
	}
	return v
}

// integrated returns s(x) by the definition of box splines, M_Ξ(x) = ∫ M_(Ξ\ξ)(x - tξ) dt from 0 to
// 1, one direction after the other. The integrals are exact: along a line, a box spline is a
// polynomial between its knot planes. The time grows exponentially with the number of directions.
func (s *Spline) integrated(x exact.Vec) exact.Rat {
	var sum exact.Rat
	for _, t := range s.terms {
		sum = sum.Add(t.Weight.Mul(s.integrate(t.Times, x.Sub(s.corner(t)))))
	}
	return sum
}

func (s *Spline) integrate(m powers, x exact.Vec) exact.Rat {
	degree := m.total() - s.dim - 1
	basis, of := s.basis(m)
	if degree < 0 {
		at := Pieces{of: s, near: x}
		inverse, _ := basis.Inverse()
		return at.parallelepiped(basis, inverse, make(exact.Vec, s.dim)).At(x)
	}
	// Remove the last direction that the others can do without.
	var less powers
	var along exact.Vec
	for i, d := range s.directions {
		if m[i] > 1 || m[i] == 1 && !slices.Contains(of, i) {
			less, along = m, d
			less[i]--
		}
	}
	cuts := s.crossings(less, x, along)
	var sum exact.Rat
	for i := range len(cuts) - 1 {
		width := cuts[i+1].Sub(cuts[i])
		for k, w := range openWeights(degree) {
			t := cuts[i].Add(width.Mul(exact.Frac(k+1, degree+2)))
			sum = sum.Add(width.Mul(w).Mul(s.integrate(less, x.Sub(along.Scale(t)))))
		}
	}
	return sum
}

// crossings returns 0, 1 and, in between, the t at which x - t·along is on a knot plane of the box
// spline whose directions m names and whose corner is the origin, ascending.
func (s *Spline) crossings(m powers, x, along exact.Vec) []exact.Rat {
	cuts := []exact.Rat{{}, exact.Int(1)}
	for _, a := range s.normals() {
		speed := a.Dot(along)
		if speed.Sign() == 0 {
			continue
		}
		for _, b := range s.offsets(m, a) {
			t := a.Dot(x).Sub(b).Div(speed)
			if t.Sign() > 0 && t.Cmp(exact.Int(1)) < 0 {
				cuts = append(cuts, t)
			}
		}
	}
	slices.SortFunc(cuts, exact.Rat.Cmp)
	return slices.CompactFunc(cuts, func(a, b exact.Rat) bool { return a.Cmp(b) == 0 })
}

// openWeights returns the weights of the values at k/(degree+2), k from 1 to degree+1, that
// integrate polynomials of the degree over [0, 1].
func openWeights(degree int) []exact.Rat {
	w := make([]exact.Rat, degree+1)
	for k := range w {
		// The integral of Lagrange's polynomial that is 1 at node k.
		p := exact.Constant(exact.Int(1))
		node := exact.Frac(k+1, degree+2)
		for j := range w {
			if other := exact.Frac(j+1, degree+2); j != k {
				p = p.Mul(exact.Linear(exact.Vec{exact.Int(1)}, other.Neg())).Scale(exact.Int(1).Div(node.Sub(other)))
			}
		}
		for m, a := range p {
			w[k] = w[k].Add(a.Div(exact.Int(int(m[0]) + 1)))
		}
	}
	return w
}
