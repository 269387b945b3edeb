//go:build unix

package pipeline

import (
	"io"
	"math/big"
	"testing"

	"retime/frame"
	"retime/pipeline/media"
	"retime/warp"
)

// timedSource has small pictures at given milliseconds.
type timedSource struct {
	times []int64
	read  int
}

func (s *timedSource) Video() media.Video {
	return media.Video{Width: 5, Height: 3, TimeBase: big.NewRat(1, 1000), Average: big.NewRat(200, 1), Start: new(big.Rat)}
}

func (s *timedSource) Read() (*frame.Frame, error) {
	if s.read == len(s.times) {
		return nil, io.EOF
	}
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 5, 3)
	for i := range f.Planes[0].Pix {
		f.Planes[0].Pix[i] = uint8(s.read * 37 % 251)
	}
	f.PTS, f.Duration = s.times[s.read], 1
	s.read++
	return f, nil
}

// Where pictures become dense, the next frame of one way lies many pictures behind the next
// subframe of another, which waits for its turn.
func TestWaysOfDensePictures(t *testing.T) {
	source := func() Source {
		s := &timedSource{}
		for k := range int64(8) {
			s.times = append(s.times, k*50)
		}
		for k := range int64(300) {
			s.times = append(s.times, 720+k)
		}
		return s
	}
	o := Options{Timing: Timing{Rate: Rate{Value: ratio("10")}}, Synthesis: Synthesis{Mode: warp.Blend}, Compute: Compute{Threads: 1}}
	closed, open := o, o
	open.Timing.Shutter = ratio("1")
	_, want := planned(t, source(), closed)
	_, blurred := planned(t, source(), open)
	for k := range want.values {
		if k >= 7 {
			want.values[k] = blurred.values[k]
		}
	}
	o.Synthesis.Decisions = ranged{7, int64(len(want.values)) - 1, "", "360"}.decisions()
	_, got := planned(t, source(), o)
	if len(got.values) != len(want.values) {
		t.Fatalf("%d frames, want %d", len(got.values), len(want.values))
	}
	for k := range got.values {
		if got.values[k] != want.values[k] {
			t.Errorf("frame %d shows %d, want %d", k, got.values[k], want.values[k])
		}
	}
}

// A decision about a frame that a file of unknown length turns out not to have hinders nobody.
func TestWayOfNoFrame(t *testing.T) {
	o := Options{Timing: Timing{Rate: Rate{Value: ratio("10")}}, Synthesis: Synthesis{Mode: warp.Blend, Decisions: []Decision{{Frame: 1, Shutter: "180"}, {Frame: 1 << 40, Shutter: "180"}}}}
	if _, got := planned(t, &timedSource{times: []int64{0, 100, 200, 300}}, o); len(got.values) != 4 {
		t.Errorf("%d frames, want 4", len(got.values))
	}
}

// Runs beside each other keep no picture, however they end.
func TestWaysReleasePictures(t *testing.T) {
	testReleases(t, append(ranged{5, 9, Best, ""}.decisions(), ranged{10, 32, Fast, "180"}.decisions()...))
}
