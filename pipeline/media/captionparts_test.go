package media_test

import (
	"context"
	"math/big"
	"path/filepath"
	"slices"
	"testing"

	"retime/pipeline"
	"retime/pipeline/restore"
	"retime/pipeline/segment"
	"retime/pipeline/timeline"
	"retime/warp"
)

// A conversion in parts has the captions of one in a whole, at the borders of its parts, too.
func TestCaptionsOfParts(t *testing.T) {
	clip := clipWithTriplets(t, 90, fullCaptions)
	for _, rate := range []string{"60", "24", "10", "4"} {
		dir := t.TempDir()
		o := pipeline.Options{
			Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(dir, "whole.mkv"), VideoCodec: "libx264"},
			Compute: pipeline.Compute{Backend: pipeline.CPU},
		}
		o.Timing.Rate, _ = timeline.ParseRate(rate)
		if _, err := pipeline.Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		want := tripletsOf(t, o.Output.File)
		o.Output.File = filepath.Join(dir, "parts.mkv")
		plan, err := segment.New(context.Background(), o, segment.Options{Length: big.NewRat(1, 2), Even: true, Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range plan.Ranges { // each by a worker of its own
			if _, _, err := plan.Make(context.Background(), dir, i, o); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := plan.Join(context.Background(), dir, o); err != nil {
			t.Fatal(err)
		}
		got := tripletsOf(t, o.Output.File)
		if len(got) != len(want) {
			t.Fatalf("%s: %d frames, want %d", rate, len(got), len(want))
		}
		for k := range want {
			if !slices.Equal(got[k], want[k]) {
				t.Errorf("%s: frame %d has captions\n% x, want\n% x", rate, k, got[k], want[k])
			}
		}
	}
}

// A restoration that copies packets keeps the captions of all frames, also of those that it makes, in whole or as
// fields.
func TestSmartCopyKeepsCaptions(t *testing.T) {
	clip := clipWithTriplets(t, 12, fullCaptions)
	want := tripletsOf(t, clip)
	for name, order := range map[string]restore.Field{"frames": restore.BothFields, "fields": restore.TopField} {
		t.Run(name, func(t *testing.T) {
			o := restore.Options{
				Convert: pipeline.Options{
					Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.mp4")},
					Compute: pipeline.Compute{Backend: pipeline.CPU},
				},
				SmartCopy: true, FieldOrder: order,
			}
			var err error
			if o.Damage, err = restore.ParseFrames("0,5-6"); err != nil {
				t.Fatal(err)
			}
			if _, err := restore.Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if got := tripletsOf(t, o.Convert.Output.File); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("captions % x, want % x", got, want)
			}
		})
	}
}
