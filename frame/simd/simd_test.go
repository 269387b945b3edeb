package simd

import (
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	levels := []Level{Go, SSE2, AVX2}
	for _, c := range []struct {
		name string
		want Level
		ok   bool
	}{
		{"", AVX2, true}, {"go", Go, true}, {"sse2", SSE2, true}, {"AVX2", AVX2, true},
		{"avx512", AVX2, false}, {"fast", AVX2, false},
	} {
		got, err := choose(c.name, levels)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %v, %v", c.name, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "go, sse2, avx2") {
			t.Errorf("%q: %v: does not name the levels", c.name, err)
		}
	}
}

// Every level has a name of its own, and the plain functions come first.
func TestLevels(t *testing.T) {
	seen := map[string]bool{}
	for l := Go; l <= NEON; l++ {
		if l.String() == "" || seen[l.String()] {
			t.Errorf("level %d: name %q", l, l)
		}
		seen[l.String()] = true
	}
	if l := Levels(); l[0] != Go {
		t.Errorf("levels %v", l)
	}
}
