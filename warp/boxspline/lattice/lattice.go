// Package lattice describes the point lattices under box splines: their points, their cosets, on
// which samples are stored as ordinary arrays, and their boundaries.
package lattice

import (
	"fmt"
	"math"
)

// MaxDim is the largest dimension.
const MaxDim = 3

// Point is a point with integer coordinates. A point of a plane has the third coordinate 0.
type Point [MaxDim]int

// Add returns p + q.
func (p Point) Add(q Point) Point {
	for i := range p {
		p[i] += q[i]
	}
	return p
}

// Lattice is a lattice of integer points, given as the union of its cosets: the points Step m +
// Offsets[i] for all points m with integer coordinates.
type Lattice struct {
	Name    string
	Dim     int     // 2 or 3
	Basis   []Point // vectors whose integer combinations form the lattice
	Step    int
	Offsets []Point
}

// The lattices. BCC holds the points whose coordinates are all even or all odd; FCC and Quincunx
// hold the points whose coordinates have an even sum.
var (
	Square   = &Lattice{"square", 2, []Point{{1, 0}, {0, 1}}, 1, []Point{{}}}
	Quincunx = &Lattice{"quincunx", 2, []Point{{1, 1}, {-1, 1}}, 2, []Point{{}, {1, 1}}}
	Cube     = &Lattice{"cube", 3, []Point{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 1, []Point{{}}}
	BCC      = &Lattice{"bcc", 3, []Point{{1, 1, 1}, {-1, 1, 1}, {1, -1, 1}}, 2, []Point{{}, {1, 1, 1}}}
	FCC      = &Lattice{"fcc", 3, []Point{{1, 1, 0}, {1, -1, 0}, {0, 1, 1}}, 2,
		[]Point{{}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}}}
)

// Volume returns the volume of a cell: the inverse of the density of points.
func (l *Lattice) Volume() int {
	v := 1
	for range l.Dim {
		v *= l.Step
	}
	return v / len(l.Offsets)
}

// Coset returns the number of the coset that contains p, and p's index in it; the number is -1 if p
// is not a point of the lattice.
func (l *Lattice) Coset(p Point) (int, Point) {
	for c, o := range l.Offsets {
		var m Point
		on := true
		for i := range l.Dim {
			d := p[i] - o[i]
			m[i] = floorDiv(d, l.Step)
			on = on && m[i]*l.Step == d
		}
		if on {
			return c, m
		}
	}
	return -1, Point{}
}

// Contains reports whether p is a point of the lattice.
func (l *Lattice) Contains(p Point) bool {
	c, _ := l.Coset(p)
	return c >= 0
}

// Nearest returns a point of the lattice nearest to x.
func (l *Lattice) Nearest(x []float64) Point {
	var best Point
	least := math.Inf(1)
	for _, o := range l.Offsets {
		var p Point
		var distance float64
		for i := range l.Dim {
			p[i] = o[i] + l.Step*int(math.Floor((x[i]-float64(o[i]))/float64(l.Step)+0.5))
			d := x[i] - float64(p[i])
			distance += d * d
		}
		if distance < least {
			best, least = p, distance
		}
	}
	return best
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Boundary is a rule for continuing samples beyond the edges of their box. Lattices with several
// cosets support only the rules that map the lattice to itself.
type Boundary int

// The comments show how the sites abcde along an axis continue.
const (
	WholeSymmetric Boundary = iota // dcb|abcde|dcb
	Periodic                       // cde|abcde|abc
	HalfSymmetric                  // cba|abcde|edc, on square and cube
)

// Index returns the coordinate in [0, n) of the site at position i, n at least 1.
func (b Boundary) Index(i, n int) int {
	if uint(i) < uint(n) {
		return i
	}
	switch b {
	case Periodic:
		return i - n*floorDiv(i, n)
	case HalfSymmetric:
		i -= 2 * n * floorDiv(i, 2*n)
		return min(i, 2*n-1-i)
	}
	if n == 1 {
		return 0
	}
	period := 2*n - 2
	i -= period * floorDiv(i, period)
	return min(i, period-i)
}

// Samples holds a value at each point of a lattice in the box of points with coordinates in [0,
// Step·Size[i]). Each coset is an array of Size; the first coordinate varies fastest.
type Samples struct {
	Lattice  *Lattice
	Boundary Boundary
	Size     Point
	Cosets   [][]float64
}

// NewSamples returns samples of zero, or an error if size has a side below 1 or the
// lattice does not have the boundary.
func NewSamples(l *Lattice, b Boundary, size Point) (*Samples, error) {
	if b == HalfSymmetric && l.Step > 1 {
		return nil, fmt.Errorf("lattice: a half-symmetric boundary does not map the %s lattice to itself", l.Name)
	}
	n := 1
	for i := range size {
		if i >= l.Dim {
			size[i] = 1
		}
		if size[i] < 1 {
			return nil, fmt.Errorf("lattice: samples of size %v: want sides of at least 1", size)
		}
		n *= size[i]
	}
	s := &Samples{Lattice: l, Boundary: b, Size: size}
	for range l.Offsets {
		s.Cosets = append(s.Cosets, make([]float64, n))
	}
	return s, nil
}

// place returns where the sample at a point of the lattice is stored.
func (s *Samples) place(p Point) (coset, index int) {
	for i := range s.Lattice.Dim {
		p[i] = s.Boundary.Index(p[i], s.Size[i]*s.Lattice.Step)
	}
	c, m := s.Lattice.Coset(p)
	return c, (m[2]*s.Size[1]+m[1])*s.Size[0] + m[0]
}

// At returns the sample at a point of the lattice, continued by the boundary.
func (s *Samples) At(p Point) float64 {
	c, i := s.place(p)
	return s.Cosets[c][i]
}

// Set sets the sample at a point of the lattice.
func (s *Samples) Set(p Point, v float64) {
	c, i := s.place(p)
	s.Cosets[c][i] = v
}

// Each calls f with each point of the box, one coset after the other.
func (s *Samples) Each(f func(p Point)) {
	for _, o := range s.Lattice.Offsets {
		for z := range s.Size[2] {
			for y := range s.Size[1] {
				for x := range s.Size[0] {
					p := Point{x, y, z}
					for i := range s.Lattice.Dim {
						p[i] = p[i]*s.Lattice.Step + o[i]
					}
					f(p)
				}
			}
		}
	}
}

// Contains reports whether p is a point of the lattice.
func (s *Samples) Contains(p Point) bool { return s.Lattice.Contains(p) }

// Nearest returns a point of the lattice nearest to x.
func (s *Samples) Nearest(x []float64) Point { return s.Lattice.Nearest(x) }
