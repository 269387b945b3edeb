package decision

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"retime/pipeline/fault"
	"retime/pipeline/motion"
)

// Frames have the conversion's own way but for what is decided, and what comes to the same is one
// way.
func TestWays(t *testing.T) {
	own := Way{motion.Balanced, "1/2"}
	w, err := NewWays(own, []Decision{
		{Frame: 3, Preset: motion.Best}, {Frame: 9, Shutter: "180"}, {Frame: 5, Preset: motion.Best, Shutter: "180.0"},
		{Frame: 4, Shutter: "0"}, {Frame: 2, Preset: motion.Balanced}, {Frame: 1, Method: Nearest},
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []Way{own, own, own, {motion.Best, "1/2"}, {motion.Balanced, "0"}, {motion.Best, "1/2"}, own, own, own, own} {
		if got := w.Of(int64(k)); got != want || w.List[w.Number(int64(k))] != want {
			t.Errorf("frame %d is made as %v, want %v", k, got, want)
		}
	}
	if first, end := w.Bounds(1); len(w.List) != 3 || first != 3 || end != 6 {
		t.Errorf("%d ways, the second from %d to %d; want 3, 3, 6", len(w.List), first, end)
	}
	if list := w.From(4); !slices.Equal(list, []int64{4, 5}) {
		t.Errorf("frames %v are of other ways from frame 4 on, want 4 and 5", list)
	}
	if !own.Blurs() || w.Of(4).Blurs() || w.Own() != own {
		t.Error("a shutter is open that is closed, or the other way round")
	}
	var many []Decision
	for i := range int64(maxWays) {
		many = append(many, Decision{Frame: i, Shutter: json.Number(fmt.Sprint(i))})
	}
	if _, err := NewWays(own, many); err != nil {
		t.Error(err)
	}
	if _, err := NewWays(own, append(many, Decision{Frame: 99, Shutter: "99"})); fault.KindOf(err) != fault.Usage {
		t.Errorf("%d ways: %v", maxWays+1, err)
	}
}
