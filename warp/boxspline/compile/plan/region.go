// Package plan finds, for an element on a lattice, how a program evaluates its spline without
// branches: the region of evaluation, the subregions into which knot planes cut it, the few
// polynomials that all subregions share under the element's symmetries, the coefficients that each
// reads, groups of coefficients that a single linear look-up can read, and the order of the
// look-ups.
//
// A lattice is the union of cosets, each an array. In the array's coordinates, a coset's sum is a
// sum over all integer points, so one plan for an array serves all.
package plan

import (
	"fmt"
	"slices"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// Target is an element and a way to store its lattice.
type Target struct {
	Element *boxspline.Element
	// Grid maps an array's coordinates to the lattice's, without the coset's offset.
	Grid    exact.Matrix
	Offsets []lattice.Point
}

// Cosets returns the target that stores the lattice as its cosets.
func Cosets(e *boxspline.Element) Target {
	g := exact.Identity(e.Dim())
	for i := range g {
		g[i] = g[i].Scale(exact.Int(e.Lattice.Step))
	}
	return Target{e, g, e.Lattice.Offsets}
}

// OneCoset returns the target that stores the lattice as a single array along its basis.
func OneCoset(e *boxspline.Element) Target {
	var g exact.Matrix
	for _, b := range e.Lattice.Basis {
		g = append(g, exact.Ints(b[:e.Dim()]...))
	}
	return Target{e, g, []lattice.Point{{}}}
}

// Plan is the plan for a target. All its coordinates are an array's.
type Plan struct {
	Target
	Dim    int
	Spline *boxspline.Spline // in the array's coordinates
	// Low is the corner of the region of evaluation, a cube of side 1. Sites and polynomials are
	// relative to n, the integer point for which u = y - n is in the region.
	Low    exact.Vec
	Planes []Cut
	// Subregions has an entry for each index, the sum of the cuts' strides times the number of
	// their planes at or below u. In a folded plan its entries are turns only.
	Subregions []Subregion
	// Inner holds the cuts of a folded plan, in v, and InnerClass the class of each index; both are
	// nil in other plans.
	Inner      []Cut
	InnerClass []int
	InnerUsed  int // number of indices that have points
	Classes    []*Class
}

// maxIndices is the largest number of indices for which a plan has a table of subregions. With
// more, a plan is folded.
const maxIndices = 4096

// Cut is a family of knot planes Normal·u = Offsets[k] that cross the region.
type Cut struct {
	Normal  exact.Vec
	Offsets []exact.Rat
	Stride  int
}

// Subregion is a part of the region that no knot plane crosses. With v = Turn u + Shift, its
// function is its class's at v, and site m of the class is the site Turn⁻¹ (m - Shift).
type Subregion struct {
	Class int
	Turn  Turn
	Shift lattice.Point
	Empty bool // an index that no point has except by rounding; it repeats a neighbour
	inner exact.Vec
}

// Class is a polynomial psi* that several subregions share: the sum of the coefficients at the
// sites times the weights, which are polynomials in v.
type Class struct {
	Sites   []lattice.Point
	Weights []exact.Poly
	At      exact.Vec   // a point inside
	Others  []exact.Vec // a point in each other cell with the same polynomial
}

// New returns the plan of a target.
func New(t Target) (*Plan, error) {
	p := &Plan{Target: t, Dim: t.Element.Dim(), Spline: t.Element.In(t.Grid)}
	families := p.Spline.Planes()
	p.chooseRegion(families)
	if len(p.Subregions) > maxIndices {
		if err := p.fold(families); err != nil {
			return nil, fmt.Errorf("plan of %s: %w", t.Element.Name, err)
		}
		return p, nil
	}
	if err := p.subdivide(); err != nil {
		return nil, fmt.Errorf("plan of %s: %w", t.Element.Name, err)
	}
	if err := p.classify(families); err != nil {
		return nil, fmt.Errorf("plan of %s: %w", t.Element.Name, err)
	}
	p.fillEmpty()
	return p, nil
}

// chooseRegion chooses the cube, with corners at integers or halves, that the fewest planes cross.
func (p *Plan) chooseRegion(families []boxspline.Planes) {
	least := -1
	for bits := range 1 << p.Dim {
		low := make(exact.Vec, p.Dim)
		for i := range low {
			low[i] = exact.Frac(-(bits >> i & 1), 2)
		}
		var corners exact.Matrix
		for corner := range 1 << p.Dim {
			c := slices.Clone(low)
			for i := range c {
				c[i] = c[i].Add(exact.Int(corner >> i & 1))
			}
			corners = append(corners, c)
		}
		cuts, n := cutsOf(families, corners)
		if least < 0 || n < least {
			least, p.Low, p.Planes = n, low, cuts
		}
	}
	p.Subregions = make([]Subregion, number(p.Planes))
}

// number sets the strides of cuts, and returns the number of their indices.
func number(cuts []Cut) int {
	stride := 1
	for i := range cuts {
		cuts[i].Stride = stride
		stride *= len(cuts[i].Offsets) + 1
	}
	return stride
}

// cutsOf returns the planes, shifted by all integer points, that cross the polytope with these
// corners, and their number.
func cutsOf(families []boxspline.Planes, corners exact.Matrix) (cuts []Cut, n int) {
	for _, f := range families {
		from := f.Normal.Dot(corners[0])
		to := from
		for _, v := range corners {
			if d := f.Normal.Dot(v); d.Cmp(from) < 0 {
				from = d
			} else if d.Cmp(to) > 0 {
				to = d
			}
		}
		c := Cut{Normal: f.Normal}
		for _, residue := range residues(f) {
			for b := residue.Add(exact.Int(from.Sub(residue).Floor())); b.Cmp(to) < 0; b = b.Add(exact.Int(1)) {
				if b.Cmp(from) > 0 {
					c.Offsets = append(c.Offsets, b)
				}
			}
		}
		if slices.SortFunc(c.Offsets, exact.Rat.Cmp); len(c.Offsets) > 0 {
			cuts, n = append(cuts, c), n+len(c.Offsets)
		}
	}
	return cuts, n
}

// residues returns the offsets modulo 1, because shifts by integer points repeat them.
func residues(f boxspline.Planes) []exact.Rat {
	var list []exact.Rat
	for _, b := range f.Offsets {
		b = b.Sub(exact.Int(b.Floor()))
		if !slices.ContainsFunc(list, func(a exact.Rat) bool { return a.Cmp(b) == 0 }) {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, exact.Rat.Cmp)
	return list
}

// indexOf returns the index of a point among cuts.
func indexOf(cuts []Cut, u exact.Vec) int {
	index := 0
	for _, c := range cuts {
		d := c.Normal.Dot(u)
		for _, b := range c.Offsets {
			if d.Cmp(b) >= 0 {
				index += c.Stride
			}
		}
	}
	return index
}

// fineness is the number of points along an axis at which subdivide looks for subregions. A
// subregion that it missed would repeat a neighbour; tests, which compare with the reference
// everywhere, would notice.
const fineness = 36

// subdivide finds the subregions that are not empty, and in each the point that is farthest from
// the planes.
func (p *Plan) subdivide() error {
	type best struct {
		distance float64
		at       lattice.Point
	}
	found := make([]best, len(p.Subregions))
	normals, offsets := make([][]float64, len(p.Planes)), make([][]float64, len(p.Planes))
	for i, c := range p.Planes {
		normals[i], offsets[i] = c.Normal.Floats(), exact.Vec(c.Offsets).Floats()
	}
	low := p.Low.Floats()
	side := lattice.Point{1, 1, 1}
	for i := range p.Dim {
		side[i] = fineness
	}
	for a := range side[0] {
		for b := range side[1] {
			for c := range side[2] {
				at := lattice.Point{a, b, c}
				distance, index := 1.0, 0
				for i := range normals {
					d := 0.0
					for k, n := range normals[i] {
						d += n * (low[k] + samplePlace(at[k], k).Float())
					}
					for _, o := range offsets[i] {
						distance = min(distance, max(d-o, o-d))
						if d >= o {
							index += p.Planes[i].Stride
						}
					}
				}
				if distance > found[index].distance {
					found[index] = best{distance, at}
				}
			}
		}
	}
	for i, f := range found {
		s := &p.Subregions[i]
		if s.Empty = f.distance == 0; s.Empty {
			continue
		}
		s.inner = make(exact.Vec, p.Dim)
		for k := range s.inner {
			s.inner[k] = p.Low[k].Add(samplePlace(f.at[k], k))
		}
		if indexOf(p.Planes, s.inner) != i {
			return fmt.Errorf("the point %v rounds into another subregion", s.inner)
		}
	}
	return nil
}

// samplePlace returns the position of sample i along axis k; no plane with small coefficients goes
// through the samples.
func samplePlace(i, k int) exact.Rat {
	return exact.Frac(i, fineness).Add(exact.Frac([]int{7, 11, 13}[k], 997))
}

// fillEmpty makes indices without points repeat the nearest that has some: where planes meet, a
// rounded u may seem to be on an impossible combination of sides, and by continuity any polynomial
// from nearby will do.
func (p *Plan) fillEmpty() {
	for i := range p.Subregions {
		if p.Subregions[i].Empty {
			p.Subregions[i] = p.Subregions[nearest(p.Planes, len(p.Subregions), i, func(j int) bool { return !p.Subregions[j].Empty })]
			p.Subregions[i].Empty = true
		}
	}
}

// nearest returns the index with points that the fewest planes separate from index i.
func nearest(cuts []Cut, count, i int, points func(int) bool) int {
	best, least := -1, 0
	for j := range count {
		if !points(j) {
			continue
		}
		d := 0
		for _, c := range cuts {
			n := len(c.Offsets) + 1
			e := i/c.Stride%n - j/c.Stride%n
			d += max(e, -e)
		}
		if best < 0 || d < least {
			best, least = j, d
		}
	}
	if best < 0 {
		panic("plan: no subregion")
	}
	return best
}
