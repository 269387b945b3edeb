package warp

import (
	"math"
	"math/cmplx"
	"strings"
	"testing"
)

func TestSimilarity(t *testing.T) {
	turn := cmplx.Rect(1.25, 0.6)
	arrow := func(p complex128) [4]float64 {
		q := 300 + 40i + turn*(p-(100+50i))
		return [4]float64{real(p), imag(p), real(q), imag(q)}
	}
	shift, err := NewSimilarity([][4]float64{{10, 20, 17, 16}})
	if err != nil {
		t.Fatal(err)
	}
	if got := shift.at(PhaseOne / 4).move(1 + 1i); got != 2.75+0i {
		t.Errorf("a quarter of a shift by 7, -4 takes 1, 1 to %v", got)
	}
	for _, arrows := range [][][4]float64{
		{arrow(90 + 40i), arrow(120 + 60i)},
		{arrow(90 + 40i), arrow(120 + 60i), arrow(10 + 200i), arrow(-5 - 7i)},
	} {
		s, err := NewSimilarity(arrows)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range arrows {
			if d := cmplx.Abs(s.move(complex(a[0], a[1])) - complex(a[2], a[3])); d > 1e-9 {
				t.Errorf("an arrow is missed by %g", d)
			}
		}
		for _, phase := range []Phase{1, 12345, PhaseOne / 2, PhaseOne - 1} {
			share := float64(phase) / PhaseOne
			part := s.at(phase)
			if want := cmplx.Pow(turn, complex(share, 0)); cmplx.Abs(part.turn-want) > 1e-9 {
				t.Errorf("phase %d: turned by %v, want %v", phase, part.turn, want)
			}
			if want := s.from + complex(share, 0)*(s.to-s.from); cmplx.Abs(part.move(s.from)-want) > 1e-9 {
				t.Errorf("phase %d: the middle is at %v, want %v", phase, part.move(s.from), want)
			}
			if p := 3 + 5i; cmplx.Abs(part.inverse().move(part.move(p))-p) > 1e-9 {
				t.Errorf("phase %d: the way back misses", phase)
			}
		}
	}
	for want, arrows := range map[string][][4]float64{
		"no arrow":  nil,
		"one place": {{1, 1, 2, 2}, {1, 1, 3, 3}},
		"too much":  {{0, 0, 5, 5}, {10, 0, 5, 5}},
		"the size":  {{0, 0, 0, 0}, {1, 0, 100, 0}},
	} {
		if _, err := NewSimilarity(arrows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", arrows, err, want)
		}
	}
	if r := squareRoot(complex(-4, math.Copysign(0, 1))); cmplx.Abs(r*r+4) > 1e-12 {
		t.Errorf("the root of -4 is %v", r)
	}
}
