package stages

import (
	"slices"
	"testing"
)

// The worst frames are the lowest of their places, in the order of their scores, wherever they come.
func TestLowest(t *testing.T) {
	type shot struct {
		at, score float64
		x         int
	}
	tests := []struct {
		name string
		list []shot
		want []int64
	}{
		{"half seconds", []shot{{0, 0.5, 0}, {0.3, 0.4, 0}, {0.6, 0.45, 0}, {1.2, 0.3, 0}, {1.5, 0.2, 0}, {2.4, 0.1, 0}, {2.7, 0.6, 0}}, []int64{5, 4, 1}},
		{"a chain that falls", []shot{{0, 0.5, 0}, {0.4, 0.4, 0}, {0.8, 0.3, 0}}, []int64{2, 0}},
		{"places of one moment", []shot{{0, 0.5, 0}, {0.1, 0.4, 300}, {0.2, 0.3, 600}, {0.3, 0.2, 300}}, []int64{3, 2, 0}},
		{"equal ones", []shot{{0, 0.5, 0}, {0.1, 0.5, 0}, {1, 0.5, 0}}, []int64{0, 2}},
	}
	for _, c := range tests {
		var l lowest
		l.add(Record{Frame: 99, Time: 99}) // not rated
		for k, s := range c.list {
			l.add(Record{Frame: int64(k), Time: s.at, Worst: &Place{Score: s.score, Box: [4]int{s.x, 0, 40, 40}}})
		}
		var got []int64
		for _, r := range l.worst() {
			got = append(got, r.Frame)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: frames %d, want %d", c.name, got, c.want)
		}
	}
}

// However long the video is, few frames are kept, and the lowest among them.
func TestLowestIsBounded(t *testing.T) {
	var l lowest
	for k := range 5 * lowestKept {
		score := float64(k*7919%(5*lowestKept)) / (5 * lowestKept)
		l.add(Record{Frame: int64(k), Time: float64(k), Worst: &Place{Score: score}})
	}
	if len(l) != lowestKept || l[lowestKept-1].Worst.Score != float64(lowestKept-1)/(5*lowestKept) {
		t.Errorf("%d frames, the last %+v", len(l), *l[len(l)-1].Worst)
	}
	if r := l.worst()[0]; r.Worst.Score != 0 {
		t.Errorf("the worst has %v", r.Worst.Score)
	}
}
