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

// Poly is a polynomial: the coefficient of each monomial with a nonzero one. Apart from Accumulate,
// the functions of this package change no operand.
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

// Accumulate adds s q to p, which must not be shared.
func (p Poly) Accumulate(q Poly, s Rat) {
	for m, a := range q {
		p.accumulate(m, a.Mul(s))
	}
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

// Content returns the rational number by which p is a multiple of an integer polynomial without a
// common divisor, with the sign of the last monomial's coefficient. The content of the zero
// polynomial is 1.
func (p Poly) Content() Rat {
	num, den := new(big.Int), big.NewInt(1)
	for _, a := range p {
		r := a.Big()
		num.GCD(nil, nil, num, new(big.Int).Abs(r.Num()))
		g := new(big.Int).GCD(nil, nil, den, r.Denom())
		den.Mul(den, r.Denom()).Div(den, g)
	}
	if num.Sign() == 0 {
		return Int(1)
	}
	list := p.Monomials()
	if p[list[len(list)-1]].Sign() < 0 {
		num.Neg(num)
	}
	return narrow(new(big.Rat).SetFrac(num, den))
}

// DivideLinear returns p/f, where f has degree 1, and true, or false if f does not divide p.
func (p Poly) DivideLinear(f Poly) (Poly, bool) {
	// f = a (x_v + g), where g is free of x_v: synthetic division by powers of x_v.
	v := -1
	for i := range MaxVars {
		var m Monomial
		m[i] = 1
		if f[m].Sign() != 0 {
			v = i
			break
		}
	}
	if v < 0 {
		return nil, false
	}
	var unit Monomial
	unit[v] = 1
	a := f[unit]
	root := f.Add(Poly{unit: a}, Int(-1)).Scale(Int(-1).Div(a))
	high := 0
	parts := map[int]Poly{}
	for m, c := range p {
		e := int(m[v])
		high = max(high, e)
		m[v] = 0
		if parts[e] == nil {
			parts[e] = Poly{}
		}
		parts[e][m] = c
	}
	quotient, carry := Poly{}, Poly{}
	for e := high; e >= 0; e-- {
		carry = carry.Mul(root).Add(parts[e], Int(1))
		if e == 0 {
			break
		}
		for m, c := range carry {
			m[v] = uint8(e - 1)
			quotient[m] = c.Div(a)
		}
	}
	return quotient, len(carry) == 0
}

// Separated is a product of polynomials in one variable each: Scale times all Parts, each with
// content 1.
type Separated struct {
	Scale Rat
	Parts [MaxVars]Poly
}

// Separate returns p as a product of polynomials in one variable each, or false if it is not one.
func (p Poly) Separate() (Separated, bool) {
	if len(p) == 0 {
		return Separated{}, false
	}
	list := p.Monomials()
	top := list[len(list)-1]
	s := Separated{Scale: Int(1)}
	product := Constant(Int(1))
	for i := range MaxVars {
		part := Poly{}
		for m, a := range p {
			e := m[i]
			if m[i] = top[i]; m == top {
				part[unitPower(i, e)] = a
			}
		}
		s.Parts[i] = part.Scale(Int(1).Div(part.Content()))
		product = product.Mul(s.Parts[i])
	}
	if p.Content().Sign() != 0 && len(product) == len(p) {
		s.Scale = p[top].Div(product[top])
	}
	return s, product.Scale(s.Scale).Equal(p)
}

func unitPower(i int, e uint8) Monomial {
	var m Monomial
	m[i] = e
	return m
}

// OnlyVariable returns the variable of a polynomial that depends on a single one, or -1.
func (p Poly) OnlyVariable() int {
	v := -1
	for m := range p {
		for i, e := range m {
			if e > 0 && v != i {
				if v >= 0 {
					return -1
				}
				v = i
			}
		}
	}
	return v
}

// InTermsOf returns the polynomial q with p = q(f), for p and f in variable v only and f of degree
// 1.
func (p Poly) InTermsOf(f Poly, v int) Poly {
	var unit Monomial
	unit[v] = 1
	a, b := f[unit], f[Monomial{}]
	// x = (f - b)/a.
	inverse := Linear(nil, b.Neg().Div(a)).Add(Poly{unit: Int(1).Div(a)}, Int(1))
	q := Poly{}
	for m, c := range p {
		q = q.Add(inverse.Pow(int(m[v])), c)
	}
	return q
}
