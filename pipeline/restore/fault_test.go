package restore

import (
	"context"
	"math/big"
	"path/filepath"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

func TestFaults(t *testing.T) {
	input := writeScene(t, 64, 48, 6)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		change func(*Options)
		kind   fault.Kind
	}{
		{"nothing to do", context.Background(), func(o *Options) { o.Damage = nil }, fault.Usage},
		{"behind the end", context.Background(), func(o *Options) { o.Damage = frames(t, "6") }, fault.Usage},
		{"a time behind the end", context.Background(), func(o *Options) { o.Damage = frames(t, "0:07") }, fault.Usage},
		{"all frames", context.Background(), func(o *Options) { o.Damage = frames(t, "0-5") }, fault.Usage},
		{"put in behind the last", context.Background(), func(o *Options) { o.Damage, _ = ParseInsert("5:1") }, fault.Usage},
		{"a region outside", context.Background(), func(o *Options) {
			f, _ := ParseRegion("64,0,4,4@2")
			o.Damage = []Finding{f}
		}, fault.Usage},
		{"max run", context.Background(), func(o *Options) { o.MaxRun = -1 }, fault.Usage},
		{"a rate", context.Background(), func(o *Options) { o.Convert.Timing.Rate, _ = timeline.ParseRate("60") }, fault.Usage},
		{"a part", context.Background(), func(o *Options) { o.Convert.Timing.From = big.NewRat(1, 10) }, fault.Usage},
		{"no output", context.Background(), func(o *Options) { o.Convert.Output.File = "" }, fault.Usage},
		{"the input", context.Background(), func(o *Options) { o.Convert.Output.File, o.Convert.Output.Overwrite = input, true }, fault.Usage},
		{"no directory", context.Background(), func(o *Options) { o.Convert.Output.File = "none/out.nut" }, fault.CannotWrite},
		{"a file that exists", context.Background(), func(o *Options) { o.Convert.Output.File = "fault_test.go" }, fault.CannotWrite},
		{"no input", context.Background(), func(o *Options) { o.Convert.Input.File = "missing.mp4" }, fault.NoInput},
		{"cancelled", cancelled, func(*Options) {}, fault.Cancelled},
	} {
		o := options(t, input)
		o.Damage = frames(t, "3")
		c.change(&o)
		o.Found = func([]Finding) error {
			t.Errorf("%s: the input was read through", c.name)
			return nil
		}
		if _, err := Run(c.ctx, o); err == nil || fault.KindOf(err) != c.kind {
			t.Errorf("%s: error %v, want kind %d", c.name, err, c.kind)
		}
		if left, _ := filepath.Glob(filepath.Dir(o.Convert.Output.File) + "/out*"); len(left) > 0 {
			t.Errorf("%s: left behind %v", c.name, left)
		}
	}
}

// A run that is cancelled between its frames leaves nothing.
func TestCancelled(t *testing.T) {
	input := writeScene(t, 64, 48, 30)
	for _, at := range []int64{1, 4, 9, 29} {
		ctx, cancel := context.WithCancel(t.Context())
		o := options(t, input)
		o.Convert.Synthesis.Preset, o.Damage = pipeline.Balanced, frames(t, "0-1,5-7,9,28-29")
		o.Convert.Hooks.Progress = func(p pipeline.Progress) {
			if p.Frames == at {
				cancel()
			}
		}
		if _, err := Run(ctx, o); fault.KindOf(err) != fault.Cancelled {
			t.Errorf("at frame %d: %v", at, err)
		}
		if left, _ := filepath.Glob(filepath.Dir(o.Convert.Output.File) + "/*"); len(left) > 0 {
			t.Errorf("at frame %d: left behind %v", at, left)
		}
		cancel()
	}
}
