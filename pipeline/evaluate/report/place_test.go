package report

import (
	"reflect"
	"strings"
	"testing"
)

// The worst places are of different frames, and the page leads to them.
func TestWorstPlaces(t *testing.T) {
	region := func(frame, x int) Region {
		return Region{Frame: frame, X: x, Y: 20, Width: 30, Height: 40, PSNRY: []Decibel{10}}
	}
	r := &Report{
		Frames:  []Frame{{Index: 1, Time: 0.5}, {Index: 3, Time: 62.25}, {Index: 5, Time: 2}, {Index: 7, Time: 3}},
		Methods: []Method{{Name: "a"}}, Regions: []Region{region(1, 7), region(1, 99), region(0, 8), region(3, 9), region(2, 1)},
	}
	want := []Place{{1, "1:02.250 (frame 3, 30x40 at 7,20)"}, {3, "0:00.500 (frame 1, 30x40 at 8,20)"}, {4, "0:03.000 (frame 7, 30x40 at 9,20)"}}
	if got := r.WorstPlaces(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var b strings.Builder
	r.Every, r.Pictures.Regions = 2, make([]RegionPictures, 5)
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, p := range want {
		if !strings.Contains(b.String(), p.Where+"</a>") {
			t.Errorf("the page does not lead to %s", p.Where)
		}
	}
	if r.Regions = nil; r.WorstPlaces() != nil {
		t.Error("there are places without regions")
	}
}
