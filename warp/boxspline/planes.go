package boxspline

import (
	"slices"

	"retime/warp/boxspline/exact"
)

// Planes is a family of parallel planes (lines in two dimensions) a·x = b, on which the
// polynomials of a spline may change.
type Planes struct {
	Normal  exact.Vec   // integers without a common divisor; the first nonzero one is positive
	Offsets []exact.Rat // the values of b, ascending
}

// Planes returns the knot planes of s: the planes that directions span, shifted by sums of
// directions.
func (s *Spline) Planes() []Planes {
	var list []Planes
	for _, a := range s.normals() {
		seen := map[string]exact.Rat{}
		for _, t := range s.terms {
			for _, b := range s.offsets(t.Times, a) {
				b = b.Add(a.Dot(s.corner(t)))
				seen[b.String()] = b
			}
		}
		f := Planes{Normal: a}
		for _, b := range seen {
			f.Offsets = append(f.Offsets, b)
		}
		slices.SortFunc(f.Offsets, exact.Rat.Cmp)
		list = append(list, f)
	}
	return list
}

// offsets returns a·v for all sums v of directions that m names.
func (s *Spline) offsets(m powers, a exact.Vec) []exact.Rat {
	list := map[string]exact.Rat{"0": {}}
	for i, d := range s.directions {
		e := a.Dot(d)
		if e.Sign() == 0 {
			continue
		}
		for range m[i] {
			next := map[string]exact.Rat{}
			for k, b := range list {
				c := b.Add(e)
				next[k], next[c.String()] = b, c
			}
			list = next
		}
	}
	var all []exact.Rat
	for _, b := range list {
		all = append(all, b)
	}
	return all
}

// normals returns the normals of the planes that directions span.
func (s *Spline) normals() []exact.Vec {
	var list []exact.Vec
	seen := map[string]bool{}
	add := func(a exact.Vec) {
		if a = primitive(a); !a.IsZero() && !seen[a.Key()] {
			seen[a.Key()] = true
			list = append(list, a)
		}
	}
	for i, d := range s.directions {
		if s.dim == 2 {
			add(exact.Vec{d[1].Neg(), d[0]})
			continue
		}
		for _, e := range s.directions[:i] {
			add(exact.Vec{
				d[1].Mul(e[2]).Sub(d[2].Mul(e[1])), d[2].Mul(e[0]).Sub(d[0].Mul(e[2])), d[0].Mul(e[1]).Sub(d[1].Mul(e[0])),
			})
		}
	}
	return list
}

// primitive returns the multiple of a whose components are integers without a common divisor, the
// first nonzero one positive.
func primitive(a exact.Vec) exact.Vec {
	common := int64(1)
	for _, c := range a {
		_, den := c.Fraction()
		common = common / gcd(common, den) * den
	}
	a = a.Scale(exact.Int(int(common)))
	var divisor int64
	for _, c := range a {
		num, _ := c.Fraction()
		divisor = gcd(divisor, max(num, -num))
	}
	if divisor == 0 {
		return a
	}
	return positive(a.Scale(exact.Frac(1, int(divisor))))
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
