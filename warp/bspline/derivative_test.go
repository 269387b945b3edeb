package bspline

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// splines returns a spline of every order over one random image.
func splines(t *testing.T, width, height int, b Boundary) []*Spline[float64] {
	t.Helper()
	rng := rand.New(rand.NewPCG(27, 28))
	img := noise[float64](rng, width, height)
	var all []*Spline[float64]
	for order := CatmullRom; order <= MaxOrder; order++ {
		s, err := New(frame.Workers{N: 1}, img, order, b, 1e-12)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func TestGradientIsTheLimitOfDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 30))
	for _, b := range boundaries {
		for _, s := range splines(t, 12, 9, b) {
			for range 40 {
				x, y := rng.Float64()*14-1, rng.Float64()*11-1
				value, dx, dy := s.Gradient(x, y)
				if value != s.At(x, y) {
					t.Fatalf("order %v: value %v, want %v", s.Order(), value, s.At(x, y))
				}
				// Splines of orders up to 2 have kinks, which a difference quotient must not
				// straddle.
				const h = 1e-5
				if n := s.Order(); n >= 0 && n < 3 && (kink(n, x, h) || kink(n, y, h)) {
					continue
				}
				wantX := (s.At(x+h, y) - s.At(x-h, y)) / (2 * h)
				wantY := (s.At(x, y+h) - s.At(x, y-h)) / (2 * h)
				if math.Abs(dx-wantX) > 1e-4 || math.Abs(dy-wantY) > 1e-4 {
					t.Fatalf("order %v, %v: gradient (%v, %v) at (%v, %v), want (%v, %v)", s.Order(), b, dx, dy, x, y, wantX, wantY)
				}
			}
		}
	}
}

// kink reports whether a knot of order n is within h of x.
func kink(n Order, x, h float64) bool {
	a, _ := n.Locate(x - h)
	b, _ := n.Locate(x + h)
	return a != b
}

func TestDerivativeWeightsSumToZero(t *testing.T) {
	for order := CatmullRom; order <= MaxOrder; order++ {
		w := make([]float64, order.Support())
		for i := range 16 {
			DerivativeWeights(order, float64(i)/16, w)
			var sum float64
			for _, v := range w {
				sum += v
			}
			if math.Abs(sum) > 1e-14*factorial(max(order, 2)) {
				t.Errorf("order %v at %d/16: sum %v", order, i, sum)
			}
		}
	}
}

func TestGradientWithoutAValue(t *testing.T) {
	s := splines(t, 3, 3, HalfSymmetric)[4]
	if v, dx, dy := s.Gradient(math.NaN(), 0); v == v || dx == dx || dy == dy {
		t.Errorf("(%v, %v, %v), want NaN", v, dx, dy)
	}
}

// The reference is a Gauss-Legendre quadrature of nine points, exact up to degree 17,
// on every piece of the spline.
func TestIntegralIsTheQuadrature(t *testing.T) {
	nodes, weights := gaussLegendre()
	for _, b := range boundaries {
		for _, s := range splines(t, 5, 4, b) {
			for _, box := range [][4]float64{{-0.5, -0.5, 4.5, 3.5}, {1.2, 0.7, 1.3, 3.9}, {-4, 3.3, 1.25, 6}, {2, 2, 2, 4}} {
				got, err := s.Integral(box[0], box[1], box[2], box[3])
				if err != nil {
					t.Fatal(err)
				}
				var want float64
				for _, px := range pieces(box[0], box[2]) {
					for _, py := range pieces(box[1], box[3]) {
						for i, u := range nodes {
							for j, v := range nodes {
								x := (px[0]+px[1])/2 + u*(px[1]-px[0])/2
								y := (py[0]+py[1])/2 + v*(py[1]-py[0])/2
								want += weights[i] * weights[j] * s.At(x, y) * (px[1] - px[0]) * (py[1] - py[0]) / 4
							}
						}
					}
				}
				if math.Abs(got-want) > 1e-9 {
					t.Errorf("order %v, %v: %v over %v, want %v", s.Order(), b, got, box, want)
				}
				if swapped, _ := s.Integral(box[2], box[1], box[0], box[3]); math.Abs(swapped+got) > 1e-12 {
					t.Errorf("order %v: %v with swapped bounds, want %v", s.Order(), swapped, -got)
				}
			}
		}
	}
}

// pieces cuts [a, b] at the integers and half-integers.
func pieces(a, b float64) [][2]float64 {
	var p [][2]float64
	for a < b {
		next := min(b, math.Floor(2*a+1)/2)
		p = append(p, [2]float64{a, next})
		a = next
	}
	return p
}

// gaussLegendre computes the nine nodes as roots of the Legendre polynomial.
func gaussLegendre() (nodes, weights [9]float64) {
	const n = 9
	for i := range n {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (n + 0.5))
		var d float64
		for range 20 {
			p0, p1 := 1.0, x
			for k := 2.0; k <= n; k++ {
				p0, p1 = p1, ((2*k-1)*x*p1-(k-1)*p0)/k
			}
			d = n * (x*p1 - p0) / (x*x - 1)
			x -= p1 / d
		}
		nodes[i], weights[i] = x, 2/((1-x*x)*d*d)
	}
	return nodes, weights
}

func TestIntegralRejects(t *testing.T) {
	s := splines(t, 4, 4, Periodic)[4]
	for _, x := range []float64{math.NaN(), math.Inf(1), -4.6, 7.6} {
		if _, err := s.Integral(0, 0, x, 1); err == nil {
			t.Errorf("x = %v: no error", x)
		}
		if _, err := s.Integral(0, x, 1, 1); err == nil {
			t.Errorf("y = %v: no error", x)
		}
	}
}
