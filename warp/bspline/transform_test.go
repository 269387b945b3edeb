package bspline

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// position returns φ⁻¹(x, y).
func position(tr Transform, x, y int) (float64, float64) {
	var xs, ys [1]float64
	tr.Positions(x, y, xs[:], ys[:])
	return xs[0], ys[0]
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

func TestTransformsInvert(t *testing.T) {
	zoom, err := Zoom(4, 10, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name         string
		tr           Transform
		x, y         int
		wantX, wantY float64
	}{
		{"shift", Shift(2, -3), 10, 10, 8, 13},
		{"zoom keeps its centre", zoom, 10, 20, 10, 20},
		{"zoom", zoom, 18, 16, 12, 19},
		{"quarter turn takes right to bottom", Rotation(math.Pi/2, 5, 5), 5, 8, 8, 5},
		{"shift, then zoom", Shift(1, 1).Then(zoom), 18, 16, 11, 18},
		{"zoom, then shift", zoom.Then(Shift(1, 1)), 19, 17, 12, 19},
	} {
		if x, y := position(test.tr, test.x, test.y); !near(x, test.wantX) || !near(y, test.wantY) {
			t.Errorf("%s: (%d, %d) comes from (%v, %v), want (%v, %v)", test.name, test.x, test.y, x, y, test.wantX, test.wantY)
		}
	}
}

func TestHomographyInverts(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for range 200 {
		var h [9]float64
		for i := range h {
			h[i] = 2*rng.Float64() - 1
		}
		for _, affine := range []bool{false, true} {
			if affine {
				h[6], h[7] = 0, 0
			}
			p, err := Homography(h)
			if err != nil {
				t.Fatal(err)
			}
			x, y := position(p, 7, 4)
			z := h[6]*x + h[7]*y + h[8]
			gotX, gotY := (h[0]*x+h[1]*y+h[2])/z, (h[3]*x+h[4]*y+h[5])/z
			if math.Abs(gotX-7) > 1e-6 || math.Abs(gotY-4) > 1e-6 {
				t.Fatalf("%v: (7, 4) comes from (%v, %v), which goes to (%v, %v)", h, x, y, gotX, gotY)
			}
			if p.affine() != affine {
				t.Fatalf("%v: affine is %v", h, !affine)
			}
		}
	}
}

func TestSingularTransforms(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, h := range [][9]float64{
		{},
		{1, 2, 3, 2, 4, 6, 0, 0, 1},
		{1, 2, 3, 4, 5, 6, 7, 8, 9},
		{1, 0, 0, 0, 1, 0, 0, 0, 0},
		{1e-3, 0, 0, 0, 1e-3, 0, 1, 1, 0},
		{nan, 0, 0, 0, 1, 0, 0, 0, 1},
		{inf, 0, 0, 0, 1, 0, 0, 0, 1},
		{1e200, 0, 0, 0, 1e200, 0, 0, 0, 1},
	} {
		if _, err := Homography(h); err == nil {
			t.Errorf("%v: no error", h)
		}
	}
	if _, err := Affine(1, 2, 0, 2, 4, 0); err == nil {
		t.Error("affine map of rank 1: no error")
	}
	for _, scale := range []float64{0, nan, inf, 1e-310} {
		if _, err := Zoom(scale, 0, 0); err == nil {
			t.Errorf("zoom by %v: no error", scale)
		}
	}
	// A large scale does not make a matrix singular.
	if _, err := Homography([9]float64{1e6, 0, 0, 0, 1e6, 0, 0, 0, 1e6}); err != nil {
		t.Error(err)
	}
}

func TestFlow(t *testing.T) {
	u, v := frame.NewImage[float32](3, 2), frame.NewImage[float32](3, 2)
	u.Row(1)[2], v.Row(1)[2] = 0.5, -4
	f, err := NewFlow(u, v)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range [][4]float64{{0, 0, 0, 0}, {2, 1, 2.5, -3}, {5, 9, 5.5, 5}} {
		if x, y := position(f, int(test[0]), int(test[1])); x != test[2] || y != test[3] {
			t.Errorf("(%v, %v) comes from (%v, %v), want (%v, %v)", test[0], test[1], x, y, test[2], test[3])
		}
	}
	for _, bad := range []frame.Image[float32]{{}, frame.NewImage[float32](2, 2), {Width: 3, Height: 2, Stride: 3}} {
		if _, err := NewFlow(u, bad); err == nil {
			t.Errorf("%dx%d: no error", bad.Width, bad.Height)
		}
	}
}
