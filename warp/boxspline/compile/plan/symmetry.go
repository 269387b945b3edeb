package plan

import (
	"fmt"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// Turn is a permutation of the axes with signs: component k of the image is Sign[k] times
// component Axis[k].
type Turn struct{ Axis, Sign lattice.Point }

// Apply returns the image of v.
func (t Turn) Apply(v exact.Vec) exact.Vec {
	r := make(exact.Vec, len(v))
	for k := range v {
		r[k] = v[t.Axis[k]].Mul(exact.Int(t.Sign[k]))
	}
	return r
}

// After returns the turn b followed by t.
func (t Turn) After(b Turn) Turn {
	var r Turn
	for k, a := range t.Axis {
		r.Axis[k], r.Sign[k] = b.Axis[a], t.Sign[k]*b.Sign[a]
	}
	return r
}

// turns returns all turns of a dimension, the identity first.
func turns(dim int) []Turn {
	orders := []lattice.Point{{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	if dim == 2 {
		orders = orders[:2]
	}
	var list []Turn
	for _, o := range orders {
		for bits := range 1 << dim {
			t := Turn{o, lattice.Point{1, 1, 1}}
			for k := range dim {
				t.Sign[k] = 1 - bits>>k&1*2
			}
			list = append(list, t)
		}
	}
	return list
}

// symmetries returns the turns that map the spline to itself: those that permute its directions and
// keep its values at points in general position.
func symmetries(s *boxspline.Spline) []Turn {
	var list []Turn
	keys := map[string]bool{}
	for _, d := range s.Directions() {
		keys[d.Key()], keys[d.Scale(exact.Int(-1)).Key()] = true, true
	}
	var probes []exact.Vec
	var values []exact.Rat
	for i := range 3 {
		x := make(exact.Vec, s.Dim())
		for k, r := range s.Reach() {
			x[k] = r.Mul(exact.Frac([]int{31, 17, 47}[(i+k)%3], 97+4*i))
		}
		probes, values = append(probes, x), append(values, s.At(x))
	}
	holds := func(t Turn) bool {
		for _, d := range s.Directions() {
			if !keys[t.Apply(d).Key()] {
				return false
			}
		}
		for i, x := range probes {
			if s.At(t.Apply(x)).Cmp(values[i]) != 0 {
				return false
			}
		}
		return true
	}
	// Products of the turns found so far need no check.
	known := map[Turn]bool{}
	for _, t := range turns(s.Dim()) {
		if !known[t] {
			if !holds(t) {
				continue
			}
			known[t] = true
			generate(known)
		}
		list = append(list, t)
	}
	return list
}

// generate adds all products of turns to known.
func generate(known map[Turn]bool) {
	for n := 0; n < len(known); {
		n = len(known)
		var list []Turn
		for t := range known {
			list = append(list, t)
		}
		for _, a := range list {
			for _, b := range list {
				known[a.After(b)] = true
			}
		}
	}
}

// classify maps each subregion to a class, and computes the classes' polynomials.
func (p *Plan) classify(families []boxspline.Planes) error {
	group := symmetries(p.Spline)
	shifts := around(p.Dim)
	byCell := map[string]int{}
	for i := range p.Subregions {
		s := &p.Subregions[i]
		if s.Empty {
			continue
		}
		if !p.match(s, group, shifts, families, byCell) {
			c, err := p.class(s.inner)
			if err != nil {
				return err
			}
			s.Class, s.Turn = len(p.Classes), group[0]
			byCell[cell(families, s.inner)] = len(p.Classes)
			p.Classes = append(p.Classes, c)
		}
	}
	return nil
}

// match looks for a class that fits s, with the smallest shift.
func (p *Plan) match(s *Subregion, group []Turn, shifts []lattice.Point, families []boxspline.Planes, byCell map[string]int) bool {
	for _, shift := range shifts {
		for _, t := range group {
			v := t.Apply(s.inner).Add(exact.Ints(shift[:p.Dim]...))
			if c, ok := byCell[cell(families, v)]; ok {
				s.Class, s.Turn, s.Shift = c, t, shift
				return true
			}
		}
	}
	return false
}

// cell returns a text that is equal for points with no plane between them, of all shifts of the
// families.
func cell(families []boxspline.Planes, v exact.Vec) string {
	var b []byte
	for _, f := range families {
		for _, o := range residues(f) {
			b = fmt.Append(b, f.Normal.Dot(v).Sub(o).Floor(), " ")
		}
	}
	return string(b)
}

// around returns the points with coordinates from -1 to 1, the origin first and points with many
// zeros before others.
func around(dim int) []lattice.Point {
	var list []lattice.Point
	for zeros := dim; zeros >= 0; zeros-- {
		for i := range 27 {
			q := lattice.Point{i%3 - 1, i/3%3 - 1, i/9 - 1}
			n := 0
			for _, c := range q[:dim] {
				if c == 0 {
					n++
				}
			}
			if n == zeros && (dim == 3 || q[2] == 0) {
				list = append(list, q)
			}
		}
	}
	return list
}

// class returns the polynomials at a point.
func (p *Plan) class(at exact.Vec) (*Class, error) {
	c := &Class{At: at}
	near := p.Spline.Near(at)
	reach := p.Spline.Reach()
	var low, high lattice.Point
	for i := range p.Dim {
		low[i], high[i] = at[i].Sub(reach[i]).Floor(), at[i].Add(reach[i]).Floor()+1
	}
	sum := exact.Poly{}
	for z := low[2]; z <= high[2]; z++ {
		for y := low[1]; y <= high[1]; y++ {
			for x := low[0]; x <= high[0]; x++ {
				m := lattice.Point{x, y, z}
				w := near.Shifted(exact.Ints(m[:p.Dim]...))
				if len(w) == 0 {
					continue
				}
				c.Sites, c.Weights = append(c.Sites, m), append(c.Weights, w)
				sum = sum.Add(w, exact.Int(1))
			}
		}
	}
	// The cosets' sums add up to 1; each by itself may vary.
	if one := exact.Constant(exact.Int(1)); len(p.Offsets) == 1 && !sum.Equal(one) {
		return nil, fmt.Errorf("the weights at %v sum to %v", at, sum)
	}
	return c, nil
}
