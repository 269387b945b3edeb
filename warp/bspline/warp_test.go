package bspline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

type namedTransform struct {
	name string
	Transform
}

// transforms returns a transform of each kind and code path.
func transforms(t testing.TB, width, height int) []namedTransform {
	t.Helper()
	rng := rand.New(rand.NewPCG(17, 18))
	cx, cy := float64(width)/2, float64(height)/3
	zoom, err := Zoom(2.7, cx, cy)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := Zoom(-0.3, cx, cy)
	if err != nil {
		t.Fatal(err)
	}
	shear, err := Affine(0.9, 0.3, -1, 0, 1.1, 2)
	if err != nil {
		t.Fatal(err)
	}
	tilt, err := Homography([9]float64{1, 0.1, 3, -0.05, 0.9, 1, 1e-3, -2e-3, 1})
	if err != nil {
		t.Fatal(err)
	}
	u, v := noise[float32](rng, width+3, height), noise[float32](rng, width+3, height)
	flow, err := NewFlow(u, v)
	if err != nil {
		t.Fatal(err)
	}
	return []namedTransform{
		{"identity", Shift(0, 0)},
		{"shift", Shift(0.3, -2.6)},
		{"far", Shift(-1e6, 1e7)},
		{"zoom in", zoom},
		{"zoom out, turned", turn},
		{"rotation", Rotation(0.4, cx, cy)},
		{"shear", shear},
		{"tilt", tilt},
		{"flow", flow},
		{"function", Func(func(x, y float64) (float64, float64) { return y, x / 2 })},
		{"nowhere", Func(func(x, y float64) (float64, float64) { return math.NaN(), math.Inf(1) })},
	}
}

func same[T Float](a, b T) bool { return a == b || a != a && b != b }

// Exact: rows, separable sums and the paths without boundary handling are faster forms of At.
func TestWarpIsAt(t *testing.T) {
	t.Run("float32", testWarpIsAt[float32])
	t.Run("float64", testWarpIsAt[float64])
}

func testWarpIsAt[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for _, size := range [][2]int{{1, 1}, {2, 3}, {41, 29}} {
		img := noise[T](rng, size[0], size[1])
		for order := CatmullRom; order <= MaxOrder; order++ {
			for _, b := range boundaries {
				s, err := New(frame.Workers{N: 1}, img, order, b, 1e-6)
				if err != nil {
					t.Fatal(err)
				}
				for i, tr := range transforms(t, size[0], size[1]) {
					// The loops cover all pairs of order and transform, order and
					// boundary, and boundary and transform.
					if (i+int(b)+int(order)+1)%len(boundaries) == 0 {
						testWarp(t, s, tr)
					}
				}
			}
		}
	}
}

// testWarp compares a warp with At, for one worker and several.
func testWarp[T Float](t *testing.T, s *Spline[T], tr namedTransform) {
	t.Helper()
	const width, height, stride, canary = 71, 33, 73, 4321
	xs, ys := make([]float64, width), make([]float64, width)
	var want []T
	for y := range height {
		tr.Positions(0, y, xs, ys)
		for x := range stride {
			if x < width {
				want = append(want, s.At(xs[x], ys[x]))
			} else {
				want = append(want, canary)
			}
		}
	}
	several := 2
	if s.order>>2%2 == 1 { // so that each transform comes to each number with each boundary
		several = 8
	}
	for _, workers := range []int{1, several} {
		dst := frame.Image[T]{Width: width, Height: height, Stride: stride, Pix: make([]T, stride*height)}
		for i := range dst.Pix {
			dst.Pix[i] = canary
		}
		if err := s.Warp(frame.Workers{N: workers}, dst, tr.Transform); err != nil {
			t.Fatal(err)
		}
		for i, v := range dst.Pix {
			if !same(v, want[i]) {
				t.Fatalf("order %v, %v, %s, %d workers: %v at (%d, %d), want %v",
					s.order, s.boundary, tr.name, workers, v, i%stride, i/stride, want[i])
			}
		}
	}
}

// The reference sums all coefficients by the definition of the kernel.
func TestAtIsTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	img := noise[float64](rng, 11, 8)
	for order := Order(0); order <= 11; order++ {
		for _, b := range boundaries {
			s, err := New(frame.Workers{N: 1}, img, order, b, 1e-14)
			if err != nil {
				t.Fatal(err)
			}
			// The coefficients belong to the picture extended on each side by more samples than a
			// kernel is wide.
			const around = 50
			big := frame.NewImage[float64](img.Width+2*around, img.Height+2*around)
			for y := range big.Height {
				for x := range big.Width {
					big.Row(y)[x] = img.Row(b.Index(y-around, img.Height))[b.Index(x-around, img.Width)]
				}
			}
			c := referenceCoefficients(order, Constant, big)
			for range 10 {
				x, y := rng.Float64()*14-2, rng.Float64()*12-2
				var want float64
				for j := range c.Height {
					for i, v := range c.Row(j) {
						want += v * referenceKernel(order, x-float64(i-around)) * referenceKernel(order, y-float64(j-around))
					}
				}
				if got := s.At(x, y); math.Abs(got-want) > 1e-7 {
					t.Fatalf("order %v, %v: %v at (%v, %v), want %v", order, b, got, x, y, want)
				}
			}
		}
	}
}

func TestWholeShiftShifts(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	img := noise[float64](rng, 20, 15)
	dst := frame.NewImage[float64](20, 15)
	for order := CatmullRom; order <= 11; order++ {
		s, err := New(frame.Workers{}, img, order, Periodic, 1e-13)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Warp(frame.Workers{}, dst, Shift(3, -4)); err != nil {
			t.Fatal(err)
		}
		for y := range dst.Height {
			for x, v := range dst.Row(y) {
				if want := img.Row((y + 4) % 15)[(x+17)%20]; math.Abs(v-want) > 1e-10 {
					t.Fatalf("order %v: %v at (%d, %d), want %v", order, v, x, y, want)
				}
			}
		}
	}
}

func TestWarpWithin(t *testing.T) {
	img := frame.NewImage[float32](8, 6)
	for i := range img.Pix {
		img.Pix[i] = 1
	}
	for _, order := range []Order{CatmullRom, 0, 1, 3, 6} {
		s, err := New(frame.Workers{}, img, order, Constant, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		for _, outside := range []Outside[float32]{{Value: 9}, {X: true, Value: 9}, {Y: true, Value: 9}, {X: true, Y: true, Value: 9}} {
			// The separable path and the general one get the same positions.
			shift := Shift(3.5, -2)
			for _, tr := range []Transform{shift, Func(func(x, y float64) (float64, float64) { return x - 3.5, y + 2 })} {
				dst := frame.NewImage[float32](16, 12)
				if err := s.WarpWithin(frame.Workers{}, dst, tr, outside); err != nil {
					t.Fatal(err)
				}
				for y := range dst.Height {
					for x, v := range dst.Row(y) {
						want := float32(1)
						if outside.X && (x < 3 || x > 11) || outside.Y && y > 3 {
							want = 9
						}
						if math.Abs(float64(v-want)) > 1e-5 {
							t.Fatalf("order %v, %+v, %T: %v at (%d, %d), want %v", order, outside, tr, v, x, y, want)
						}
					}
				}
			}
		}
		horizon := Func(func(x, y float64) (float64, float64) { return math.Inf(-1), 0 })
		dst := frame.NewImage[float32](2, 2)
		if err := s.WarpWithin(frame.Workers{}, dst, horizon, Outside[float32]{Value: 9}); err != nil {
			t.Fatal(err)
		}
		if dst.Pix[0] != 9 {
			t.Errorf("order %v: %v at infinity, want 9", order, dst.Pix[0])
		}
	}
}

func TestWarpRejects(t *testing.T) {
	s, err := New(frame.Workers{}, frame.NewImage[float32](4, 4), 3, HalfSymmetric, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Warp(frame.Workers{}, frame.Image[float32]{Width: 3, Height: 3, Stride: 2, Pix: make([]float32, 9)}, Shift(0, 0)); err == nil {
		t.Error("stride less than width: no error")
	}
	if err := s.Warp(frame.Workers{}, frame.Image[float32]{Height: 3}, Shift(0, 0)); err != nil {
		t.Errorf("empty image: %v", err)
	}
}

func BenchmarkWarp(b *testing.B) {
	const width, height = 4608, 3456
	img := noise[float32](rand.New(rand.NewPCG(1, 2)), width, height)
	still, err := NewFlow(frame.NewImage[float32](width, height), frame.NewImage[float32](width, height))
	if err != nil {
		b.Fatal(err)
	}
	for _, order := range []Order{CatmullRom, 0, 1, 2, 3, 5, 11} {
		s, err := New(frame.Workers{}, img, order, HalfSymmetric, 1e-6)
		if err != nil {
			b.Fatal(err)
		}
		dst := frame.NewImage[float32](width, height)
		for name, tr := range map[string]Transform{"shift": Shift(0.5, 0.5), "rotation": Rotation(math.Pi/5, width/2, height/2), "flow": still} {
			b.Run(fmt.Sprintf("%s/order=%v", name, order), func(b *testing.B) {
				b.SetBytes(width * height * 4)
				for b.Loop() {
					if err := s.Warp(frame.Workers{N: 1}, dst, tr); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
