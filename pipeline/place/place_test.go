package place_test

import (
	"slices"
	"testing"

	"retime/pipeline/place"
)

func TestEach(t *testing.T) {
	at := func(frame int64, seconds float64, box ...int) place.Place {
		p := place.Place{Frame: frame, Time: seconds}
		copy(p.Box[:], box)
		return p
	}
	tests := []struct {
		name string
		list []place.Place
		want []int64
	}{
		{"nothing", nil, nil},
		{"near in time and in the picture", []place.Place{at(5, 1, 200, 40, 20, 20), at(6, 1.1, 230, 50, 20, 20)}, []int64{5}},
		{"twice the side away", []place.Place{at(5, 1, 200, 40, 20, 20), at(6, 1.1, 240, 0, 20, 20)}, []int64{5}},
		{"farther to the right", []place.Place{at(5, 1, 200, 40, 20, 20), at(6, 1.1, 241, 40, 20, 20)}, []int64{5, 6}},
		{"farther up", []place.Place{at(5, 1, 200, 41, 20, 20), at(6, 1.1, 200, 0, 20, 20)}, []int64{5, 6}},
		{"the longer side counts", []place.Place{at(5, 1, 200, 40, 10, 20), at(6, 1.1, 240, 40, 10, 20)}, []int64{5}},
		{"half a second later", []place.Place{at(5, 1, 200, 40, 20, 20), at(6, 1.5, 200, 40, 20, 20)}, []int64{5, 6}},
		{"half a second before", []place.Place{at(6, 1.5, 200, 40, 20, 20), at(5, 1, 200, 40, 20, 20)}, []int64{6, 5}},
		{"anywhere", []place.Place{at(5, 1), at(6, 1.1, 200, 40, 20, 20), at(7, 1.6, 9, 9, 20, 20)}, []int64{5, 7}},
		{"twice in a frame", []place.Place{at(5, 1, 200, 40, 20, 20), at(5, 1, 9, 9, 20, 20)}, []int64{5}},
		{"what stands for no place hides none", []place.Place{at(1, 0), at(2, 0.4), at(3, 0.8)}, []int64{1, 3}},
	}
	for _, c := range tests {
		var got []int64
		for _, p := range place.Each(c.list, func(p place.Place) place.Place { return p }, place.Most[place.Place](9)) {
			got = append(got, p.Frame)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: frames %d, want %d", c.name, got, c.want)
		}
	}
}

// The list ends where it is full, but for what is let in nevertheless.
func TestEachHasRoom(t *testing.T) {
	list := []int64{10, 20, 30, 40, 50}
	where := func(k int64) place.Place { return place.Place{Frame: k, Time: float64(k)} }
	got := place.Each(list, where, func(n int, k int64) bool { return n < 2 || k == 40 })
	if !slices.Equal(got, []int64{10, 20, 40}) {
		t.Errorf("frames %d", got)
	}
	if got = place.Each(list, where, place.Most[int64](3)); !slices.Equal(got, list[:3]) {
		t.Errorf("frames %d, at most three", got)
	}
}
