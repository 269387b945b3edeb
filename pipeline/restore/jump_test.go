package restore

import "testing"

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
