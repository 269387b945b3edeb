package pipeline

import (
	"context"
	"math/big"
	"slices"
	"testing"
)

func TestFindScenes(t *testing.T) {
	for _, c := range []struct {
		name  string
		input string
		set   func(*Options)
		want  []int64
	}{
		{"a cut", halfScenes(t, 320, 180, 8), func(*Options) {}, []int64{4}},
		{"a tall picture", halfScenes(t, 181, 643, 8), func(*Options) {}, []int64{4}},
		{"more frames", halfScenes(t, 320, 180, 8), func(o *Options) { o.Timing.Rate, _ = ParseRate("60") }, []int64{10}},
		{"a slow part", halfScenes(t, 320, 180, 8), func(o *Options) {
			o.Timing.Slow, o.Timing.From, o.Timing.To = big.NewRat(3, 1), big.NewRat(1, 12), big.NewRat(7, 24)
		}, []int64{6}},
		{"none in the part", halfScenes(t, 320, 180, 8), func(o *Options) { o.Timing.From = big.NewRat(4, 24) }, nil},
		{"without flow", halfScenes(t, 320, 180, 8), func(o *Options) { o.Synthesis.Mode = "nearest" }, []int64{4}},
		{"motion", writeScene(t, 96, 64, 12, 24, 1), func(*Options) {}, nil},
	} {
		o := Options{Input: Input{File: c.input}, Output: Output{Format: "nut", VideoCodec: "rawvideo"}, Synthesis: Synthesis{Preset: Fast}}
		c.set(&o)
		whole, err := Survey(context.Background(), o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := FindScenes(context.Background(), o, whole)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v: %v", c.name, got, c.want, err)
		}
	}
}

func TestFindScenesStops(t *testing.T) {
	o := Options{Input: Input{File: halfScenes(t, 64, 48, 8)}, Output: Output{Format: "nut", VideoCodec: "rawvideo"}, Synthesis: Synthesis{Preset: Fast}}
	whole, err := Survey(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Hooks.Progress = func(p Progress) {
		if p.Frames == 3 {
			cancel()
		}
	}
	if _, err := FindScenes(ctx, o, whole); err == nil {
		t.Error("a search that is cancelled ends well")
	}
}
