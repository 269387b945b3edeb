package prefilter

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"retime/warp/boxspline"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/lattice"
)

func samples(t *testing.T, l *lattice.Lattice, b lattice.Boundary) *lattice.Samples {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 10))
	s, err := lattice.NewSamples(l, b, lattice.Point{6, 5, 4})
	if err != nil {
		t.Fatal(err)
	}
	s.Each(func(p lattice.Point) { s.Set(p, 2*rng.Float64()-1) })
	return s
}

// evaluate returns the values at lattice points of the spline with coefficients c.
func evaluate(t *testing.T, element string, c *lattice.Samples, at []lattice.Point) []float64 {
	t.Helper()
	f, err := fast.Find(element)
	if err != nil {
		t.Fatal(err)
	}
	var x [3][]float64
	for _, p := range at {
		for k := range x {
			x[k] = append(x[k], float64(p[k]))
		}
	}
	g, dst := fast.NewGrid[float64](c, f.Along), make([]float64, len(at))
	if f.Plane != nil {
		f.Plane(g, dst, x[0], x[1])
	} else {
		f.Volume(g, dst, x[0], x[1], x[2])
	}
	return dst
}

// difference returns the largest difference between the samples want and the spline of c.
func difference(t *testing.T, element string, c, want *lattice.Samples) float64 {
	var at []lattice.Point
	want.Each(func(p lattice.Point) { at = append(at, p) })
	worst := 0.0
	for i, v := range evaluate(t, element, c, at) {
		worst = max(worst, math.Abs(v-want.At(at[i])))
	}
	return worst
}

// Elements that interpolate stay within the bound; for the others, the error says why.
func TestInterpolatingKeepsItsBound(t *testing.T) {
	for _, c := range []struct {
		element      string
		interpolates bool
		zero         string // the frequency that the filter removes
	}{
		{"courant", true, ""}, {"zp", false, "[0.5 0.5]"}, {"quincunx-linear", false, "[0 0.5]"}, {"quincunx-voronoi-1", true, ""},
		{"quincunx-voronoi-2", true, ""}, {"seven", false, "[0.5 0.5 0.5]"}, {"bcc-linear", true, ""}, {"bcc-quintic", true, ""},
		{"bcc-voronoi-1", true, ""}, {"fcc-cubic", true, ""},
	} {
		e, err := boxspline.Find(c.element)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Interpolating(e, 1e-6)
		if (err == nil) != c.interpolates {
			t.Errorf("%s: error %v, want one: %v", e.Name, err, !c.interpolates)
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.zero) {
				t.Errorf("%s: %v: does not name the frequency %s", e.Name, err, c.zero)
			}
			t.Log(err)
			continue
		}
		if s.Bound() > 1e-6 {
			t.Errorf("%s: bound %v", e.Name, s.Bound())
		}
		for _, b := range []lattice.Boundary{lattice.WholeSymmetric, lattice.Periodic} {
			want := samples(t, e.Lattice, b)
			c := copyOf(want)
			s.Apply(c)
			d := difference(t, e.Name, c, want)
			t.Logf("%s: %d terms, bound %.1e, off by %.1e", e.Name, s.Terms(), s.Bound(), d)
			if d > s.Bound()+1e-12 {
				t.Errorf("%s: off by %v, beyond the bound of %v", e.Name, d, s.Bound())
			}
		}
	}
}

func TestTensorInterpolates(t *testing.T) {
	for _, c := range []struct {
		element string
		degree  int
	}{{"bilinear", 1}, {"biquadratic", 2}, {"bicubic", 3}, {"triquadratic", 2}, {"tricubic", 3}} {
		e, err := boxspline.Find(c.element)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []lattice.Boundary{lattice.WholeSymmetric, lattice.Periodic, lattice.HalfSymmetric} {
			want := samples(t, e.Lattice, b)
			got := copyOf(want)
			Tensor(got, c.degree, 1e-12)
			if d := difference(t, c.element, got, want); d > 1e-11 {
				t.Errorf("%s, boundary %v: off by %v", c.element, b, d)
			}
		}
	}
}

// A quasi-interpolant reproduces polynomials up to the element's degree, away from edges.
func TestQuasiReproducesPolynomials(t *testing.T) {
	for _, e := range boxspline.Elements() {
		if len(e.Terms()) > 300 {
			continue // its values at the lattice's points take long to compute
		}
		s, err := lattice.NewSamples(e.Lattice, lattice.WholeSymmetric, lattice.Point{12, 12, 12})
		if err != nil {
			t.Fatal(err)
		}
		middle := float64(6 * e.Lattice.Step)
		polynomial := func(x, y, z float64) float64 {
			x, y, z = (x-middle)/4, (y-middle)/4, (z-middle)/4
			switch e.Reproduces {
			case 1:
				return 1 + x - 2*y + z
			case 2:
				return 1 + x*y - y*y + z
			default:
				return 1 + x*y*y - x*x*x + x*y - z
			}
		}
		z := 0.0
		if e.Dim() == 3 {
			z = middle + 0.4
		}
		s.Each(func(p lattice.Point) {
			w := float64(p[2])
			if e.Dim() == 2 {
				w = middle
			}
			s.Set(p, polynomial(float64(p[0]), float64(p[1]), w))
		})
		Quasi(e, 1).Apply(s)
		f, _ := fast.Find(e.Name)
		g, dst := fast.NewGrid[float64](s, f.Along), make([]float64, 1)
		x, y := middle+0.3, middle-0.7
		if f.Plane != nil {
			f.Plane(g, dst, []float64{x}, []float64{y})
			z = middle
		} else {
			f.Volume(g, dst, []float64{x}, []float64{y}, []float64{z})
		}
		if want := polynomial(x, y, z); math.Abs(dst[0]-want) > 1e-10 {
			t.Errorf("%s: %v, want %v", e.Name, dst[0], want)
		}
	}
}
