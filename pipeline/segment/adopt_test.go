package segment

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"retime/pipeline"
)

// After an edit, only the ranges that it reaches are made again, and the joined frames are
// those of one run.
func TestAdopt(t *testing.T) {
	o, dir := options(clip(t)), filepath.Join(t.TempDir(), "segments")
	ctx, cut := context.Background(), true
	before := newPlan(t, o, 8)
	made := func(p *Plan) (n int) {
		t.Helper()
		for i := range p.Ranges {
			_, made, err := p.Make(ctx, dir, i, o)
			if err != nil {
				t.Fatal(err)
			}
			if made {
				n++
			}
		}
		return n
	}
	if n := made(before); n != 8 {
		t.Fatalf("%d ranges were made, want 8", n)
	}
	border := before.Ranges[4].First
	fast := []pipeline.Decision{{Frame: border - 1, Preset: pipeline.Fast}, {Frame: border, Preset: pipeline.Fast}}
	for _, c := range []struct {
		name      string
		decisions []pipeline.Decision
		least     int // ranges to make again
		most      int
	}{
		{"a method", []pipeline.Decision{{Frame: before.Ranges[2].First + 3, Method: pipeline.Nearest}}, 1, 1},
		{"another line", []pipeline.Decision{{Frame: before.Ranges[2].First + 3, Method: pipeline.Nearest, Line: 7}}, 0, 0},
		{"a cut at a border", []pipeline.Decision{{Frame: border, Cut: &cut}}, 3, 6},
		{"no decision", nil, 2, 5},
		{"presets on both sides of a border", fast, 2, 2},
		{"a shutter", append(slices.Clone(fast), pipeline.Decision{Frame: before.Ranges[1].First, Shutter: "180"}), 1, 1},
		{"another shutter", append(slices.Clone(fast), pipeline.Decision{Frame: before.Ranges[1].First, Shutter: "90"}), 1, 1},
	} {
		o.Synthesis.Decisions = c.decisions
		after := newPlan(t, o, 8)
		there, err := after.Adopt(ctx, dir, before)
		if err != nil {
			t.Fatal(err)
		}
		if n := made(after); n != 8-there || n < c.least || n > c.most {
			t.Errorf("%s: %d ranges were adopted and %d made again, want %d to %d", c.name, there, n, c.least, c.most)
		}
		local := o
		local.Output.File = filepath.Join(t.TempDir(), "joined.mkv")
		if _, err := after.Join(ctx, dir, local); err != nil {
			t.Fatal(err)
		}
		var digests [][]Hash
		for i := range after.Ranges {
			m, err := after.check(dir, after.ID(), i, true)
			if err != nil {
				t.Fatal(err)
			}
			digests = append(digests, m.Digests)
		}
		if Sum(digests...) != whole(t, o, filepath.Join(t.TempDir(), "whole.mkv")) {
			t.Errorf("%s: the frames are not those of one run", c.name)
		}
		if packets, _ := filepath.Glob(filepath.Join(dir, "*.packets")); len(packets) != 8 {
			t.Errorf("%s: %d files of packets for 8 ranges", c.name, len(packets))
		}
		before = after
	}
	fewer, longer := options(o.Input.File), filepath.Join(t.TempDir(), "segments")
	older := newPlan(t, o, 8)
	for i := range older.Ranges {
		if _, _, err := older.Make(ctx, longer, i, o); err != nil {
			t.Fatal(err)
		}
	}
	if there, err := newPlan(t, fewer, 3).Adopt(ctx, longer, older); err != nil || there != 0 {
		t.Errorf("%d ranges of another length were adopted: %v", there, err)
	}
	if left, _ := filepath.Glob(filepath.Join(longer, "*")); len(left) != 0 {
		t.Errorf("%q is left of a plan of more ranges", left)
	}
	o.Synthesis.Preset = pipeline.Balanced
	if there, err := newPlan(t, o, 8).Adopt(ctx, dir, before); err != nil || there != 0 {
		t.Errorf("%d ranges of another preset were adopted: %v", there, err)
	}
}
