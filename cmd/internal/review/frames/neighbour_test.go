package frames

import (
	"context"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
)

// The frames between two pictures of the source are found, and so are these.
func TestNeighbours(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: clip(t, 12)}, Timing: pipeline.Timing{Rate: rate(t, "3x")}}
	m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	made := func(v View, k int64) *frame.Frame {
		t.Helper()
		s, err := m.Frame(context.Background(), v, k)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Frame.Release)
		return s.Frame
	}
	for _, k := range []int64{7, 8, 28, 29} {
		first, last, err := m.Between(context.Background(), k)
		if want := k - k%3 + 1; err != nil || first != want || last != want+1 {
			t.Errorf("frame %d lies between %d and %d, %v; want %d and %d", k, first, last, err, want, want+1)
		}
		if !frame.Equal(made(Before, k), made(Final, k-k%3)) {
			t.Errorf("frame %d has another picture before it", k)
		}
		if !frame.Equal(made(After, k), made(Final, k-k%3+3)) {
			t.Errorf("frame %d has another picture after it", k)
		}
	}
	for _, k := range []int64{0, 6, 33, m.Plan().Total - 1} {
		if _, _, err := m.Between(context.Background(), k); fault.KindOf(err) != fault.Usage {
			t.Errorf("frame %d: %v", k, err)
		}
	}
	last := m.Plan().Total - 1
	if !frame.Equal(made(After, last), made(Final, last)) {
		t.Error("after the last picture comes another one")
	}
}
