package segment

import (
	"context"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// files returns the content of the files in a directory.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range left(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(b)
	}
	return all
}

// A run over ranges makes the files that each range alone gives, and leaves alone what is
// there.
func TestRunMakesWhatEachRangeGives(t *testing.T) {
	input := clip(t)
	for name, set := range map[string]func(o *pipeline.Options){
		"rate":      func(*pipeline.Options) {},
		"slow part": func(o *pipeline.Options) { o.Timing.Slow, o.Timing.To = big.NewRat(5, 2), big.NewRat(2, 1) },
		"repeats":   func(o *pipeline.Options) { o.Synthesis.Duplicates = pipeline.RetimeDuplicates },
		"b-frames": func(o *pipeline.Options) { // of an encoder that makes the same bytes of the same frames
			o.Output.VideoCodec, o.Output.VideoOptions = "mpeg4", map[string]string{"bf": "2"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(input)
			set(&o)
			p := newPlan(t, o, 6)
			each, run := filepath.Join(t.TempDir(), "each"), filepath.Join(t.TempDir(), "run")
			local := pipeline.Options{Compute: pipeline.Compute{Threads: 2}} // packets depend on it
			alone := func(dir string, order ...int) {
				for _, i := range order {
					if _, made, err := p.Make(t.Context(), dir, i, local); err != nil || !made {
						t.Fatalf("range %d: %v, %v", i, made, err)
					}
				}
			}
			alone(each, 5, 4, 3, 2, 1, 0)
			alone(run, 2, 0)
			var there []int
			total := p.Ranges[5].End - p.Ranges[1].First
			last := int64(0)
			local.Hooks.Progress = func(at pipeline.Progress) {
				if at.Frames <= last || at.Frames > total || at.Total != total {
					t.Errorf("frame %d of %d after %d, want %d in all", at.Frames, at.Total, last, total)
				}
				last = at.Frames
			}
			err := p.MakeRun(t.Context(), run, 1, 6, local, func(m *Manifest, made bool) {
				there = append(there, m.Index)
				if made != (m.Index != 2) {
					t.Errorf("range %d: made is %v", m.Index, made)
				}
			})
			if err != nil || last != total {
				t.Fatalf("%d of %d frames, %v", last, total, err)
			}
			if !slices.Equal(there, []int{1, 2, 3, 4, 5}) {
				t.Errorf("ranges %v", there)
			}
			if a, b := files(t, each), files(t, run); !maps.Equal(a, b) {
				t.Errorf("the run gives %v, each range %v", slices.Sorted(maps.Keys(b)), slices.Sorted(maps.Keys(a)))
			}
		})
	}
}

// Neighbours share the pictures around their borders.
func TestRunReadsBordersOnce(t *testing.T) {
	p := newPlan(t, options(clip(t)), 6)
	pictures := func(dir string, runs ...int) (n int64) {
		for i := range len(runs) - 1 {
			report, err := p.makeRun(t.Context(), dir, runs[i], runs[i+1], pipeline.Options{}, func(*Manifest, bool) {})
			if err != nil {
				t.Fatal(err)
			}
			n += report.Sources
		}
		return n
	}
	if one, six := pictures(t.TempDir(), 0, 6), pictures(t.TempDir(), 0, 1, 2, 3, 4, 5, 6); one != 100 || six <= one {
		t.Errorf("one run reads %d pictures of 100, six read %d", one, six)
	}
}

// A run that is cancelled keeps the ranges that are whole, and the next one makes the rest.
func TestCancelledRunKeepsWholeRanges(t *testing.T) {
	p := newPlan(t, options(clip(t)), 4)
	dir := filepath.Join(t.TempDir(), "segments")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	local := pipeline.Options{Hooks: pipeline.Hooks{Progress: func(at pipeline.Progress) {
		if at.Frames == p.Ranges[2].First+1 {
			cancel()
		}
	}}}
	if err := p.MakeRun(ctx, dir, 0, 4, local, func(*Manifest, bool) {}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
	if s := p.Status(dir, true); s.Done != 2 || s.Missing != 2 {
		t.Errorf("%+v", s)
	}
	if names := left(t, dir); len(names) != 4 {
		t.Errorf("%q are left", names)
	}
	made := 0
	if err := p.MakeRun(t.Context(), dir, 0, 4, pipeline.Options{}, func(_ *Manifest, now bool) {
		if now {
			made++
		}
	}); err != nil || made != 2 {
		t.Errorf("the next run made %d ranges, %v", made, err)
	}
}

// An input that ends before the last range gives no plan's frames, however its ranges are
// made.
func TestRunOfAShortInput(t *testing.T) {
	p := newPlan(t, options(clip(t)), 4)
	for i := range p.Ranges {
		p.Ranges[i].First, p.Ranges[i].End = 2*p.Ranges[i].First, 2*p.Ranges[i].End
		p.Ranges[i].Start = nil
	}
	p.Whole.Frames *= 2
	dir := filepath.Join(t.TempDir(), "segments")
	if err := p.MakeRun(t.Context(), dir, 0, 4, pipeline.Options{}, func(*Manifest, bool) {}); fault.KindOf(err) != fault.BadData {
		t.Errorf("%v, want an error about the data", err)
	}
	if s := p.Status(dir, true); s.Done != 2 || s.Missing != 2 {
		t.Errorf("%+v", s)
	}
	for _, r := range [][2]int{{-1, 2}, {2, 2}, {2, 5}} {
		if err := p.MakeRun(t.Context(), dir, r[0], r[1], pipeline.Options{}, nil); fault.KindOf(err) != fault.Usage {
			t.Errorf("ranges %v: %v", r, err)
		}
	}
}
