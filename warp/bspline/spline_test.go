package bspline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// patterns returns images that reveal different faults: all frequencies at once, none, each edge,
// and the frequency that the prefilter amplifies most.
func patterns[T Float](rng *rand.Rand, width, height int) map[string]frame.Image[T] {
	constant := frame.NewImage[T](width, height)
	impulse := frame.NewImage[T](width, height)
	alternating := frame.NewImage[T](width, height)
	for i := range constant.Pix {
		constant.Pix[i] = 200
		alternating.Pix[i] = T(1 - 2*((i%width+i/width)&1))
	}
	impulse.Pix[(height/2)*width+width/2] = 1
	return map[string]frame.Image[T]{
		"random":      noise[T](rng, width, height),
		"constant":    constant,
		"impulse":     impulse,
		"alternating": alternating,
	}
}

func TestInterpolationCondition(t *testing.T) {
	t.Run("float32", testInterpolationCondition[float32])
	t.Run("float64", testInterpolationCondition[float64])
}

func testInterpolationCondition[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	w := frame.Workers{N: 1}
	for _, size := range sizes {
		got := frame.NewImage[T](size[0], size[1])
		for name, img := range patterns[T](rng, size[0], size[1]) {
			for order := CatmullRom; order <= 11; order++ {
				for _, b := range boundaries {
					// For the large images, the boundary varies with the order.
					if len(img.Pix) > 10000 && int(b) != int(order+1)%len(boundaries) {
						continue
					}
					precisions := []float64{1e-3, 1e-12}
					if len(img.Pix) > 10000 {
						precisions = []float64{1e-6}
					}
					for _, precision := range precisions {
						s, err := New(w, img, order, b, precision)
						if err != nil {
							t.Fatal(err)
						}
						if err := s.Warp(w, got, Shift(0, 0)); err != nil {
							t.Fatal(err)
						}
						var worst, largest float64
						for i, v := range img.Pix {
							worst = max(worst, math.Abs(float64(got.Pix[i]-v)))
							largest = max(largest, math.Abs(float64(v)))
						}
						if worst > (precision+floor[T](order))*largest {
							t.Errorf("order %v, %v, %s %v, precision %g: off by %g", order, b, name, size, precision, worst/largest)
						}
					}
				}
			}
		}
	}
}

// Away from the border, a spline of order n is exact for polynomials of degree n. The border
// effects end where the prefilter's memory ends.
func TestPolynomialReproduction(t *testing.T) {
	const size, middle = 301, 150
	for order := Order(0); order <= 11; order++ {
		img := frame.NewImage[float64](size, size)
		// The polynomials are monomials of (x - middle)/2, scaled to about 1 inside.
		f := func(x, y float64) float64 {
			u, v := (x-middle)/4, (y-middle)/4
			return math.Pow(u, float64(order)) + math.Pow(v, float64(order)) - math.Pow(u, float64(order/2))*math.Pow(v, float64(order/3)) + u
		}
		if order == 0 {
			f = func(x, y float64) float64 { return 3 }
		}
		for y := range size {
			for x := range img.Row(y) {
				img.Row(y)[x] = f(float64(x), float64(y))
			}
		}
		s, err := New(frame.Workers{}, img, order, WholeSymmetric, 1e-16)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			x, y := middle-4+float64(i)*0.0797, middle+4-float64(i)*0.0831
			got, want := s.At(x, y), f(x, y)
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("order %v: %v at (%v, %v), want %v", order, got, x, y, want)
			}
		}
	}
}

// Beyond the edges, the spline of an extended picture equals the extended spline.
func TestBoundaryOfTheSpline(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const w, h, m = 7, 5, 150
	img := noise[float64](rng, w, h)
	for _, b := range boundaries {
		big := frame.NewImage[float64](w+2*m, h+2*m)
		for y := range big.Height {
			for x := range big.Width {
				big.Row(y)[x] = img.Row(b.Index(y-m, h))[b.Index(x-m, w)]
			}
		}
		for _, order := range []Order{CatmullRom, 0, 1, 2, 3, 6, 11} {
			s, err := New(frame.Workers{N: 1}, img, order, b, 1e-13)
			if err != nil {
				t.Fatal(err)
			}
			l, err := New(frame.Workers{N: 1}, big, order, b, 1e-13)
			if err != nil {
				t.Fatal(err)
			}
			for y := -9.3; y < h+9; y += 0.77 {
				for x := -9.1; x < w+9; x += 0.77 {
					if got, want := s.At(x, y), l.At(x+m, y+m); math.Abs(got-want) > 1e-11 {
						t.Fatalf("order %v, %v: %v at (%v, %v), want %v", order, b, got, x, y, want)
					}
				}
			}
		}
	}
}

func TestConstantBoundaryFarOutside(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	img := noise[float64](rng, 9, 9)
	for order := CatmullRom; order <= MaxOrder; order++ {
		s, err := New(frame.Workers{}, img, order, Constant, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.At(-1e9, 1e9), img.Row(8)[0]; math.Abs(got-want) > 1e-6 {
			t.Errorf("order %v: %v, want the corner %v", order, got, want)
		}
	}
}

func TestPositionsWithoutAValue(t *testing.T) {
	img := frame.NewImage[float32](4, 4)
	for _, b := range boundaries {
		s, err := New(frame.Workers{}, img, 3, b, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
			if v := s.At(x, 1); v == v {
				t.Errorf("%v: %v at x = %v, want NaN", b, v, x)
			}
			if v := s.At(1, x); v == v {
				t.Errorf("%v: %v at y = %v, want NaN", b, v, x)
			}
		}
		if v := s.At(1e15, -1e15); v != 0 {
			t.Errorf("%v: %v far out, want 0", b, v)
		}
	}
}

func TestNewRejects(t *testing.T) {
	good := func() frame.Image[float32] { return frame.NewImage[float32](5, 4) }
	with := func(v float32) frame.Image[float32] {
		img := good()
		img.Row(2)[3] = v
		return img
	}
	for name, img := range map[string]frame.Image[float32]{
		"NaN":       with(float32(math.NaN())),
		"+Inf":      with(float32(math.Inf(1))),
		"-Inf":      with(float32(math.Inf(-1))),
		"no width":  {Height: 3},
		"no height": {Width: 3, Stride: 3},
		"too short": {Width: 3, Height: 3, Stride: 3, Pix: make([]float32, 8)},
	} {
		if _, err := New(frame.Workers{}, img, 3, HalfSymmetric, 1e-6); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(frame.Workers{}, good(), 17, HalfSymmetric, 1e-6); err == nil {
		t.Error("order 17: no error")
	}
	for _, margin := range []int{-1, 1, 2} {
		if _, err := FromCoefficients(good(), 3, Periodic, margin); err == nil {
			t.Errorf("margin %d: no error", margin)
		}
	}
	if _, err := FromCoefficients(good(), 3, Constant, 2); err == nil {
		t.Error("margin as large as the image: no error")
	}
}

func BenchmarkAt(b *testing.B) {
	img := noise[float32](rand.New(rand.NewPCG(15, 16)), 256, 256)
	for _, order := range []Order{CatmullRom, 0, 1, 2, 3, 5, 11} {
		b.Run(fmt.Sprintf("order=%v", order), func(b *testing.B) {
			s, err := New(frame.Workers{}, img, order, WholeSymmetric, 1e-6)
			if err != nil {
				b.Fatal(err)
			}
			for i := 0; b.Loop(); i++ {
				s.At(20+float64(i&127)*1.003, 30.3)
			}
		})
	}
}
