package ratings

import (
	"image"
	"math"
	"testing"
)

// Twelve frames of which each is rated as it is but for the worst, which is rated best: all figures are known.
func TestStatistics(t *testing.T) {
	var list []rated
	for i := range 12 {
		v := float64(i)
		at := image.Rect(10*i, 0, 10*i+8, 8)
		list = append(list, rated{frame: int64(i), score: 1 - v/11, box: at, inside: 4 * v, error: 4 * v, at: at})
	}
	if c := correlation(list); math.Abs(c-1) > 1e-9 {
		t.Errorf("correlation of right ratings: %f", c)
	}
	if precision, recall := doubts(list); precision != 1 || recall != 0.5 { // 9 to 11 of 6 to 11
		t.Errorf("precision %f, recall %f", precision, recall)
	}
	list[11].score, list[11].box = 2, image.Rect(0, 0, 8, 8)
	got := count(list)
	if got.found != 2 || got.sought != 3 || got.over != 2 || got.squares != 5 || got.shown != 5 || median(got.errors) != 32 {
		t.Errorf("%+v", got)
	}
	if r := rankOf(list, list[11]); r != 12 {
		t.Errorf("the worst frame has rank %d", r)
	}
	if c := correlation(list); c > 0.7 || c < 0.4 {
		t.Errorf("correlation with one wrong rating: %f", c)
	}
}
