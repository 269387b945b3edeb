package boxspline

import (
	"fmt"

	"retime/warp/boxspline/exact"
)

// maxDirections is the largest number of distinct directions of a spline.
const maxDirections = 8

// powers counts how often each direction of a family occurs.
type powers [maxDirections]uint8

func (m powers) total() int {
	n := 0
	for _, e := range m {
		n += int(e)
	}
	return n
}

// A Term is a box spline of a Spline: Weight times the box spline, centred at Centre, whose
// direction matrix has direction i of the spline Times[i] times.
type Term struct {
	Weight exact.Rat
	Times  powers
	Centre exact.Vec
}

// Spline is a sum of box splines over one set of directions, a piecewise polynomial of compact
// support. The integral of a box spline is 1. Splines are immutable.
type Spline struct {
	dim        int
	directions []exact.Vec // pairwise independent, each with a positive first nonzero component
	terms      []Term
}

// NewBox returns weight times the box spline of the direction matrix with these columns, centred at
// the origin. The sign of a direction does not matter. NewBox returns an error if the directions do
// not span their space, whose dimension is 2 or 3.
func NewBox(weight exact.Rat, directions exact.Matrix) (*Spline, error) {
	if len(directions) == 0 || len(directions[0]) < 2 || len(directions[0]) > exact.MaxVars {
		return nil, fmt.Errorf("boxspline: want directions in 2 or 3 dimensions")
	}
	s := &Spline{dim: len(directions[0])}
	if directions.Rank() < s.dim {
		return nil, fmt.Errorf("boxspline: %d directions do not span %d dimensions", len(directions), s.dim)
	}
	t := Term{Weight: weight, Centre: make(exact.Vec, s.dim)}
	for _, v := range directions {
		i, err := s.index(v)
		if err != nil {
			return nil, err
		}
		t.Times[i]++
	}
	s.terms = []Term{t}
	return s, nil
}

// index returns the index of the direction v or -v, and adds it if it is new.
func (s *Spline) index(v exact.Vec) (int, error) {
	if v.IsZero() {
		return 0, fmt.Errorf("boxspline: a direction is zero")
	}
	v = positive(v)
	for i, d := range s.directions {
		if d.Equal(v) {
			return i, nil
		}
	}
	if len(s.directions) == maxDirections {
		return 0, fmt.Errorf("boxspline: more than %d directions", maxDirections)
	}
	s.directions = append(s.directions, v)
	return len(s.directions) - 1, nil
}

// positive returns v or -v, whichever has a positive first nonzero component. All such vectors are
// on one side of a plane.
func positive(v exact.Vec) exact.Vec {
	for _, a := range v {
		if a.Sign() != 0 {
			return v.Scale(exact.Int(a.Sign()))
		}
	}
	return v
}

// mustBox is NewBox for directions that are known to be valid.
func mustBox(weight exact.Rat, directions exact.Matrix) *Spline {
	s, err := NewBox(weight, directions)
	if err != nil {
		panic(err)
	}
	return s
}

// Dim returns the number of coordinates, 2 or 3.
func (s *Spline) Dim() int { return s.dim }

// Directions returns the distinct directions of the box splines.
func (s *Spline) Directions() []exact.Vec { return s.directions }

// Terms returns the box splines whose sum is s.
func (s *Spline) Terms() []Term { return s.terms }

// Degree returns the largest total degree of a piece.
func (s *Spline) Degree() int {
	d := 0
	for _, t := range s.terms {
		d = max(d, t.Times.total()-s.dim)
	}
	return d
}

// Smoothness returns a k such that every box spline of s has continuous derivatives up to order k;
// -1 means jumps. k+2 is the smallest number of directions whose removal keeps the others from
// spanning the space. A sum may be smoother than its terms.
func (s *Spline) Smoothness() int {
	least := 1 << 10
	for _, t := range s.terms {
		for _, a := range s.normals() {
			off := 0
			for i, d := range s.directions {
				if a.Dot(d).Sign() != 0 {
					off += int(t.Times[i])
				}
			}
			least = min(least, off)
		}
	}
	return least - 2
}

// Convolve returns the convolution of s and t.
func (s *Spline) Convolve(t *Spline) (*Spline, error) {
	r := &Spline{dim: s.dim}
	for _, d := range append(append([]exact.Vec(nil), s.directions...), t.directions...) {
		if _, err := r.index(d); err != nil {
			return nil, err
		}
	}
	place := func(of *Spline, p Term) (m powers) {
		for i, d := range of.directions {
			j, _ := r.index(d)
			m[j] += p.Times[i]
		}
		return m
	}
	sums := map[string]int{}
	for _, a := range s.terms {
		for _, b := range t.terms {
			m := place(s, a)
			for i, e := range place(t, b) {
				m[i] += e
			}
			centre := a.Centre.Add(b.Centre)
			key := fmt.Sprint(m, centre.Key())
			i, ok := sums[key]
			if !ok {
				i = len(r.terms)
				sums[key] = i
				r.terms = append(r.terms, Term{Times: m, Centre: centre})
			}
			r.terms[i].Weight = r.terms[i].Weight.Add(a.Weight.Mul(b.Weight))
		}
	}
	return r, nil
}

// In returns the spline y -> s(g y), which is s in other coordinates.
func (s *Spline) In(g exact.Matrix) *Spline {
	inverse, ok := g.Inverse()
	if !ok {
		panic("boxspline: coordinates without an inverse")
	}
	r := &Spline{dim: s.dim}
	scale := exact.Int(1).Div(g.Det().Abs())
	for _, d := range s.directions {
		// Independent directions stay independent, so each gets the same index again.
		if _, err := r.index(inverse.Apply(d)); err != nil {
			panic(err)
		}
	}
	for _, t := range s.terms {
		r.terms = append(r.terms, Term{t.Weight.Mul(scale), t.Times, inverse.Apply(t.Centre)})
	}
	return r
}

// corner returns the point of a term's support from which all its directions lead inwards.
func (s *Spline) corner(t Term) exact.Vec {
	c := t.Centre
	for i, d := range s.directions {
		c = c.Sub(d.Scale(exact.Frac(int(t.Times[i]), 2)))
	}
	return c
}

// Reach returns how far the support extends from the origin along each coordinate.
func (s *Spline) Reach() exact.Vec {
	reach := make(exact.Vec, s.dim)
	for _, t := range s.terms {
		for i := range reach {
			r := t.Centre[i].Abs()
			for k, d := range s.directions {
				r = r.Add(d[i].Abs().Mul(exact.Frac(int(t.Times[k]), 2)))
			}
			if r.Cmp(reach[i]) > 0 {
				reach[i] = r
			}
		}
	}
	return reach
}
