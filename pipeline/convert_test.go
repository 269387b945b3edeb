package pipeline_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/internal/runtest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/testdata/scene"
	"retime/warp"
)

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
		sink := &runtest.ValueSink{}
		report, err := pipeline.Convert(context.Background(), &runtest.RampSource{Times: c.source}, sink, c.at, pipeline.Options{Synthesis: pipeline.Synthesis{Mode: c.mode}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(sink.Values, c.want) || report.Frames != int64(len(c.want)) || report.Sources != int64(len(c.source)) {
			t.Errorf("%s of frames at %v: frames of %v at %v, reported %d from %d; want %v",
				c.mode, c.source, sink.Values, c.at, report.Frames, report.Sources, c.want)
		}
	}
}

func TestConvertFaults(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		at   []int64
		o    pipeline.Options
		kind fault.Kind
	}{
		{context.Background(), nil, pipeline.Options{}, fault.Usage},
		{context.Background(), []int64{2, 1}, pipeline.Options{}, fault.Usage},
		{context.Background(), []int64{1}, pipeline.Options{Synthesis: pipeline.Synthesis{Mode: "magic"}}, fault.Usage},
		{cancelled, []int64{1}, pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Blend}}, fault.Cancelled},
	} {
		_, err := pipeline.Convert(c.ctx, &runtest.RampSource{Times: []int64{0, 20}}, &runtest.ValueSink{}, c.at, c.o)
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
		preset        pipeline.Preset
		width, height int // of the picture
		level         int
	}{{pipeline.Best, 97, 65, 0}, {pipeline.Balanced, 97, 65, 0}, {pipeline.Balanced, 1201, 433, 1}, {pipeline.Fast, 97, 65, 2}} {
		forward, backward, err := pipeline.EstimateFlow(t.Context(), draw(c.width, c.height, 0), draw(c.width, c.height, 4), pipeline.Options{Synthesis: pipeline.Synthesis{Preset: c.preset}})
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
	if _, _, err := pipeline.EstimateFlow(t.Context(), draw(97, 65, 0), draw(97, 65, 4), pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Blend}}); fault.KindOf(err) != fault.Usage {
		t.Errorf("flow of a blend: %v", err)
	}
}

// A command that does not answer is ended with the context.
func TestEstimatingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := pipeline.Options{Synthesis: pipeline.Synthesis{Flow: "command=cat >/dev/null"}}
	cancel()
	gray := frame.Format{Name: "gray", Depth: 8, Planes: 1}
	a, b := frame.New(gray, 64, 48), frame.New(gray, 64, 48)
	frame.Samples[uint8](b.Planes[0]).Row(20)[30] = 255
	if _, _, err := pipeline.EstimateFlow(ctx, a, b, o); fault.KindOf(err) != fault.Cancelled || !errors.Is(err, context.Canceled) {
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
		score, err := pipeline.CutScore(t.Context(), draw(0), draw(c.at), pipeline.Options{Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}})
		if err != nil || (score >= pipeline.DefaultSceneThreshold) != c.cut {
			t.Errorf("the scene at 0 and %.3f s: score %.2f, %v; cut: %t", c.at, score, err, c.cut)
		}
	}
}
