package expr

import (
	"slices"

	"retime/warp/boxspline/exact"
)

// Terms is a polynomial whose coefficients are nodes of a graph.
type Terms map[exact.Monomial]ID

// A Form is how Horner's method factors a polynomial in several variables: P = v Q + R, where v is
// a variable, Q a Form of the terms that v divides, divided by v, and R a Form of the others. A
// Form of a constant has no variable.
type Form struct {
	Variable int // -1 if the polynomial is constant or zero
	Q, R     *Form
}

// Greedy returns the form that always factors out the variable that divides most terms.
func Greedy(monomials []exact.Monomial) *Form {
	best, most := -1, 0
	for v := range exact.MaxVars {
		n := 0
		for _, m := range monomials {
			if m[v] > 0 {
				n++
			}
		}
		if n > most {
			best, most = v, n
		}
	}
	if best < 0 {
		return &Form{Variable: -1}
	}
	q, r := split(monomials, best)
	return &Form{best, Greedy(q), Greedy(r)}
}

func split(monomials []exact.Monomial, v int) (q, r []exact.Monomial) {
	for _, m := range monomials {
		if m[v] > 0 {
			m[v]--
			q = append(q, m)
		} else {
			r = append(r, m)
		}
	}
	return q, r
}

// Search returns the form, out of all, with the fewest multiplications and, among those, the fewest
// values alive at once. After budget sets of terms it takes Greedy's choice for the rest.
func Search(monomials []exact.Monomial, budget int) *Form {
	s := searcher{budget, map[string]searched{}}
	return s.best(monomials).form
}

type searcher struct {
	budget int
	memo   map[string]searched
}

// text returns a text that is equal only for equal lists.
func text(monomials []exact.Monomial) string {
	b := make([]byte, 0, exact.MaxVars*len(monomials))
	for _, m := range monomials {
		b = append(b, m[:]...)
	}
	return string(b)
}

type searched struct {
	form      *Form
	mul, live int
}

func (s *searcher) best(monomials []exact.Monomial) searched {
	slices.SortFunc(monomials, func(a, b exact.Monomial) int { return slices.Compare(a[:], b[:]) })
	key := text(monomials)
	if found, ok := s.memo[key]; ok {
		return found
	}
	var result searched
	if s.budget--; s.budget < 0 {
		result.form = Greedy(monomials)
		result.mul, result.live = cost(result.form)
		return result
	}
	result.form = &Form{Variable: -1}
	result.live = 1
	first := true
	for v := range exact.MaxVars {
		q, r := split(monomials, v)
		if len(q) == 0 {
			continue
		}
		a, b := s.best(q), s.best(r)
		mul, live := a.mul+b.mul+1, max(a.live, b.live+1)
		if first || mul < result.mul || mul == result.mul && live < result.live {
			first = false
			result = searched{&Form{v, a.form, b.form}, mul, live}
		}
	}
	s.memo[key] = result
	return result
}

// cost returns the number of multiplications by variables in a form, and of its live values.
func cost(f *Form) (mul, live int) {
	if f.Variable < 0 {
		return 0, 1
	}
	a, la := cost(f.Q)
	b, lb := cost(f.R)
	return a + b + 1, max(la, lb+1)
}

// Horner evaluates a polynomial by a form of its monomials.
func (g *Graph) Horner(p Terms, variables []ID, f *Form) ID {
	if len(p) == 0 {
		return g.Const(exact.Int(0))
	}
	if f.Variable < 0 {
		return p[exact.Monomial{}]
	}
	q, r := Terms{}, Terms{}
	for m, c := range p {
		if m[f.Variable] > 0 {
			m[f.Variable]--
			q[m] = c
		} else {
			r[m] = c
		}
	}
	// R comes first, because a Neg in it turns a sum into a difference.
	rest := g.Horner(r, variables, f.R)
	return g.Add(g.Mul(variables[f.Variable], g.Horner(q, variables, f.Q)), rest)
}

// Poly evaluates a polynomial with rational coefficients: first factors of linear polynomials, each
// to its power, then the rest by the cheaper of Greedy's and Search's forms.
func (g *Graph) Poly(p exact.Poly, variables []ID, factors []exact.Poly) ID {
	if len(p) == 0 {
		return g.Const(exact.Int(0))
	}
	result := g.Const(exact.Int(1))
	for _, f := range factors {
		n := 0
		for p.Degree() > 0 {
			q, ok := p.DivideLinear(f)
			if !ok {
				break
			}
			p = q
			n++
		}
		if n > 0 {
			result = g.Mul(result, g.power(g.plain(f, variables), n))
		}
	}
	content := p.Content().Abs()
	p = p.Scale(exact.Int(1).Div(content))
	rest := g.sparse(p, variables, factors)
	return g.Mul(g.Const(content), g.Mul(result, rest))
}

// sparse evaluates p. If p has one variable, it writes p in that variable or in one of the factors,
// whichever takes the fewest terms, and factors out the lowest power, which other polynomials may
// share.
func (g *Graph) sparse(p exact.Poly, variables []ID, factors []exact.Poly) ID {
	v := p.OnlyVariable()
	if v < 0 {
		return g.plain(p, variables)
	}
	x, best := variables[v], p
	for _, f := range factors {
		if f.OnlyVariable() != v {
			continue
		}
		if q := p.InTermsOf(f, v); len(q) < len(best) {
			x, best = g.plain(f, variables), q
		}
	}
	least := 0
	for m := range best {
		if e := int(m[v]); e > 0 && (least == 0 || e < least) {
			least = e
		}
	}
	one := make([]ID, len(variables))
	one[v] = x
	if least < 2 {
		return g.plain(best, one)
	}
	quotient := exact.Poly{}
	for m, a := range best {
		if m[v] > 0 {
			m[v] -= uint8(least)
			quotient[m] = a
		}
	}
	constant := g.Const(best[exact.Monomial{}])
	return g.Add(g.Mul(g.power(x, least), g.plain(quotient, one)), constant)
}

// power returns the n-th power of a by repeated squaring.
func (g *Graph) power(a ID, n int) ID {
	switch {
	case n == 1:
		return a
	case n%2 == 0:
		h := g.power(a, n/2)
		return g.Mul(h, h)
	}
	return g.Mul(a, g.power(a, n-1))
}

// searchBudget bounds Search; the polynomials of all elements stay below it.
const searchBudget = 20000

func (g *Graph) plain(p exact.Poly, variables []ID) ID {
	t := Terms{}
	monomials := p.Monomials()
	for _, m := range monomials {
		t[m] = g.Const(p[m])
	}
	key := text(monomials)
	if g.forms[key] == nil {
		g.forms[key] = Search(monomials, searchBudget)
	}
	return g.Horner(t, variables, g.forms[key])
}
