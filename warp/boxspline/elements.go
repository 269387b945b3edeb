package boxspline

import (
	"fmt"
	"sync"

	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
)

// Element is a spline on a lattice, scaled so that its shifts to all points of the lattice
// sum to 1.
type Element struct {
	Name    string
	About   string
	Lattice *lattice.Lattice
	*Spline
	// Reproduces is the total degree up to which sums of shifts reproduce every polynomial, and
	// Continuity the order up to which derivatives are continuous.
	Reproduces, Continuity int
}

// Elements returns all elements. They are read-only.
func Elements() []*Element { return elements() }

// Find returns the element with the name, or an error that lists the names.
func Find(name string) (*Element, error) {
	list := elements()
	for _, e := range list {
		if e.Name == name {
			return e, nil
		}
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
	}
	return nil, fmt.Errorf("boxspline: no element %q; there are %v", name, names)
}

// elements makes the elements when they are first needed, because making them took longer than
// everything else before main.
var elements = sync.OnceValue(func() []*Element {
	return []*Element{
		tensor("bilinear", lattice.Square, 1),
		tensor("biquadratic", lattice.Square, 2),
		tensor("bicubic", lattice.Square, 3),
		box("courant", "Courant's element, linear on triangles", lattice.Square, [][]int{{1, 0, 1}, {0, 1, 1}}),
		box("zp", "the element of Zwart and Powell", lattice.Square, [][]int{{1, 0, 1, -1}, {0, 1, 1, 1}}),
		box("quincunx-linear", "the tensor product of degree 1, two sites wide", lattice.Quincunx, [][]int{{2, 0, -2, 0}, {0, 2, 0, -2}}),
		box("quincunx-voronoi-1", "the Voronoi cell convolved with itself", lattice.Quincunx, [][]int{{1, 1, 1, 1}, {1, -1, 1, -1}}),
		box("quincunx-voronoi-2", "three Voronoi cells convolved", lattice.Quincunx, [][]int{{1, 1, 1, 1, 1, 1}, {1, -1, 1, -1, 1, -1}}),
		tensor("trilinear", lattice.Cube, 1),
		tensor("triquadratic", lattice.Cube, 2),
		tensor("tricubic", lattice.Cube, 3),
		box("seven", "seven directions: axes and diagonals", lattice.Cube,
			[][]int{{1, 0, 0, 1, -1, 1, 1}, {0, 1, 0, 1, 1, -1, 1}, {0, 0, 1, 1, 1, 1, -1}}),
		box("bcc-linear", "linear on tetrahedra (Entezari)", lattice.BCC, [][]int{{1, -1, 1, 1}, {1, 1, -1, 1}, {1, 1, 1, -1}}),
		box("bcc-quintic", "the linear element convolved with itself (Entezari)", lattice.BCC,
			[][]int{{1, -1, 1, 1, 1, -1, 1, 1}, {1, 1, -1, 1, 1, 1, -1, 1}, {1, 1, 1, -1, 1, 1, 1, -1}}),
		voronoi("bcc-voronoi-1", "the Voronoi cell convolved with itself", 1),
		voronoi("bcc-voronoi-2", "three Voronoi cells convolved", 2),
		box("fcc-cubic", "six directions (Kim, Entezari and Peters)", lattice.FCC,
			[][]int{{1, 1, 1, 1, 0, 0}, {1, -1, 0, 0, 1, 1}, {0, 0, 1, -1, 1, -1}}),
	}
})

// box returns the element with a direction matrix, given by its rows.
func box(name, about string, l *lattice.Lattice, rows [][]int) *Element {
	s := mustBox(exact.Int(l.Volume()), exact.Rows(rows...))
	return &Element{name, about, l, s, s.Smoothness() + 1, s.Smoothness()}
}

// tensor returns the tensor product of B-splines of the given degree.
func tensor(name string, l *lattice.Lattice, degree int) *Element {
	var m exact.Matrix
	for range degree + 1 {
		m = append(m, exact.Identity(l.Dim)...)
	}
	s := mustBox(exact.Int(1), m)
	return &Element{name, fmt.Sprintf("the tensor product of degree %d", degree), l, s, s.Smoothness() + 1, s.Smoothness()}
}

// voronoi returns the Voronoi cell of the body-centred lattice convolved with itself times
// times. The cell, a truncated octahedron, is a zonotope; a box spline of three directions
// is constant on its parallelepiped, and sixteen of these fill the cell (Mirzargar and
// Entezari, "Voronoi splines", 2010).
func voronoi(name, about string, times int) *Element {
	l := lattice.BCC
	cell := zonotope(exact.Rows([]int{1, 1, 1, 1, 0, 0}, []int{1, -1, 0, 0, 1, 1}, []int{0, 0, 1, -1, 1, -1}))
	s := cell
	for range times {
		var err error
		if s, err = s.Convolve(cell); err != nil {
			panic(err)
		}
	}
	volume := exact.Int(1)
	for range times {
		volume = volume.Mul(exact.Int(l.Volume()))
	}
	for i := range s.terms {
		s.terms[i].Weight = s.terms[i].Weight.Div(volume)
	}
	// The cell tiles space, and each convolution adds a degree and a derivative.
	return &Element{name, about, l, s, times, times - 1}
}

// zonotope returns the indicator function of the three-dimensional set of sums of t_i d_i with
// t_i| at most 1/4, by a tiling with parallelepipeds: lifted to heights in a fourth
// dimension, the sums of the d_i have an upper side, whose faces project to the tiles.
func zonotope(d exact.Matrix) *Spline {
	half := exact.Frac(1, 2)
	s := &Spline{dim: 3}
	for _, v := range d {
		if _, err := s.index(v.Scale(half)); err != nil {
			panic(err)
		}
	}
	heights := make(exact.Vec, len(d))
	for i := range heights {
		heights[i] = exact.Int(3).Pow(i).Add(exact.Frac(i*i, 7))
	}
	n := len(s.directions)
	for i := range n {
		for j := range i {
			for k := range j {
				basis := exact.Matrix{s.directions[i], s.directions[j], s.directions[k]}
				inverse, ok := basis.Inverse()
				if !ok {
					continue
				}
				t := Term{Weight: basis.Det().Abs(), Centre: make(exact.Vec, 3)}
				t.Times[i], t.Times[j], t.Times[k] = 1, 1, 1
				for o, v := range s.directions {
					if t.Times[o] == 0 {
						c := inverse.Apply(v)
						plane := c.Dot(exact.Vec{heights[i], heights[j], heights[k]})
						side := exact.Int(heights[o].Cmp(plane))
						t.Centre = t.Centre.Add(v.Scale(half.Mul(side)))
					}
				}
				s.terms = append(s.terms, t)
			}
		}
	}
	return s
}
