// Package prefilter turns samples on a lattice into the coefficients of a spline: of one that
// passes through the samples, to a stated bound, if the element has such splines, or of a
// quasi-interpolant, which reproduces polynomials of low degree and is cheap.
//
// An element's values at the points of its lattice, the filter p, turn coefficients into samples.
// For tensor products, the inverse of p is recursive. For other elements it is a sum of powers of r
// = δ - w p, namely w (δ + r + r * r + ...). Stopped after k powers, p times the coefficients
// differs from the samples f by r^(k+1) * f, so by no more than the sum of the absolute values of
// r^(k+1) times the largest sample.
package prefilter

import (
	"fmt"
	"math"

	"retime/warp/boxspline"
	"retime/warp/boxspline/exact"
	"retime/warp/boxspline/lattice"
	"retime/warp/bspline"
)

// filter is a finite filter: its value at each point.
type filter map[lattice.Point]float64

// values returns the values of an element at the points of its lattice.
func values(e *boxspline.Element) filter {
	p := filter{}
	reach := e.Reach()
	var high lattice.Point
	for i := range e.Dim() {
		high[i] = reach[i].Floor()
	}
	for z := -high[2]; z <= high[2]; z++ {
		for y := -high[1]; y <= high[1]; y++ {
			for x := -high[0]; x <= high[0]; x++ {
				q := lattice.Point{x, y, z}
				if !e.Lattice.Contains(q) {
					continue
				}
				if v := e.At(exact.Ints(q[:e.Dim()]...)); v.Sign() != 0 {
					p[q] = v.Float()
				}
			}
		}
	}
	return p
}

// convolve returns the convolution of f and g.
func (f filter) convolve(g filter) filter {
	r := filter{}
	for a, v := range f {
		for b, w := range g {
			r[a.Add(b)] += v * w
		}
	}
	return r
}

// norm returns the sum of the absolute values, with some reserve for rounding.
func (f filter) norm() float64 {
	s := 0.0
	for _, v := range f {
		s += math.Abs(v)
	}
	return s * (1 + 1e-12)
}

// remainder returns δ - w p.
func (f filter) remainder(w float64) filter {
	r := filter{lattice.Point{}: 1}
	for q, v := range f {
		r[q] -= w * v
	}
	return r
}

// least returns the minimum of the transform of p, a real function, on a grid of frequencies, and
// its frequency, in cycles per unit of length. The transform has period 1 in 1/Step.
func (f filter) least(l *lattice.Lattice) (least float64, at []float64) {
	const n = 24
	least = math.Inf(1)
	depth := n
	if l.Dim == 2 {
		depth = 1
	}
	for a := range n {
		for b := range n {
			for c := range depth {
				s := 0.0
				for q, v := range f {
					// The frequencies of all lattices repeat after 1 in each coordinate.
					phase := float64(q[0]*a+q[1]*b+q[2]*c) / n
					s += v * math.Cos(2*math.Pi*phase)
				}
				// Keep rounding from choosing among equal ones.
				if s < least-1e-12 {
					least, at = s, []float64{float64(a) / n, float64(b) / n, float64(c) / n}[:l.Dim]
				}
			}
		}
	}
	return least, at
}

// Series is the inverse of an element's filter as a sum of powers.
type Series struct {
	p     filter
	w     float64
	terms int
	bound float64
}

// maxTerms bounds the number of powers.
const maxTerms = 2000

// Interpolating returns the series whose coefficients give a spline through the samples, to within
// precision times the largest sample. It returns an error if the element has no such series: then
// some samples have no spline or several, or the filter is too close to that.
func Interpolating(e *boxspline.Element, precision float64) (*Series, error) {
	if !(precision > 0) {
		return nil, fmt.Errorf("prefilter: precision %v: want a positive number", precision)
	}
	p := values(e)
	least, at := p.least(e.Lattice)
	if least < 1e-3 {
		return nil, fmt.Errorf("prefilter: splines of %s do not interpolate: their filter passes %.2g of the frequency %.3g", e.Name, least, at)
	}
	w := 2 / (1 + least)
	r := p.remainder(w)
	// The norm of a power is at most the product of its factors' norms; short powers of r may have
	// norms above 1, longer ones do not.
	power, length := r, 1
	for power.norm() >= 0.9 && length < 32 {
		power = power.convolve(power)
		length *= 2
	}
	norm := power.norm()
	if norm >= 0.9 {
		return nil, fmt.Errorf("prefilter: %s: the series converges too slowly", e.Name)
	}
	n := int(math.Ceil(math.Log(precision)/math.Log(norm))) * length
	if n = max(n, length); n > maxTerms {
		return nil, fmt.Errorf("prefilter: %s to %v takes %d terms", e.Name, precision, n)
	}
	return &Series{p, w, n - 1, math.Pow(norm, float64(n/length))}, nil
}

// Quasi returns the series with the given number of powers of δ - p, at least 0, whose spline
// reproduces the polynomials that the element reproduces, up to degree 2 powers + 1. It smooths the
// highest frequencies.
func Quasi(e *boxspline.Element, powers int) *Series {
	p := values(e)
	power := p.remainder(1)
	r := power
	for range powers {
		power = power.convolve(r)
	}
	return &Series{p, 1, powers, power.norm()}
}

// Bound returns the largest difference between the spline and the samples, relative to the
// largest sample.
func (s *Series) Bound() float64 { return s.bound }

// Terms returns the number of powers.
func (s *Series) Terms() int { return s.terms }

// Apply replaces the samples by coefficients.
func (s *Series) Apply(f *lattice.Samples) {
	source := copyOf(f)
	for i := range f.Cosets {
		for j, v := range source.Cosets[i] {
			f.Cosets[i][j] = s.w * v
		}
	}
	taps := make([]tap, 0, len(s.p))
	for q, v := range s.p {
		taps = append(taps, tap{q, v})
	}
	sortTaps(taps)
	for range s.terms {
		now := copyOf(f)
		f.Each(func(q lattice.Point) {
			sum := 0.0
			for _, t := range taps {
				sum += t.weight * now.At(q.Add(t.at))
			}
			f.Set(q, now.At(q)+s.w*(source.At(q)-sum))
		})
	}
}

// Tensor replaces samples on the square or cubic lattice by the coefficients of the tensor product
// of B-splines of the given degree, by recursion along each axis (Unser). The boundary extends each
// line until its end has no influence beyond the precision.
func Tensor(f *lattice.Samples, degree int, precision float64) {
	poles := bspline.Poles(bspline.Order(degree))
	if len(poles) == 0 {
		return
	}
	ahead := 0
	for _, z := range poles {
		ahead += int(math.Ceil(math.Log(precision)/math.Log(-z))) + 1
	}
	gain := 1.0
	for _, z := range poles {
		gain *= (1 - z) * (1 - 1/z)
	}
	c := f.Cosets[0]
	step := 1
	for axis := range f.Lattice.Dim {
		n := f.Size[axis]
		line := make([]float64, n+2*ahead)
		for from := range c {
			if from/step%n != 0 {
				continue
			}
			for i := range line {
				line[i] = gain * c[from+step*f.Boundary.Index(i-ahead, n)]
			}
			for _, z := range poles {
				for i := 1; i < len(line); i++ {
					line[i] += z * line[i-1]
				}
				line[len(line)-1] *= -z
				for i := len(line) - 2; i >= 0; i-- {
					line[i] = z * (line[i+1] - line[i])
				}
			}
			for i := range n {
				c[from+step*i] = line[i+ahead]
			}
		}
		step *= n
	}
}
