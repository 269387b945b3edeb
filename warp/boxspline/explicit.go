package boxspline

import (
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

// Explicit returns s(x) by the explicit form of box splines, differences of truncated
// powers: Σ γ λ |det Ξ_α|⁻¹ Π ((Ξ_α⁻¹(x - p))_i)_+^(μ_i - 1) / (μ_i - 1)!, over the shifts
// (γ, p) of the difference operator and the Green's functions (λ, α) of decompose. On a
// plane between two pieces it takes the piece in the direction (1, ε, ε²).
func (s *Spline) Explicit(x exact.Vec) exact.Rat {
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
