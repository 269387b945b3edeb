package restore

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// Within 0.1: the detail before is a half of the change to a picture that was shot anew, and none of the change by noise that
// is added to it.
func TestFresh(t *testing.T) {
	const width, height = 320, 180
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(shift, noise float64, from *frame.Image[uint8]) frame.Image[uint8] {
		m := frame.NewImage[uint8](width, height)
		for y := range height {
			for x := range width {
				v := 120 + 40*math.Sin((float64(x)+shift)/5)*math.Cos(float64(y)/7)
				if from != nil {
					v = float64(from.Row(y)[x])
				}
				m.Row(y)[x] = uint8(v + noise*random.NormFloat64() + 0.5)
			}
		}
		return m
	}
	before := draw(0, 3, nil)
	for name, c := range map[string]struct {
		next frame.Image[uint8]
		want float64
	}{
		"noise of its own": {draw(0, 3, &before), 0},
		"shot anew":        {draw(0, 3, nil), 0.5},
		"moved, shot anew": {draw(1, 3, nil), 0.5},
	} {
		a, f := &signature{small: before}, &signature{small: c.next}
		if got := float64(f.fresh(a)); math.Abs(got-c.want) > 0.1 {
			t.Errorf("%s: %.3f, want %.1f", name, got, c.want)
		}
	}
}

// Within 1: light changes all pixels of a cell in the same direction, and motion does not.
func TestWithoutLight(t *testing.T) {
	const width, height = 320, 180
	draw := func(shift, gain float64) *signature {
		m := frame.NewImage[uint8](width, height)
		for y := range height {
			for x := range width {
				m.Row(y)[x] = uint8(gain*(90+40*math.Sin((float64(x)+shift)/2)) + 0.5)
			}
		}
		s := &signature{small: m}
		measureLuma(s, m)
		return s
	}
	a := draw(0, 1)
	for name, c := range map[string]struct {
		next  *signature
		moves bool
	}{"another light": {draw(0, 1.5), false}, "motion": {draw(3, 1), true}} {
		motion := distances(c.next.small, a.small).withoutLight(c.next, a).above(0)
		if motion > 1 != c.moves {
			t.Errorf("%s: %.2f grey levels", name, motion)
		}
	}
}
