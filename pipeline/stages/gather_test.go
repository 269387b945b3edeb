//go:build unix

package stages_test

import (
	"io"
	"math/big"
	"testing"

	"retime/frame"
	"retime/pipeline"
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
	source := func() pipeline.Source {
		s := &timedSource{}
		for k := range int64(8) {
			s.times = append(s.times, k*50)
		}
		for k := range int64(300) {
			s.times = append(s.times, 720+k)
		}
		return s
	}
	o := pipeline.Options{Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("10")}}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Compute: pipeline.Compute{Threads: 1}}
	closed, open := o, o
	open.Timing.Shutter = ratio("1")
	_, want := planned(t, source(), closed)
	_, blurred := planned(t, source(), open)
	for k := range want.Values {
		if k >= 7 {
			want.Values[k] = blurred.Values[k]
		}
	}
	o.Synthesis.Decisions = ranged{7, int64(len(want.Values)) - 1, "", "360"}.decisions()
	_, got := planned(t, source(), o)
	if len(got.Values) != len(want.Values) {
		t.Fatalf("%d frames, want %d", len(got.Values), len(want.Values))
	}
	for k := range got.Values {
		if got.Values[k] != want.Values[k] {
			t.Errorf("frame %d shows %d, want %d", k, got.Values[k], want.Values[k])
		}
	}
}

// A decision about a frame that a file of unknown length turns out not to have hinders nobody.
func TestWayOfNoFrame(t *testing.T) {
	o := pipeline.Options{Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("10")}}, Synthesis: pipeline.Synthesis{Mode: warp.Blend, Decisions: []pipeline.Decision{{Frame: 1, Shutter: "180"}, {Frame: 1 << 40, Shutter: "180"}}}}
	if _, got := planned(t, &timedSource{times: []int64{0, 100, 200, 300}}, o); len(got.Values) != 4 {
		t.Errorf("%d frames, want 4", len(got.Values))
	}
}

// Runs beside each other keep no picture, however they end.
func TestWaysReleasePictures(t *testing.T) {
	testReleases(t, append(ranged{5, 9, pipeline.Best, ""}.decisions(), ranged{10, 32, pipeline.Fast, "180"}.decisions()...))
}
