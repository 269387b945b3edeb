package exact

import (
	"math/big"
	"slices"
)

// MaxVars is the largest number of variables of a polynomial.
const MaxVars = 3

// Monomial holds the exponent of each variable.
type Monomial [MaxVars]uint8

// Degree returns the sum of the exponents.
func (m Monomial) Degree() int {
	d := 0
	for _, e := range m {
		d += int(e)
	}
	return d
}

// Poly is a polynomial: the coefficient of each monomial that has one other than zero.
// The functions of this package never change their operands.
type Poly map[Monomial]Rat

// Constant returns the polynomial a.
func Constant(a Rat) Poly {
	if a.Sign() == 0 {
		return Poly{}
	}
	return Poly{Monomial{}: a}
}

// Linear returns the polynomial a·x + b.
func Linear(a Vec, b Rat) Poly {
	p := Constant(b)
	for i, c := range a {
		var m Monomial
		m[i] = 1
		p.accumulate(m, c)
	}
	return p
}

func (p Poly) accumulate(m Monomial, a Rat) {
	if s := p[m].Add(a); s.Sign() != 0 {
		p[m] = s
	} else {
		delete(p, m)
	}
}

// Add returns p + s q.
func (p Poly) Add(q Poly, s Rat) Poly {
	r := make(Poly, len(p))
	for m, a := range p {
		r[m] = a
	}
	for m, a := range q {
		r.accumulate(m, a.Mul(s))
	}
	return r
}

// Scale returns s p.
func (p Poly) Scale(s Rat) Poly { return Poly{}.Add(p, s) }

// Mul returns p q.
func (p Poly) Mul(q Poly) Poly {
	r := Poly{}
	for m, a := range p {
		for n, b := range q {
			for i := range n {
				n[i] += m[i]
			}
			r.accumulate(n, a.Mul(b))
		}
	}
	return r
}

// Pow returns the n-th power of p.
func (p Poly) Pow(n int) Poly {
	r := Constant(Int(1))
	for range n {
		r = r.Mul(p)
	}
	return r
}

// Equal reports whether p and q are the same polynomial.
func (p Poly) Equal(q Poly) bool { return len(p.Add(q, Int(-1))) == 0 }

// Degree returns the largest degree of a monomial, or -1 for the zero polynomial.
func (p Poly) Degree() int {
	d := -1
	for m := range p {
		d = max(d, m.Degree())
	}
	return d
}

// Monomials returns the monomials of p in a fixed order, the constant first.
func (p Poly) Monomials() []Monomial {
	list := make([]Monomial, 0, len(p))
	for m := range p {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Monomial) int {
		if d := a.Degree() - b.Degree(); d != 0 {
			return d
		}
		return slices.Compare(b[:], a[:])
	})
	return list
}

// Substitute returns p(a x + b), with a by its columns.
func (p Poly) Substitute(a Matrix, b Vec) Poly {
	var powers [MaxVars][]Poly
	for i := range b {
		powers[i] = []Poly{Constant(Int(1))}
	}
	power := func(i, n int) Poly {
		for len(powers[i]) <= n {
			powers[i] = append(powers[i], powers[i][len(powers[i])-1].Mul(Linear(a.Row(i), b[i])))
		}
		return powers[i][n]
	}
	r := Poly{}
	for m, c := range p {
		t := Constant(c)
		for i := range b {
			t = t.Mul(power(i, int(m[i])))
		}
		r = r.Add(t, Int(1))
	}
	return r
}

// Derivative returns the derivative of p with respect to variable i.
func (p Poly) Derivative(i int) Poly {
	r := Poly{}
	for m, a := range p {
		if e := int(m[i]); e > 0 {
			m[i]--
			r.accumulate(m, a.Mul(Int(e)))
		}
	}
	return r
}

// At returns p(x).
func (p Poly) At(x Vec) Rat {
	var s Rat
	for m, a := range p {
		for i := range x {
			a = a.Mul(x[i].Pow(int(m[i])))
		}
		s = s.Add(a)
	}
	return s
}

// AtBig sets z to p(x) with z's precision and returns z. It serves as a reference whose
// rounding errors lie far below those of float64.
func (p Poly) AtBig(z *big.Float, x []*big.Float) *big.Float {
	prec := z.Prec()
	z.SetInt64(0)
	t := new(big.Float).SetPrec(prec)
	for m, a := range p {
		t.SetRat(a.Big())
		for i := range x {
			for range m[i] {
				t.Mul(t, x[i])
			}
		}
		z.Add(z, t)
	}
	return z
}
