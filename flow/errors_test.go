package flow

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

func TestEndpointError(t *testing.T) {
	got, want := NewField(3, 1), NewField(3, 1)
	copy(got.Pix, []Vec{{3 * One, 4 * One}, {One, One}, Unknown})
	copy(want.Pix, []Vec{{0, 0}, {One, -One}, {0, 0}})
	var each frame.Image[float32]
	mean, err := EndpointError(&each, got, want)
	if err != nil || mean != 3.5 {
		t.Errorf("mean %g, error %v, want 3.5", mean, err)
	}
	if each.Pix[0] != 5 || each.Pix[1] != 2 || !math.IsNaN(float64(each.Pix[2])) {
		t.Errorf("errors %v, want 5, 2, NaN", each.Pix)
	}
	if mean, err := EndpointError(nil, got, want); err != nil || mean != 3.5 {
		t.Errorf("without pixels: mean %g, error %v, want 3.5", mean, err)
	}
	if mean, _ := EndpointError(nil, filled(2, 2, Unknown), filled(2, 2, Vec{})); !math.IsNaN(mean) {
		t.Errorf("mean over no pixels %g, want NaN", mean)
	}
	if _, err := EndpointError(nil, NewField(3, 2), NewField(2, 3)); err == nil {
		t.Error("fields of different sizes were compared")
	}
}

func TestAngularError(t *testing.T) {
	tests := []struct {
		a, b Vec
		want float64
	}{
		{Vec{}, Vec{}, 0},
		{Vec{One, 0}, Vec{One, 0}, 0},
		{Vec{12345, -6789}, Vec{12345, -6789}, 0},
		{Vec{}, Vec{One, 0}, 45},
		{Vec{One, 0}, Vec{-One, 0}, 90},
		{Vec{One, 0}, Vec{0, One}, 60},
		{Vec{1 << 30, 0}, Vec{-1 << 30, 0}, 180},
		{Vec{0, 1}, Vec{}, math.Atan(1./One) * 180 / math.Pi},
	}
	for _, tt := range tests {
		for _, swap := range []bool{false, true} {
			a, b := filled(2, 2, tt.a), filled(2, 2, tt.b)
			if swap {
				a, b = b, a
			}
			// Within 1e-4, because vectors of 2^30/256 pixels do not quite span a
			// straight angle.
			if got, err := AngularError(nil, a, b); err != nil || math.Abs(got-tt.want) > 1e-4 {
				t.Errorf("%v to %v: %g degrees, error %v, want %g", tt.a, tt.b, got, err, tt.want)
			}
		}
	}
}

// Within 1e-6 degrees, because the arc cosine loses half its digits near 0.
func TestAngularErrorAgainstArcCosine(t *testing.T) {
	const seed = 2
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		a := Vec{int32(rng.IntN(4000) - 2000), int32(rng.IntN(4000) - 2000)}
		b := Vec{int32(rng.IntN(4000) - 2000), int32(rng.IntN(4000) - 2000)}
		ax, ay, bx, by := float64(a.X)/One, float64(a.Y)/One, float64(b.X)/One, float64(b.Y)/One
		c := (ax*bx + ay*by + 1) / math.Sqrt((ax*ax+ay*ay+1)*(bx*bx+by*by+1))
		want := math.Acos(min(c, 1)) * 180 / math.Pi
		if got, _ := AngularError(nil, filled(1, 1, a), filled(1, 1, b)); math.Abs(got-want) > 1e-6 {
			t.Fatalf("%v to %v: %.9g degrees, want %.9g", a, b, got, want)
		}
	}
}
