package plan

import (
	"fmt"
	"math/big"
	"strings"

	"retime/warp/boxspline/exact"
)

// lowerBound is a non-negative lower bound; proven is false if there is none.
type lowerBound struct {
	least  exact.Rat
	proven bool
}

// bound returns a non-negative lower bound of p in the polytope, from the Bernstein coefficients
// over its simplices in the degree of p or in some higher degrees, or false if those prove nothing.
func (t *polytope) bound(p exact.Poly) (exact.Rat, bool) {
	if p.Degree() <= 0 {
		return p[exact.Monomial{}], len(p) > 0
	}
	var key strings.Builder
	for _, m := range p.Monomials() {
		fmt.Fprint(&key, m, p[m])
	}
	b, ok := t.bounds[key.String()]
	if !ok {
		b = t.search(p)
		t.bounds[key.String()] = b
	}
	return b.least, b.proven
}

func (t *polytope) search(p exact.Poly) lowerBound {
	var least exact.Rat
	for i, s := range t.simplices {
		b, ok := s.bound(p)
		if !ok {
			return lowerBound{}
		}
		if i == 0 || b.Cmp(least) < 0 {
			least = b
		}
	}
	return lowerBound{least, true}
}

// simplex has coordinates along the edges from its first corner.
type simplex struct {
	sides  []exact.Poly // the coordinates of space, linear in the simplex's
	images map[exact.Monomial]exact.Poly
}

func newSimplex(corners exact.Matrix) *simplex {
	edges := make(exact.Matrix, len(corners)-1)
	for i := range edges {
		edges[i] = corners[i+1].Sub(corners[0])
	}
	s := &simplex{images: map[exact.Monomial]exact.Poly{{}: exact.Constant(exact.Int(1))}}
	for i, c := range corners[0] {
		s.sides = append(s.sides, exact.Linear(edges.Row(i), c))
	}
	return s
}

// image returns a monomial in the coordinates of the simplex.
func (s *simplex) image(m exact.Monomial) exact.Poly {
	p, ok := s.images[m]
	if !ok {
		less := m
		i := 0
		for m[i] == 0 {
			i++
		}
		less[i]--
		p = s.image(less).Mul(s.sides[i])
		s.images[m] = p
	}
	return p
}

// bound returns the least Bernstein coefficient of p over the simplex, in the first degree in which
// none is negative.
func (s *simplex) bound(p exact.Poly) (exact.Rat, bool) {
	q := exact.Poly{}
	for m, a := range p {
		q.Accumulate(s.image(m), a)
	}
	for _, more := range []int{0, 2, 5} {
		if least := leastCoefficient(q, len(s.sides), p.Degree()+more); least.Sign() >= 0 {
			return least, true
		}
	}
	return exact.Rat{}, false
}

// leastCoefficient returns the least Bernstein coefficient of q, a polynomial in n variables, in
// degree d. The coefficient for exponents a is the sum over the terms c x^b of c (d-|b|)!/d! times
// the product of a_i!/(a_i-b_i)!, computed here in integers, one variable after the other.
func leastCoefficient(q exact.Poly, n, d int) exact.Rat {
	scale := exact.Int(1).Div(q.Content().Abs())
	sums := map[exact.Monomial]*big.Int{}
	for b, c := range q {
		v := c.Mul(scale).Big().Num()
		sums[b] = v.Mul(v, factorial(d-b.Degree()))
	}
	product := new(big.Int)
	for i := range n {
		next := map[exact.Monomial]*big.Int{}
		for m, c := range sums {
			b := int(m[i])
			f, last := factorial(b), d-m.Degree()+b
			for a := b; a <= last; a++ {
				if a > b {
					f.Mul(f, big.NewInt(int64(a)))
					f.Quo(f, big.NewInt(int64(a-b)))
				}
				m[i] = uint8(a)
				if next[m] == nil {
					next[m] = new(big.Int)
				}
				next[m].Add(next[m], product.Mul(c, f))
			}
		}
		sums = next
	}
	var least *big.Int
	eachExponent(n, d, func(a exact.Monomial) {
		v := sums[a]
		if v == nil {
			v = new(big.Int)
		}
		if least == nil || v.Cmp(least) < 0 {
			least = v
		}
	})
	return exact.FromBig(new(big.Rat).SetFrac(least, factorial(d))).Div(scale)
}

func factorial(n int) *big.Int { return new(big.Int).MulRange(1, int64(n)) }

// eachExponent calls f with the exponents of n variables of total degree d or less.
func eachExponent(n, d int, f func(exact.Monomial)) {
	var m exact.Monomial
	var next func(i, left int)
	next = func(i, left int) {
		if i == n {
			f(m)
			return
		}
		for e := range left + 1 {
			m[i] = uint8(e)
			next(i+1, left-e)
		}
		m[i] = 0
	}
	next(0, d)
}
