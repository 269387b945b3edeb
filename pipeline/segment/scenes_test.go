package segment

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/timeline"
)

func moving(t *testing.T, width, height, frames int) string {
	t.Helper()
	return cliptest.WriteScene(t, width, height, frames, 24, 1)
}

func TestFindScenes(t *testing.T) {
	for _, c := range []struct {
		name  string
		input string
		set   func(*pipeline.Options)
		want  []int64
	}{
		{"a cut", cliptest.WriteCut(t, 320, 180, 8), func(*pipeline.Options) {}, []int64{4}},
		{"a tall picture", cliptest.WriteCut(t, 181, 643, 8), func(*pipeline.Options) {}, []int64{4}},
		{"more frames", cliptest.WriteCut(t, 320, 180, 8), func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("60") }, []int64{10}},
		{"a slow part", cliptest.WriteCut(t, 320, 180, 8), func(o *pipeline.Options) {
			o.Timing.Slow, o.Timing.From, o.Timing.To = big.NewRat(3, 1), big.NewRat(1, 12), big.NewRat(7, 24)
		}, []int64{6}},
		{"none in the part", cliptest.WriteCut(t, 320, 180, 8), func(o *pipeline.Options) { o.Timing.From = big.NewRat(4, 24) }, nil},
		{"without flow", cliptest.WriteCut(t, 320, 180, 8), func(o *pipeline.Options) { o.Synthesis.Mode = "nearest" }, []int64{4}},
		{"motion", moving(t, 96, 64, 12), func(*pipeline.Options) {}, nil},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: c.input}, Output: pipeline.Output{Format: "nut", VideoCodec: "rawvideo"}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}}
		c.set(&o)
		whole, _, err := newOutline(context.Background(), o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := findScenes(context.Background(), o, whole)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v: %v", c.name, got, c.want, err)
		}
	}
}

func TestFindScenesStops(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: cliptest.WriteCut(t, 64, 48, 8)}, Output: pipeline.Output{Format: "nut", VideoCodec: "rawvideo"}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}}
	whole, _, err := newOutline(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Hooks.Progress = func(p pipeline.Progress) {
		if p.Frames == 3 {
			cancel()
		}
	}
	if _, err := findScenes(ctx, o, whole); err == nil {
		t.Error("a search that is cancelled ends well")
	}
}
