// Package restoration measures the restoration of damaged frames on real clips, and compares it
// with FFmpeg's minterpolate.
package restoration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/restore"
)

// Options configure Run.
type Options struct {
	Clips   string // a pattern of file names, as for path/filepath.Match
	Keep    string // a directory to keep damaged clips and minterpolate's figures in for later runs; "" for none
	Seed    uint64 // decides which frames are damaged, and how
	Rival   string // more options for minterpolate, such as :scd=none
	Preset  pipeline.Preset
	Verbose bool // print each frame
	Fields  bool // measure fields of interlaced frames in place of frames
	// Kinds draws damage of each kind, progressive and woven, in place of all that, Rounds times into each clip of
	// at most Width pixels, and counts what is found in sound clips. Find names the kinds to draw and to look for.
	Kinds         bool
	Find          string
	Rounds, Width int
}

// study is the state of one Run.
type study struct {
	Options
	out  io.Writer
	work string // a temporary directory
	find []restore.Kind
}

func (s *study) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// note prints a line if the study is verbose.
func (s *study) note(format string, args ...any) {
	if s.Verbose {
		s.printf(format+"\n", args...)
	}
}

// Run spoils one frame in ten of each clip, has the damage found and repaired, and prints the table
// of docs/restoration.md. It then leaves frames out and counts how many of the gaps are found. It
// returns a fault.Mismatch error if the figures are worse than the limits. With o.Fields or o.Kinds, it
// prints their tables instead.
func Run(ctx context.Context, out io.Writer, o Options) error {
	clips, err := filepath.Glob(o.Clips)
	if err != nil {
		return fault.New(fault.Usage, "clips %q: %w", o.Clips, err)
	}
	if len(clips) == 0 {
		return fault.New(fault.NoInput, "no clip matches %q; name some that last a few seconds each", o.Clips)
	}
	find, err := restore.ParseKinds(o.Find)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "retime-bench-*")
	if err != nil {
		return fault.New(fault.CannotWrite, "%w", err)
	}
	defer os.RemoveAll(work)
	s := &study{o, out, work, find}
	if s.Keep == "" {
		s.Keep = work
	}
	if s.Kinds {
		return s.catalogue(ctx, clips)
	}
	if s.Fields {
		return s.fields(ctx, clips)
	}
	table := s.table(ctx, clips)
	if table != nil && fault.KindOf(table) != fault.Mismatch {
		return table
	}
	return errors.Join(table, s.jumps(ctx, clips))
}

// table prints a row for each clip, and the rates over all of them.
func (s *study) table(ctx context.Context, clips []string) error {
	s.printf("| clip | damaged | found | recall | precision | minterpolate | retime | others | sound |\n")
	s.printf("|---|---|---|---|---|---|---|---|---|\n")
	var all trial
	var worse []error
	for _, clip := range clips {
		d, err := damage(ctx, clip, s.Keep, s.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", clip, err)
		}
		rival, err := d.rival(ctx, s.Rival, s.work)
		if err != nil {
			return fmt.Errorf("%s: %w", clip, err)
		}
		got, err := s.restore(ctx, d)
		if err != nil {
			return fmt.Errorf("%s: %w", clip, err)
		}
		s.printf("%s\n", got.row(baseName(clip), rival))
		for i, n := range d.bad {
			s.note("frame %d, %s: minterpolate %.2f, retime %.2f dB", n, d.kinds[n], rival[i], got.db[i])
		}
		all.damaged, all.found, all.right = all.damaged+got.damaged, all.found+got.found, all.right+got.right
		if better := got.quality() - mean(rival); better < 0.5 {
			worse = append(worse, fault.New(fault.Mismatch, "%s: %+.2f dB over minterpolate, want 0.5", filepath.Base(clip), better))
		}
		if got.touched > 0 || got.sound == "changed" {
			worse = append(worse, fault.New(fault.Mismatch, "%s: %d sound frames touched, sound %s", filepath.Base(clip), got.touched, got.sound))
		}
	}
	recall, precision := all.rates()
	s.printf("recall %.3f, precision %.3f\n", recall, precision)
	if recall < 0.95 || precision < 0.95 {
		worse = append(worse, fault.New(fault.Mismatch, "recall %.3f, precision %.3f, want 0.95", recall, precision))
	}
	return errors.Join(worse...)
}

// trial is the result of a restoration.
type trial struct {
	damaged, found, right int
	touched               int       // sound frames that have changed
	db                    []float64 // PSNR of the restored frames
	sound                 string
}

func (s *study) restore(ctx context.Context, d *damaged) (*trial, error) {
	got := &trial{damaged: len(d.bad)}
	output := filepath.Join(s.work, "out.mkv")
	defer os.Remove(output)
	report, err := restore.Run(ctx, restore.Options{Detect: true, Convert: pipeline.Options{
		Input:     pipeline.Input{File: d.name},
		Output:    pipeline.Output{File: output, VideoCodec: "ffv1"},
		Compute:   pipeline.Compute{Backend: pipeline.CPU},
		Synthesis: pipeline.Synthesis{Preset: s.Preset},
	}})
	if err != nil {
		return nil, err
	}
	for _, f := range report.Findings {
		for n := f.First.Number; n <= f.Last.Number; n++ {
			got.found++
			if slices.Contains(d.bad, int(n)) {
				got.right++
			} else {
				s.note("found by mistake: %v", f)
			}
		}
	}
	n := 0
	err = each(ctx, output, func(f *frame.Frame) error {
		if n == len(d.hashes) {
			return fault.New(fault.Mismatch, "the restored clip has more than %d frames", n)
		}
		if want, bad := d.truth[n]; bad {
			got.db = append(got.db, lumaPSNR(f, want))
		} else if hash(f) != d.hashes[n] {
			got.touched++
		}
		n++
		return nil
	})
	if err == nil && n < len(d.hashes) {
		err = fault.New(fault.Mismatch, "the restored clip has %d frames of %d", n, len(d.hashes))
	}
	if err != nil {
		return nil, err
	}
	got.sound = "none"
	if before := soundHash(ctx, d.clip); before != "" {
		if got.sound = "same"; soundHash(ctx, output) != before {
			got.sound = "changed"
		}
	}
	return got, nil
}

func (r *trial) rates() (recall, precision float64) {
	return float64(r.right) / float64(r.damaged), float64(r.right) / float64(max(r.found, 1))
}

func (r *trial) quality() float64 { return mean(r.db) }

func (r *trial) row(name string, rival []float64) string {
	recall, precision := r.rates()
	return fmt.Sprintf("| %s | %d | %d | %.3f | %.3f | %.2f | %.2f (%+.2f) | %d touched | %s |",
		name, r.damaged, r.found, recall, precision, mean(rival), r.quality(), r.quality()-mean(rival), r.touched, r.sound)
}
