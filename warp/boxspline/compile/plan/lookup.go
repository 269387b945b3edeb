package plan

import (
	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// LookUp reads one to eight neighbouring coefficients of a class at once, by the linear
// interpolation of a texture: the sum of the members' weighted coefficients is Weight times
// the texture at Site + h, where h_k = Above[k]/(Above[k] + Below[k]) along the axes of the
// span and 0 along others.
type LookUp struct {
	Members      []int // sites of the class
	Site, Span   lattice.Point
	Weight       exact.Poly
	Above, Below [3]exact.Poly // without common factors, as far as known
	// Positive is set, for each axis of the span, if Above + Below is proven to be positive in the
	// whole subregion. Otherwise both may vanish at its border, where the weight vanishes as well.
	Positive [3]bool
}

// LookUps returns every look-up that a class allows: single coefficients, and the pairs, squares
// and cubes whose weights have the form of an interpolation and for which the Bernstein
// coefficients of Above and Below over the class's cells prove that h is in [0, 1].
func (p *Plan) LookUps(c *Class) []LookUp {
	var cells []*polytope
	for _, at := range append([]exact.Vec{c.At}, c.Others...) {
		cells = append(cells, newPolytope(p.Spline.Planes(), at))
	}
	at := map[lattice.Point]int{}
	for i, m := range c.Sites {
		at[m] = i
	}
	var list []LookUp
	for bits := 1<<p.Dim - 1; bits >= 0; bits-- {
		var span lattice.Point
		for k := range p.Dim {
			span[k] = bits >> k & 1
		}
		for _, m := range c.Sites {
			corners, ok := cornersOf(at, m, span)
			if !ok {
				continue
			}
			if l, ok := p.lookUp(c, cells, corners, span); ok {
				l.Site = m
				list = append(list, l)
			}
		}
	}
	return list
}

// cornersOf returns the sites at m plus each part of the span, in the order of the bits, or false
// if one is missing.
func cornersOf(at map[lattice.Point]int, m, span lattice.Point) ([]int, bool) {
	var list []int
	for bits := range 8 {
		q := m
		inside := true
		for k := range q {
			bit := bits >> k & 1
			inside = inside && bit <= span[k]
			q[k] += bit
		}
		if !inside {
			continue
		}
		i, ok := at[q]
		if !ok {
			return nil, false
		}
		list = append(list, i)
	}
	return list, true
}

// lookUp returns the look-up with these corners, or false if they form none or it is not bounded.
func (p *Plan) lookUp(c *Class, cells []*polytope, corners []int, span lattice.Point) (LookUp, bool) {
	l := LookUp{Members: corners, Span: span, Weight: exact.Poly{}}
	w := make([]exact.Poly, len(corners))
	for i, m := range corners {
		w[i] = c.Weights[m]
		l.Weight = l.Weight.Add(w[i], exact.Int(1))
	}
	// The weights form an interpolation if their array has rank 1.
	for e := range w {
		if low := e & -e; e != low && !w[0].Mul(w[e]).Equal(w[low].Mul(w[e^low])) {
			return l, false
		}
	}
	bit := 1
	for k := range p.Dim {
		if span[k] == 0 {
			continue
		}
		l.Below[k], l.Above[k] = cancel(cells[0], w[0], w[bit])
		// What was cancelled may be negative.
		if l.Above[k].At(c.At).Sign() < 0 {
			l.Below[k], l.Above[k] = l.Below[k].Scale(exact.Int(-1)), l.Above[k].Scale(exact.Int(-1))
		}
		bit *= 2
		l.Positive[k] = true
		for _, cell := range cells {
			for _, part := range []exact.Poly{l.Above[k], l.Below[k]} {
				if least, ok := cell.bound(part); !ok || least.Sign() < 0 {
					return l, false
				}
			}
			least, ok := cell.bound(l.Above[k].Add(l.Below[k], exact.Int(1)))
			l.Positive[k] = l.Positive[k] && ok && least.Sign() > 0
		}
	}
	return l, true
}

// cancel divides p and q, which are not negative in the cell, by common factors: factors of one
// variable if both polynomials are products of those, and linear polynomials that vanish on sides
// of the cell.
func cancel(cell *polytope, a, b exact.Poly) (exact.Poly, exact.Poly) {
	fa, okA := a.Separate()
	fb, okB := b.Separate()
	if okA && okB {
		a, b = exact.Constant(fa.Scale), exact.Constant(fb.Scale)
		for k := range fa.Parts {
			if !fa.Parts[k].Equal(fb.Parts[k]) {
				a, b = a.Mul(fa.Parts[k]), b.Mul(fb.Parts[k])
			}
		}
	}
	for _, f := range cell.sides {
		for {
			qa, ok := a.DivideLinear(f)
			if !ok {
				break
			}
			qb, ok := b.DivideLinear(f)
			if !ok {
				break
			}
			a, b = qa, qb
		}
	}
	return a, b
}

// Sides returns linear polynomials that vanish on the sides of a class's cell and are positive
// inside it, preceded by parallel ones from beyond the cell. Weights often are products of their
// powers.
func (p *Plan) Sides(c *Class) []exact.Poly { return newPolytope(p.Spline.Planes(), c.At).sides }

// polytope is the cell, in an arrangement of planes, that contains a point.
type polytope struct {
	sides     []exact.Poly // linear, positive inside
	simplices []*simplex
	bounds    map[string]lowerBound // of polynomials, by their texts
}

func newPolytope(families []boxspline.Planes, at exact.Vec) *polytope {
	type plane struct {
		normal exact.Vec
		offset exact.Rat // normal·v >= offset inside
	}
	var planes []plane
	for _, f := range families {
		d := f.Normal.Dot(at)
		var low, high *exact.Rat
		for _, o := range residues(f) {
			below := o.Add(exact.Int(d.Sub(o).Floor()))
			above := below.Add(exact.Int(1))
			if low == nil || below.Cmp(*low) > 0 {
				low = &below
			}
			if high == nil || above.Cmp(*high) < 0 {
				high = &above
			}
		}
		planes = append(planes, plane{f.Normal, *low}, plane{f.Normal.Scale(exact.Int(-1)), high.Neg()})
	}
	t := &polytope{bounds: map[string]lowerBound{}}
	for _, q := range planes {
		t.sides = append(t.sides, exact.Linear(q.normal, q.offset.Neg()))
	}
	dim := len(at)
	type vertex struct {
		at    exact.Vec
		tight []bool
	}
	var vertices []vertex
	seen := map[string]bool{}
	choose(len(planes), dim, func(pick []int) {
		// The rows of the system are normals, but exact matrices are stored by columns.
		m, right := make(exact.Matrix, dim), make(exact.Vec, dim)
		for j := range m {
			m[j] = make(exact.Vec, dim)
			for i, k := range pick {
				m[j][i] = planes[k].normal[j]
			}
		}
		for i, k := range pick {
			right[i] = planes[k].offset
		}
		inverse, ok := m.Inverse()
		if !ok {
			return
		}
		x := inverse.Apply(right)
		if seen[x.Key()] {
			return
		}
		v := vertex{x, make([]bool, len(planes))}
		for k, q := range planes {
			s := q.normal.Dot(x).Cmp(q.offset)
			if s < 0 {
				return
			}
			v.tight[k] = s == 0
		}
		seen[x.Key()] = true
		vertices = append(vertices, v)
	})
	mean := func(of []exact.Vec) exact.Vec {
		s := make(exact.Vec, dim)
		for _, v := range of {
			s = s.Add(v)
		}
		return s.Scale(exact.Frac(1, len(of)))
	}
	var all []exact.Vec
	for _, v := range vertices {
		all = append(all, v.at)
	}
	middle := mean(all)
	// A simplex consists of the middle of the polytope, in three dimensions the middle of a side,
	// and an edge, whose ends share dim-1 independent planes.
	for k := range planes {
		var on []vertex
		var points []exact.Vec
		for _, v := range vertices {
			if v.tight[k] {
				on, points = append(on, v), append(points, v.at)
			}
		}
		if len(on) < dim {
			continue
		}
		for i := range on {
			for j := range i {
				var shared exact.Matrix
				for l, q := range planes {
					if on[i].tight[l] && on[j].tight[l] {
						shared = append(shared, q.normal)
					}
				}
				if shared.Rank() != dim-1 {
					continue
				}
				s := exact.Matrix{middle, on[i].at, on[j].at}
				if dim == 3 {
					s = append(s, mean(points))
				}
				t.simplices = append(t.simplices, newSimplex(s))
			}
		}
	}
	return t
}

// choose calls f with each choice of k out of n indices.
func choose(n, k int, f func([]int)) {
	pick := make([]int, k)
	var next func(i, from int)
	next = func(i, from int) {
		if i == k {
			f(pick)
			return
		}
		for v := from; v < n; v++ {
			pick[i] = v
			next(i+1, v+1)
		}
	}
	next(0, 0)
}
