package restoration

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore"
	"retime/pipeline/restore/fields"
)

// system is a kind of interlaced video.
type system struct {
	name, order, weave string
	width, height      int
	rate               string // of the fields
}

var systems = []system{
	{"PAL, top first", "tff", "interleave_top", 720, 576, "50"},
	{"NTSC, bottom first", "bff", "interleave_bottom", 720, 480, "60000/1001"},
}

// every is how many frames lie from one that loses fields to the next.
const every = 5

// fields weaves successive pictures of each clip into interlaced frames, restores some fields, and prints the luma
// PSNR of the made ones: of single fields, and of both fields of a frame; and beside it, for single
// fields, what the field of the same lines a frame before would give, and what retime makes if it gets no
// fields but those of the same lines.
func (s *study) fields(ctx context.Context, clips []string) error {
	s.printf("| clip | fields | held | same lines | one field | a frame's two | other fields |\n|---|---|---|---|---|---|---|\n")
	var all trial
	for i, clip := range clips {
		kind := systems[i%len(systems)]
		w, err := s.weave(ctx, clip, &kind)
		if err != nil {
			return fmt.Errorf("%s: %w", clip, err)
		}
		s.printf("| %s | %s | %.2f | %.2f | %.2f | %.2f | %s |\n", baseName(clip), kind.name, mean(w.held), mean(w.same), mean(w.one), mean(w.both), w.others())
		if w.touched > 0 {
			return fault.New(fault.Mismatch, "%s: %d sound fields touched", clip, w.touched)
		}
		if err := s.detectFields(ctx, &kind, len(w.held), &all); err != nil {
			return fmt.Errorf("%s: %w", clip, err)
		}
	}
	recall, precision := all.rates()
	s.printf("%d fields damaged, recall %.3f, precision %.3f\n", all.damaged, recall, precision)
	return nil
}

// detectFields spoils single fields and both of a frame at count places of the woven clip, by black or by what
// spoilSamples does, and counts how many are found.
func (s *study) detectFields(ctx context.Context, k *system, count int, all *trial) error {
	r, err := media.Open(ctx, filepath.Join(s.work, "woven.mkv"), media.ReaderOptions{})
	if err != nil {
		return err
	}
	defer r.Close()
	name := filepath.Join(s.work, "spoilt.mkv")
	w, err := create(ctx, name, r)
	if err != nil {
		return err
	}
	defer w.Abort()
	random := rand.New(rand.NewPCG(s.Seed, uint64(k.height)))
	lost, kinds := map[int]fields.Set{}, []restore.Kind{restore.Black, restore.Garbled}
	n := 0
	if err := frames(r, func(f *frame.Frame) error {
		put := f
		if n%every == every-1 && n/every < count {
			if put, err = w.NewFrame(f); err != nil {
				return err
			}
			defer put.Release()
			frame.Copy(put, f)
			lost[n] = []fields.Set{fields.Top, fields.Bottom, fields.Both}[n/every%3]
			for _, field := range []fields.Set{fields.Top, fields.Bottom} {
				if lost[n]&field != 0 {
					spoilSamples[uint8](random, fields.View(put, field), kinds[n/every%len(kinds)])
				}
			}
		}
		n++
		return w.WriteFrame(put, nil, nil)
	}); err != nil {
		return err
	}
	if _, err := w.Finish(false); err != nil {
		return err
	}
	report, err := restore.Run(ctx, restore.Options{Detect: true, DryRun: true, Convert: pipeline.Options{Input: pipeline.Input{File: name}, Compute: pipeline.Compute{Backend: pipeline.CPU}}})
	if err != nil {
		return err
	}
	for _, set := range lost {
		all.damaged += bits.OnesCount8(uint8(set))
	}
	for _, f := range report.Findings {
		if f.Kind == restore.Jump || f.Kind == restore.Gap {
			continue
		}
		set := map[restore.Field]fields.Set{restore.BothFields: fields.Both, restore.TopField: fields.Top, restore.BottomField: fields.Bottom}[f.First.Field]
		for n := f.First.Number; n <= f.Last.Number; n++ {
			all.found += bits.OnesCount8(uint8(set))
			all.right += bits.OnesCount8(uint8(set & lost[int(n)]))
		}
		s.note("found: %v", f)
	}
	return nil
}

// woven is what was measured of a clip.
type woven struct {
	held, same, one, both []float64
	touched               int
}

func (w *woven) others() string {
	if w.touched == 0 {
		return "identical"
	}
	return fmt.Sprintf("%d touched", w.touched)
}

func (s *study) weave(ctx context.Context, clip string, k *system) (*woven, error) {
	name := filepath.Join(s.work, "woven.mkv")
	if err := ffmpeg(ctx, "-i", clip, "-an", "-vf", fmt.Sprintf("scale=%d:%d:flags=bicubic,format=yuv420p,settb=AVTB,setpts=N/(%s*TB),fps=%[3]s,tinterlace=mode=%[4]s,setfield=%[5]s",
		k.width, k.height, k.rate, k.weave, k.order), "-c:v", "ffv1", name); err != nil {
		return nil, err
	}
	var truth []*frame.Frame
	if err := each(ctx, name, func(f *frame.Frame) error { truth = append(truth, f.Retain()); return nil }); err != nil {
		return nil, err
	}
	defer func() {
		for _, f := range truth {
			f.Release()
		}
	}()
	w := &woven{}
	one, both := map[int]fields.Set{}, map[int]fields.Set{}
	for n := every - 1; n < len(truth)-3; n += every {
		one[n], both[n] = fields.Top, fields.Both
		if n/every%2 == 1 {
			one[n] = fields.Bottom
		}
		w.held = append(w.held, lumaPSNR(fields.View(truth[n-1], one[n]), fields.View(truth[n], one[n])))
	}
	if len(one) == 0 {
		return nil, fault.New(fault.BadData, "too short")
	}
	var err error
	if w.one, err = s.remake(ctx, w, name, truth, one); err != nil {
		return nil, err
	}
	if w.both, err = s.remake(ctx, w, name, truth, both); err != nil {
		return nil, err
	}
	for _, field := range []fields.Set{fields.Top, fields.Bottom} {
		db, err := s.sameLines(ctx, name, truth, one, field)
		if err != nil {
			return nil, err
		}
		w.same = append(w.same, db...)
	}
	return w, nil
}

// remake restores the lost fields, and returns their PSNR.
func (s *study) remake(ctx context.Context, w *woven, name string, truth []*frame.Frame, lost map[int]fields.Set) (db []float64, err error) {
	marks := map[fields.Set]string{fields.Top: ".t", fields.Bottom: ".b", fields.Both: ""}
	output, err := s.restoreFrames(ctx, name, lost, func(n int) string { return fmt.Sprint(n, marks[lost[n]]) })
	if err != nil {
		return nil, err
	}
	defer os.Remove(output)
	n := 0
	err = each(ctx, output, func(f *frame.Frame) error {
		for _, field := range []fields.Set{fields.Top, fields.Bottom} {
			got, want := fields.View(f, field), fields.View(truth[n], field)
			switch {
			case lost[n]&field != 0:
				db = append(db, lumaPSNR(got, want))
			case !frame.Equal(got, want):
				w.touched++
			}
		}
		n++
		return nil
	})
	return db, err
}

// sameLines restores the lost top or bottom fields from the other fields of the same lines alone, as frames.
func (s *study) sameLines(ctx context.Context, name string, truth []*frame.Frame, lost map[int]fields.Set, field fields.Set) (db []float64, err error) {
	half := filepath.Join(s.work, "half.mkv")
	if err := ffmpeg(ctx, "-i", name, "-vf", "field="+map[fields.Set]string{fields.Top: "top", fields.Bottom: "bottom"}[field]+",setfield=prog", "-c:v", "ffv1", half); err != nil {
		return nil, err
	}
	of := map[int]fields.Set{}
	for n, f := range lost {
		if f == field {
			of[n] = f
		}
	}
	output, err := s.restoreFrames(ctx, half, of, func(n int) string { return fmt.Sprint(n) })
	if err != nil {
		return nil, err
	}
	defer os.Remove(output)
	n := 0
	err = each(ctx, output, func(f *frame.Frame) error {
		if of[n] != 0 {
			db = append(db, lumaPSNR(f, fields.View(truth[n], field)))
		}
		n++
		return nil
	})
	return db, err
}

// restoreFrames restores a file at the lost places, as place names them, and returns the name of the result.
func (s *study) restoreFrames(ctx context.Context, input string, lost map[int]fields.Set, place func(n int) string) (output string, err error) {
	var places []string
	for n := range lost {
		places = append(places, place(n))
	}
	list, err := restore.ParseFrames(strings.Join(places, ","))
	if err != nil {
		return "", err
	}
	output = filepath.Join(s.work, "remade.mkv")
	_, err = restore.Run(ctx, restore.Options{Damage: list, Convert: pipeline.Options{
		Input:     pipeline.Input{File: input},
		Output:    pipeline.Output{File: output, VideoCodec: "ffv1", Overwrite: true},
		Compute:   pipeline.Compute{Backend: pipeline.CPU},
		Synthesis: pipeline.Synthesis{Preset: s.Preset},
	}})
	return output, err
}
