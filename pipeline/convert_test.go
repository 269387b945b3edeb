package pipeline

import (
	"context"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/testdata/scene"
	"retime/warp"
)

// rampSource delivers gray frames whose samples all equal their timestamp.
type rampSource struct{ times []int64 }

func (s *rampSource) Video() media.Video {
	return media.Video{Width: 16, Height: 16, TimeBase: big.NewRat(1, 100), Start: new(big.Rat), FirstPTS: s.times[0]}
}

func (s *rampSource) Read() (*frame.Frame, error) {
	if len(s.times) == 0 {
		return nil, io.EOF
	}
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 16, 16)
	for i := range f.Planes[0].Pix {
		f.Planes[0].Pix[i] = uint8(s.times[0])
	}
	f.PTS, f.Duration = s.times[0], 1
	s.times = s.times[1:]
	return f, nil
}

// valueSink keeps the first sample of each frame.
type valueSink struct {
	memorySink
	values []int
}

func (s *valueSink) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	s.values = append(s.values, int(f.Planes[0].Pix[0]))
	return nil
}

func TestConvertMakesFramesAtTimestamps(t *testing.T) {
	for _, c := range []struct {
		mode       warp.Mode
		source, at []int64
		want       []int
	}{
		{warp.Blend, []int64{0, 20, 40}, []int64{10, 30}, []int{10, 30}},
		{warp.Blend, []int64{10, 20, 60, 100}, []int64{20, 25, 50, 99, 100}, []int{20, 25, 50, 99, 100}},
		{warp.Blend, []int64{10, 20, 30}, []int64{5, 15, 15, 30, 45}, []int{10, 15, 15, 30}},
		{warp.Nearest, []int64{0, 20, 40}, []int64{9, 11, 39}, []int{0, 20, 40}},
	} {
		sink := &valueSink{}
		report, err := Convert(context.Background(), &rampSource{c.source}, sink, c.at, Options{Synthesis: Synthesis{Mode: c.mode}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sink.values, c.want) || report.Frames != int64(len(c.want)) || report.Sources != int64(len(c.source)) {
			t.Errorf("%s of frames at %v: frames of %v at %v, reported %d from %d; want %v",
				c.mode, c.source, sink.values, c.at, report.Frames, report.Sources, c.want)
		}
	}
}

func TestConvertFaults(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		at   []int64
		o    Options
		kind fault.Kind
	}{
		{context.Background(), nil, Options{}, fault.Usage},
		{context.Background(), []int64{2, 1}, Options{}, fault.Usage},
		{context.Background(), []int64{1}, Options{Synthesis: Synthesis{Mode: "magic"}}, fault.Usage},
		{cancelled, []int64{1}, Options{Synthesis: Synthesis{Mode: warp.Blend}}, fault.Cancelled},
	} {
		_, err := Convert(c.ctx, &rampSource{[]int64{0, 20}}, &valueSink{}, c.at, c.o)
		if err == nil || fault.KindOf(err) != c.kind {
			t.Errorf("timestamps %v, mode %q: error %v, want kind %d", c.at, c.o.Synthesis.Mode, err, c.kind)
		}
	}
}

func TestEstimateFlow(t *testing.T) {
	// A texture that moves by 4 pixels to the right.
	draw := func(width, height, shift int) *frame.Frame {
		f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, width, height)
		m := frame.Samples[uint8](f.Planes[0])
		for y := range m.Height {
			for x := range m.Row(y) {
				u := float64(x - shift)
				m.Row(y)[x] = uint8(128 + 50*math.Sin(u/5) + 50*math.Sin(float64(y)/4+u/9))
			}
		}
		return f
	}
	for _, c := range []struct {
		preset        Preset
		width, height int // of the picture
		level         int
	}{{Best, 97, 65, 0}, {Balanced, 97, 65, 0}, {Balanced, 1201, 433, 1}, {Fast, 97, 65, 2}} {
		forward, backward, err := EstimateFlow(t.Context(), draw(c.width, c.height, 0), draw(c.width, c.height, 4), Options{Synthesis: Synthesis{Preset: c.preset}})
		if err != nil {
			t.Fatal(err)
		}
		up := 1<<c.level - 1
		width, height := (c.width+up)>>c.level, (c.height+up)>>c.level
		if forward.Width != width || forward.Height != height {
			t.Errorf("%s: the field is %dx%d, want %dx%d", c.preset, forward.Width, forward.Height, width, height)
		}
		for i, f := range []flow.Field{forward, backward} {
			want := 4 / float64(int(1)<<c.level) * float64(1-2*i)
			if got := float64(f.Row(height / 2)[width/2].X) / flow.One; math.Abs(got-want) > 0.25 {
				t.Errorf("%s: motion %.2f at the centre, want %.2f", c.preset, got, want)
			}
		}
	}
	if _, _, err := EstimateFlow(t.Context(), draw(97, 65, 0), draw(97, 65, 4), Options{Synthesis: Synthesis{Mode: warp.Blend}}); fault.KindOf(err) != fault.Usage {
		t.Errorf("flow of a blend: %v", err)
	}
}

// A command that does not answer is ended with the context.
func TestEstimatingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Synthesis: Synthesis{Flow: "command=cat >/dev/null"}}
	cancel()
	gray := frame.Format{Name: "gray", Depth: 8, Planes: 1}
	a, b := frame.New(gray, 64, 48), frame.New(gray, 64, 48)
	frame.Samples[uint8](b.Planes[0]).Row(20)[30] = 255
	if _, _, err := EstimateFlow(ctx, a, b, o); fault.KindOf(err) != fault.Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestCutScore(t *testing.T) {
	// Another scene's texture is another one's at a time far off.
	draw := func(at float64) *frame.Frame {
		p := scene.Draw(160, 96, at)
		f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 160, 96)
		m := frame.Samples[uint8](f.Planes[0])
		for y := range m.Height {
			copy(m.Row(y), p.Y[y*160:])
		}
		return f
	}
	for _, c := range []struct {
		at  float64
		cut bool
	}{{0, false}, {1. / 24, false}, {1. / 12, false}, {100, true}} {
		score, err := CutScore(t.Context(), draw(0), draw(c.at), Options{Synthesis: Synthesis{Preset: Fast}})
		if err != nil || (score >= DefaultSceneThreshold) != c.cut {
			t.Errorf("the scene at 0 and %.3f s: score %.2f, %v; cut: %t", c.at, score, err, c.cut)
		}
	}
}
