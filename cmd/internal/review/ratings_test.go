package review

import (
	"slices"
	"testing"

	"retime/pipeline"
	"retime/pipeline/stages"
)

// The page lists ten places and those that are doubtful, its directory the doubtful ones alone.
func TestRatingsPlaces(t *testing.T) {
	l := ratings{frames: 1000, rate: 24}
	put := func(frame int64, score float64, x int) {
		l.put(rating{Frame: frame, Method: pipeline.Interpolated, Score: score, Box: [4]int{x, 0, 20, 20}}, nil)
	}
	put(33, 0.01, 200)
	put(35, 0.03, 230) // as 33
	put(39, 0.04, 40)  // elsewhere in the picture
	put(70, 0.06, 200) // later
	l.put(rating{Frame: 200, Method: pipeline.FromSource}, nil)
	l.put(rating{Frame: 201, Method: pipeline.Nearest, Cut: true}, nil)
	for k := range int64(12) {
		put(300+k*20, 0.5+float64(k)/100, 0)
	}
	l.put(rating{Frame: 800, Method: pipeline.Interpolated, Score: 0.99, Speckle: doubtfulSpeckle}, nil)
	frames := func(list []rating) (of []int64) {
		for _, r := range list {
			of = append(of, r.Frame)
		}
		return of
	}
	if got, want := frames(l.lowest()), []int64{33, 39, 70, 300, 320, 340, 360, 380, 400, 420, 800}; !slices.Equal(got, want) {
		t.Errorf("the page lists %d, want %d", got, want)
	}
	if got, want := frames(l.worst(4)), []int64{33, 39, 70, 800}; !slices.Equal(got, want) {
		t.Errorf("the directory lists %d, want %d", got, want)
	}
	for k := range int64(40) {
		put(400+k*14, 0.1, 0)
	}
	if got := l.lowest(); len(got) != maxPlaces {
		t.Errorf("the page lists %d places, want %d", len(got), maxPlaces)
	}
}

// A frame's rating is told again only if it has changed.
func TestRefine(t *testing.T) {
	made := func(score float64) pipeline.Record {
		return pipeline.Record{Frame: 3, Method: pipeline.Interpolated, Worst: &stages.Place{Score: score, Box: [4]int{8, 8, 16, 16}}}
	}
	var l ratings
	l.put(newRating(made(0.1)), nil)
	for i, c := range []struct {
		score   float64
		changed bool
	}{{0.1, true}, {0.1, false}, {0.3, true}, {0.3, false}} { // the first is rated at another preset
		if _, changed := l.refine(made(c.score)); changed != c.changed {
			t.Errorf("record %d: changed %v", i, changed)
		}
	}
}
