// Package code turns a plan into expressions: for each class a graph that evaluates its polynomial
// from single coefficients, and one that computes the positions and weights of its linear look-ups.
package code

import (
	"fmt"
	"slices"

	"retime/warp/boxspline/compile/expr"
	"retime/warp/boxspline/compile/plan"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// Program is the code of a plan.
type Program struct {
	*plan.Plan
	Classes []*Class
}

// Class is the code of a class. The graphs' variables are v0, v1 and v2, the coordinates,
// and c0, c1 and so on, the coefficients at Sites.
type Class struct {
	*plan.Class
	Exact  Exact
	Linear Linear
}

// Exact evaluates a class from single coefficients.
type Exact struct {
	Method Method
	Graph  *expr.Graph
	Root   expr.ID
	Cost   expr.Cost
	Greedy int // multiplications that the greedy form alone would take for the polynomial in the coordinates
}

// Linear evaluates a class by linear look-ups, in the order listed.
type Linear struct {
	Graph   *expr.Graph
	LookUps []LookUp
	Least   bool // whether it is proven that fewer look-ups do not suffice
	Cost    expr.Cost
}

// LookUp is a look-up with the nodes of its weight and of its fractions; -1 for axes that it does
// not span.
type LookUp struct {
	plan.LookUp
	Weight    expr.ID
	Fractions [3]expr.ID
}

// Method is an order for the arithmetic of a class.
type Method string

// The methods. The compiler chooses the one with the fewest operations.
const (
	// Separable sums along one axis after the other.
	Separable Method = "separable"
	// Polynomial sums coefficients into a polynomial in the coordinates, and evaluates that.
	Polynomial Method = "polynomial"
	// Weights evaluates the weight of each coefficient.
	Weights Method = "weights"
)

// New returns the code of a plan.
func New(p *plan.Plan) (*Program, error) {
	r := &Program{Plan: p}
	for _, c := range p.Classes {
		class := &Class{Class: c}
		sides := p.Sides(c)
		class.Exact = exactCode(p, c, sides)
		var err error
		if class.Linear, err = linearCode(p, c, sides); err != nil {
			return nil, err
		}
		r.Classes = append(r.Classes, class)
	}
	return r, nil
}

func variables(g *expr.Graph, dim int) []expr.ID {
	var v []expr.ID
	for i := range dim {
		v = append(v, g.Var(fmt.Sprint("v", i)))
	}
	return v
}

func coefficient(g *expr.Graph, site int) expr.ID { return g.Var(fmt.Sprint("c", site)) }

// Denominator returns the smallest positive integer that gives every weight integer coefficients.
func Denominator(weights []exact.Poly) exact.Rat {
	all := exact.Poly{}
	for i, w := range weights {
		for _, a := range w {
			_, d := a.Fraction()
			// The content of 1/d over all d is one over their least common multiple.
			all[exact.Monomial{uint8(i), uint8(len(all) % 200), uint8(len(all) / 200)}] = exact.Frac(1, int(d))
		}
	}
	return exact.Int(1).Div(all.Content().Abs())
}

func exactCode(p *plan.Plan, c *plan.Class, sides []exact.Poly) Exact {
	best := polynomial(p, c)
	for _, other := range []func() (Exact, bool){
		func() (Exact, bool) { return separable(p, c, sides) },
		func() (Exact, bool) { return weights(p, c, sides), true },
	} {
		if e, ok := other(); ok && e.Cost.Total() < best.Cost.Total() {
			e.Greedy = best.Greedy
			best = e
		}
	}
	return best
}

func finish(m Method, g *expr.Graph, sum expr.ID, scale exact.Rat) Exact {
	root := g.Mul(g.Const(scale), sum)
	return Exact{Method: m, Graph: g, Root: root, Cost: g.Cost(root)}
}

func polynomial(p *plan.Plan, c *plan.Class) Exact {
	d := Denominator(c.Weights)
	forms := map[exact.Monomial]map[int]exact.Rat{}
	all := exact.Poly{}
	for i, w := range c.Weights {
		for m, a := range w {
			if forms[m] == nil {
				forms[m] = map[int]exact.Rat{}
			}
			forms[m][i] = a.Mul(d)
			all[m] = exact.Int(1)
		}
	}
	monomials := all.Monomials()
	build := func(f *expr.Form) Exact {
		g := expr.New()
		t := expr.Terms{}
		for _, m := range monomials {
			t[m] = linearForm(g, forms[m], len(c.Sites))
		}
		return finish(Polynomial, g, g.Horner(t, variables(g, p.Dim), f), exact.Int(1).Div(d))
	}
	greedy := build(expr.Greedy(slices.Clone(monomials)))
	searched := build(expr.Search(slices.Clone(monomials), 20000))
	best := greedy
	if searched.Cost.Total() < greedy.Cost.Total() {
		best = searched
	}
	best.Greedy = greedy.Cost.Mul
	return best
}

// linearForm returns the sum of coefficients with integer factors. It adds up coefficients with
// factors of equal size first.
func linearForm(g *expr.Graph, form map[int]exact.Rat, sites int) expr.ID {
	var sizes []exact.Rat
	sums := map[string]expr.ID{}
	for _, sign := range []int{1, -1} {
		for i := range sites {
			a := form[i]
			if a.Sign() != sign {
				continue
			}
			size := a.Abs()
			k := size.String()
			if _, ok := sums[k]; !ok {
				sizes = append(sizes, size)
				sums[k] = g.Const(exact.Int(0))
			}
			if sign > 0 {
				sums[k] = g.Add(sums[k], coefficient(g, i))
			} else {
				sums[k] = g.Sub(sums[k], coefficient(g, i))
			}
		}
	}
	slices.SortFunc(sizes, exact.Rat.Cmp)
	total := g.Const(exact.Int(0))
	for _, s := range sizes {
		total = g.Add(total, g.Mul(g.Const(s), sums[s.String()]))
	}
	return total
}

func weights(p *plan.Plan, c *plan.Class, sides []exact.Poly) Exact {
	d := Denominator(c.Weights)
	g := expr.New()
	v := variables(g, p.Dim)
	var sum []expr.ID
	for i, w := range c.Weights {
		sum = append(sum, g.Mul(g.Poly(w.Scale(d), v, sides), coefficient(g, i)))
	}
	return finish(Weights, g, g.Sum(sum), exact.Int(1).Div(d))
}

// separable succeeds if the sites form a box and each weight is a product of a polynomial for each
// coordinate of its site.
func separable(p *plan.Plan, c *plan.Class, sides []exact.Poly) (Exact, bool) {
	type side struct {
		weight exact.Poly
		at     int
	}
	first, _ := c.Weights[0].Separate()
	var axes [3][]side
	for i, m := range c.Sites {
		s, ok := c.Weights[i].Separate()
		if !ok {
			return Exact{}, false
		}
		for k := range axes {
			o := m
			o[k] = c.Sites[0][k]
			if o == c.Sites[0] {
				axes[k] = append(axes[k], side{s.Parts[k].Scale(s.Scale.Div(first.Scale)), m[k]})
			}
		}
	}
	// The weights are positive inside, so all along an axis have the same sign.
	for k := range axes {
		if first.Parts[k].At(c.At).Sign() < 0 {
			first.Scale = first.Scale.Neg()
			for i := range axes[k] {
				axes[k][i].weight = axes[k][i].weight.Scale(exact.Int(-1))
			}
		}
	}
	find := func(k, at int) exact.Poly {
		for _, s := range axes[k] {
			if s.at == at {
				return s.weight
			}
		}
		return nil
	}
	index := map[lattice.Point]int{}
	for i, m := range c.Sites {
		index[m] = i
		product := find(0, m[0]).Mul(find(1, m[1])).Mul(find(2, m[2]))
		if !product.Scale(first.Scale).Equal(c.Weights[i]) {
			return Exact{}, false
		}
	}
	if len(c.Sites) != len(axes[0])*len(axes[1])*len(axes[2]) {
		return Exact{}, false
	}
	scale := first.Scale
	g := expr.New()
	v := variables(g, p.Dim)
	var nodes [3][]expr.ID
	for k := range axes {
		var list []exact.Poly
		for _, s := range axes[k] {
			list = append(list, s.weight)
		}
		d := Denominator(list)
		scale = scale.Div(d)
		for _, w := range list {
			nodes[k] = append(nodes[k], g.Poly(w.Scale(d), v, sides))
		}
	}
	var outer []expr.ID
	for z, sz := range axes[2] {
		var middle []expr.ID
		for y, sy := range axes[1] {
			var inner []expr.ID
			for x, sx := range axes[0] {
				inner = append(inner, g.Mul(nodes[0][x], coefficient(g, index[lattice.Point{sx.at, sy.at, sz.at}])))
			}
			middle = append(middle, g.Mul(nodes[1][y], g.Sum(inner)))
		}
		outer = append(outer, g.Mul(nodes[2][z], g.Sum(middle)))
	}
	return finish(Separable, g, g.Sum(outer), scale), true
}

// Tiny is the name of a variable: a number so small that it changes no denominator except zero.
const Tiny = "tiny"

func linearCode(p *plan.Plan, c *plan.Class, sides []exact.Poly) (Linear, error) {
	l := Linear{Graph: expr.New()}
	chosen, least := plan.Cover(p.LookUps(c), len(c.Sites))
	l.Least = least
	order := plan.Order(len(chosen), func(a, b int) int {
		d := 0
		for k := range p.Dim {
			// Texture caches hold squares or cubes of texels.
			e := 2*chosen[a].Site[k] + chosen[a].Span[k] - 2*chosen[b].Site[k] - chosen[b].Span[k]
			d += e * e
		}
		return d
	})
	v := variables(l.Graph, p.Dim)
	seen := make([]bool, len(c.Sites))
	for _, i := range order {
		u := LookUp{LookUp: chosen[i], Fractions: [3]expr.ID{-1, -1, -1}}
		for _, m := range u.Members {
			if seen[m] {
				return l, fmt.Errorf("site %v is covered twice", c.Sites[m])
			}
			seen[m] = true
		}
		u.Weight = l.Graph.Poly(u.LookUp.Weight, v, sides)
		for k, s := range u.Span {
			if s == 0 {
				continue
			}
			above, below := u.Above[k], u.Below[k]
			content := above.Add(below, exact.Int(1)).Content().Abs()
			above, below = above.Scale(exact.Int(1).Div(content)), below.Scale(exact.Int(1).Div(content))
			bottom := l.Graph.Poly(above.Add(below, exact.Int(1)), v, sides)
			if !u.Positive[k] {
				bottom = l.Graph.Add(bottom, l.Graph.Var(Tiny))
			}
			top := l.Graph.Poly(above, v, sides)
			u.Fractions[k] = top
			if !l.Graph.IsOne(bottom) {
				u.Fractions[k] = l.Graph.Div(top, bottom)
			}
		}
		l.LookUps = append(l.LookUps, u)
	}
	if slices.Contains(seen, false) {
		return l, fmt.Errorf("the look-ups do not cover all sites")
	}
	l.Cost = l.Graph.Cost(l.Roots()...)
	return l, nil
}

// Operations returns the number of operations for a value, in the costliest class, over all cosets.
func (p *Program) Operations() int {
	most := 0
	for _, c := range p.Classes {
		most = max(most, c.Exact.Cost.Total())
	}
	return most * len(p.Offsets)
}

// Along reports whether the program needs one array along the lattice's basis.
func (p *Program) Along() bool { return len(p.Offsets) < len(p.Element.Lattice.Offsets) }

// Roots returns the nodes of the weights and fractions of all look-ups.
func (l Linear) Roots() []expr.ID {
	var roots []expr.ID
	for _, u := range l.LookUps {
		roots = append(roots, u.Weight)
		for k, s := range u.Span {
			if s > 0 {
				roots = append(roots, u.Fractions[k])
			}
		}
	}
	return roots
}
