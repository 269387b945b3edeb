package plan

import (
	"fmt"
	"slices"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
)

// A folded plan is for an element with the symmetries of the cube whose knot planes make too many
// indices for a table. The region is the cube around a site. The signs and the order of the
// coordinates form an index that selects the turn that makes them non-negative and descending; the
// knot planes that cross this 48th of the cube then form an index of the class.

// FoldPairs lists the coordinates a < b whose absolute values a folded plan compares: bit k of an
// index is set if coordinate k is negative, and bit 3+i if the absolute value of coordinate
// FoldPairs[i][0] is less than the absolute value of FoldPairs[i][1].
var FoldPairs = [][2]int{{0, 1}, {0, 2}, {1, 2}}

// fold makes a folded plan.
func (p *Plan) fold(families []boxspline.Planes) error {
	if n := len(symmetries(p.Spline)); n != 48 {
		return fmt.Errorf("%d indices, and %d symmetries of 48", len(p.Subregions), n)
	}
	half := exact.Frac(1, 2)
	p.Low, p.Planes, p.Subregions = make(exact.Vec, 3), nil, make([]Subregion, 64)
	for k := range p.Low {
		p.Low[k] = half.Neg()
	}
	for i := range p.Subregions {
		p.Subregions[i].Turn = descending(i)
	}
	// The corners of the folded region.
	corners := make(exact.Matrix, 4)
	for i := range corners {
		corners[i] = make(exact.Vec, 3)
		for k := range i {
			corners[i][k] = half
		}
	}
	p.Inner, _ = cutsOf(families, corners)
	p.InnerClass = make([]int, number(p.Inner))
	for i := range p.InnerClass {
		p.InnerClass[i] = -1
	}
	inner := p.innerPoints()
	for i, at := range inner {
		if at == nil {
			continue
		}
		c, err := p.class(at)
		if err != nil {
			return err
		}
		p.InnerClass[i] = p.merge(c)
		p.InnerUsed++
	}
	for i, at := range inner {
		if at == nil {
			p.InnerClass[i] = p.InnerClass[nearest(p.Inner, len(inner), i, func(j int) bool { return inner[j] != nil })]
		}
	}
	return nil
}

// descending returns the turn of an index. For indices that no coordinates have, any turn will do.
func descending(index int) Turn {
	axes := []int{0, 1, 2}
	var above [3]int // how many coordinates are larger
	for i, pair := range FoldPairs {
		above[pair[1-index>>(3+i)&1]]++
	}
	slices.SortStableFunc(axes, func(a, b int) int { return above[a] - above[b] })
	t := turns(3)[0]
	for k, a := range axes {
		t.Axis[k], t.Sign[k] = a, 1-index>>a&1*2
	}
	return t
}

// innerPoints returns, for each index among the inner cuts, the point of the folded region that is
// farthest from the planes, or nil if the index has no points.
func (p *Plan) innerPoints() []exact.Vec {
	const side = 2 * 36
	points, best := make([]exact.Vec, len(p.InnerClass)), make([]exact.Rat, len(p.InnerClass))
	for a := range side {
		for b := range a {
			for c := range b {
				// No plane with small coefficients goes through these points.
				v := exact.Vec{exact.Frac(7*a+3, 1009), exact.Frac(7*b+2, 1009), exact.Frac(7*c+1, 1009)}
				i := indexOf(p.Inner, v)
				distance := exact.Int(1)
				for _, cut := range p.Inner {
					d := cut.Normal.Dot(v)
					for _, o := range cut.Offsets {
						if e := d.Sub(o).Abs(); e.Cmp(distance) < 0 {
							distance = e
						}
					}
				}
				if distance.Cmp(best[i]) > 0 {
					points[i], best[i] = v, distance
				}
			}
		}
	}
	return points
}

// merge returns the number of the class with c's polynomials, after adding c if there is none.
func (p *Plan) merge(c *Class) int {
	for i, o := range p.Classes {
		if slices.Equal(o.Sites, c.Sites) && slices.EqualFunc(o.Weights, c.Weights, exact.Poly.Equal) {
			o.Others = append(o.Others, c.At)
			return i
		}
	}
	p.Classes = append(p.Classes, c)
	return len(p.Classes) - 1
}
