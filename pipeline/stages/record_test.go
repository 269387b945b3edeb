package stages

import (
	"slices"
	"testing"
)

// The worst frames are the lowest of their half seconds, in the order of their scores.
func TestLowest(t *testing.T) {
	var list []Record
	for k, score := range []float64{0.5, 0.4, 0.45, 0.9, 0.3, 0.2, 0.8, 0.7, 0.1, 0.6} {
		r := Record{Frame: int64(k), Time: float64(k) * 0.3}
		if score < 0.9 {
			r.Worst = &Place{Score: score}
		}
		list = lowest(list, r)
	}
	var got []int64
	for _, r := range list {
		got = append(got, r.Frame)
	}
	if !slices.Equal(got, []int64{8, 5, 1}) {
		t.Errorf("frames %d", got)
	}
}
