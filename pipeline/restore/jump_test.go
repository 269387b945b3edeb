package restore

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A jump tells where motion around it is steady.
func TestJumpStandsOut(t *testing.T) {
	for name, c := range map[string]struct {
		at   func(k int) float32
		want bool
	}{
		"steady":        {func(int) float32 { return 1.1 }, true},
		"seldom steady": {func(k int) float32 { return float32(1 - min(k%8, 1)) }, false},
		"a shaking hand": {func(k int) float32 {
			if k%6 == 0 {
				return 1.8
			}
			return 1
		}, false},
	} {
		j := &jumps{}
		for k := range 60 {
			j.medians = append(j.medians, c.at(k))
		}
		if got := j.standsOut(30); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A jump is a whole multiple of what the motions around suggest, and stands above both of its neighbours.
func TestJudgeJump(t *testing.T) {
	for name, c := range map[string]struct {
		motions [jumpWindow]float64
		want    int // frames that are missing
	}{
		"steady":                      {[jumpWindow]float64{2, 2, 2, 2, 2}, 0},
		"one missing":                 {[jumpWindow]float64{2, 2.1, 4.2, 2.1, 2}, 1},
		"one missing as it speeds up": {[jumpWindow]float64{1.4, 1.7, 4.1, 2.3, 2.6}, 1},
		"two missing":                 {[jumpWindow]float64{1, 1, 3, 1, 1}, 2},
		"backwards":                   {[jumpWindow]float64{1, 1, -2, 1, 1}, 0},
		"a pan that ends":             {[jumpWindow]float64{2, 2, 2.26, 0.74, 0.66}, 0},
		"a shaking hand":              {[jumpWindow]float64{1.03, 2.67, 4.11, 3.4, 1.93}, 0},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		j := &jumps{count: jumpWindow + 1, medians: make([]float32, jumpWindow+1)}
		for _, m := range c.motions {
			var v motion
			for i := range v {
				v[i] = [2]float64{m * (1 + 0.05*random.NormFloat64()), 0.05 * random.NormFloat64()}
			}
			j.window = append(j.window, v)
		}
		j.judge()
		j.dropFaint()
		got := 0
		if len(j.found) > 0 {
			got = j.found[0].missing
		}
		if got != c.want {
			t.Errorf("%s: %d frames are missing, want %d", name, got, c.want)
		}
	}
}

// A faint jump tells where motion around it is even; others may be near.
func TestFaintJumps(t *testing.T) {
	for name, c := range map[string]struct {
		at    func(k int) float32
		faint bool
		want  bool
	}{
		"even":                     {func(k int) float32 { return 1 + 0.05*float32(k%3) }, true, true},
		"even, with jumps":         {func(k int) float32 { return []float32{1, 1, 1, 1, 1, 1, 1, 0, 0, 2, 0, 0}[k%12] }, true, true},
		"uneven":                   {func(k int) float32 { return 1 + 0.3*float32(k%3) }, true, false},
		"uneven, but not faint":    {func(k int) float32 { return 1 + 0.3*float32(k%3) }, false, true},
		"even, but seldom at all":  {func(k int) float32 { return float32(1 - min(k%4, 1)) }, true, false},
		"nothing that can be told": {func(int) float32 { return 0 }, true, false},
	} {
		j := &jumps{found: []jump{{number: 33, missing: 1, score: 0.5, faint: c.faint}}}
		for k := range 60 {
			j.medians = append(j.medians, c.at(k))
		}
		if j.dropFaint(); len(j.found) == 1 != c.want {
			t.Errorf("%s: kept %v", name, len(j.found) == 1)
		}
	}
}

// Two fifths of the steady cells are enough for a faint jump.
func TestJudgeFaintJump(t *testing.T) {
	for jumping, want := range map[int][]jump{ // of 144 cells
		55:  nil,
		60:  {{number: 3, missing: 1, score: 60. / 144, faint: true}},
		100: {{number: 3, missing: 1, score: 100. / 144}},
	} {
		j := &jumps{count: jumpWindow + 1, medians: make([]float32, jumpWindow+1)}
		for k := range jumpWindow {
			var v motion
			for i := range v {
				if v[i] = [2]float64{2, 0}; k == jumpWindow/2 {
					if v[i] = [2]float64{3.6, 2}; i < jumping { // the others turn aside
						v[i] = [2]float64{4, 0}
					}
				}
			}
			j.window = append(j.window, v)
		}
		if j.judge(); !slices.Equal(j.found, want) {
			t.Errorf("%d cells jump: %v, want %v", jumping, j.found, want)
		}
	}
}
