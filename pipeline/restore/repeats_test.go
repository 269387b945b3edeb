package restore

import (
	"math"
	"math/rand/v2"
	"slices"
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

// Where all is dark, motion stops as anywhere; a flat picture between scenes has none.
func TestFlatRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		flat func(n int) bool
		want bool
	}{
		"a dark scene": {func(int) bool { return true }, true},
		"black":        {func(n int) bool { return n == 29 || n == 30 }, false},
	} {
		d := &detector{limit: 6, verdict: map[int]Finding{}}
		for n := range 60 {
			motion := float32(10)
			if n == 30 {
				motion = 0
			}
			d.motion, d.moves = append(d.motion, motion), append(d.moves, motion)
			d.noise, d.fresh = append(d.noise, 0), append(d.fresh, 0)
			d.flat, d.means = append(d.flat, c.flat(n)), append(d.means, 20)
		}
		d.repeats(barely, still, nearlyStill)
		if got := d.verdict[30].Kind == Repeated; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is left of a repeat's own noise is more where noise is clipped elsewhere, and no motion if the picture before has all its detail in it.
func TestNoisyRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		fresh float32
		want  bool
	}{"a copy under noise": {0.02, true}, "slow motion, shot anew": {0.5, false}} {
		d := &detector{limit: 6, verdict: map[int]Finding{}}
		for n := range 60 {
			motion, noise, fresh := float32(40), float32(1), float32(0)
			if n == 30 {
				motion, noise, fresh = 5, 2, c.fresh
			}
			d.motion, d.moves = append(d.motion, motion), append(d.moves, motion)
			d.noise, d.fresh = append(d.noise, noise), append(d.fresh, fresh)
			d.flat, d.means = append(d.flat, false), append(d.means, 100)
		}
		d.repeats(barely, still, nearlyStill)
		if got := d.verdict[30].Kind == Repeated; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A silent film of fewer frames a second repeats some at uneven distances.
func TestOnGrid(t *testing.T) {
	silent := func(step float64, but ...int) (runs [][2]int) {
		for k := range 40 {
			if n := int(step * float64(k)); !slices.Contains(but, k) {
				runs = append(runs, [2]int{n, n + 1})
			}
		}
		return runs
	}
	for name, c := range map[string]struct {
		runs   [][2]int
		unseen bool
		want   bool
	}{
		"16 in 24":             {silent(3), false, true},
		"17 in 25":             {silent(3.125), false, true},
		"18 in 25":             {silent(25.0 / 7), false, true},
		"20 in 24":             {silent(6), false, true},
		"some fail":            {silent(3.125, 15, 17, 22), false, true},
		"many fail":            {silent(3.125, 10, 11, 12, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26, 27), false, false},
		"many cannot be seen":  {silent(3.125, 10, 11, 12, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26, 27), true, true},
		"damage":               {[][2]int{{20, 21}, {33, 34}, {47, 48}, {63, 64}, {70, 71}, {88, 89}}, false, false},
		"damage to many":       {[][2]int{{30, 31}, {38, 39}, {47, 48}, {52, 53}, {63, 64}, {66, 67}, {81, 82}}, false, false},
		"several frames a run": {[][2]int{{50, 52}, {53, 55}, {56, 58}, {59, 61}, {62, 64}, {65, 67}, {68, 70}}, false, false},
	} {
		at := slices.IndexFunc(c.runs, func(r [2]int) bool { return r[0] >= 50 })
		if got := onGrid(c.runs, at, func(int) bool { return !c.unseen }); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, mean := range []float64{4, 6, 8, 12} {
		on, all := 0, 0
		for range 5 {
			var runs [][2]int
			for n := 0; len(runs) < 60; n += 2 + int(random.ExpFloat64()*(mean-2)) {
				runs = append(runs, [2]int{n, n + 1})
			}
			for k := range runs {
				all++
				if onGrid(runs, k, func(int) bool { return true }) {
					on++
				}
			}
		}
		if 20*on > all {
			t.Errorf("%d of %d repeats at random, one in %.0f, are on a grid", on, all, mean)
		}
	}
}

// A repeat in animation on twos or in a film whose every third frame is held is damage where it is at none of the places of holds.
func TestBreaksCadence(t *testing.T) {
	clip := func(pattern string) (all []pace) {
		for _, c := range pattern {
			all = append(all, map[rune]pace{'h': isHeld, 'm': isMoving, '?': unsure}[c])
		}
		return all
	}
	for name, c := range map[string]struct {
		pattern string
		want    int // -1 for none
	}{
		"twos":                     {"mhmhmhmhmhmhmhmhmhmh", -1},
		"damage to twos":           {"mhmhmhmhhmmhmhmhmhmh", 8},
		"damage beside damage":     {"mh??mhmhhmmhmhmhmh??mh", 8},
		"twos with a drawing more": {"mhmhmhmhhmhmhmhmhmhmh", -1},
		"every third held":         {"mmhmmhmmhmmhmmhmmhmmhmmh", -1},
		"damage before a hold":     {"mmhmmhmmhmhmmmhmmhmmhmmh", 10},
		"damage after a hold":      {"mmhmmhmmhmmhhmhmmhmmhmmh", 12},
		"at the start":             {"mhhmmhmhmhmhmhmh", -1},
		"all moves but one":        {"mmmmmmmmmmhmmmmmmmmmmm", -1},
		"twos, then ones":          {"mhmhmhmhhmmmmmmmmmmm", -1},
	} {
		got := -1
		of := clip(c.pattern)
		for n := range of {
			for p := periodFrom; p <= periodTo; p++ {
				if breaksCadence(of, n, p) {
					got = n
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: frame %d, want %d", name, got, c.want)
		}
	}
}
