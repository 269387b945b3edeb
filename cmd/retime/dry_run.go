package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"retime/pipeline"
	"retime/pipeline/evaluate"
	"retime/pipeline/restore"
	"retime/pipeline/segment"
)

// previewed previews a conversion, whose output is to be called name, and prints that. It returns the
// time that the conversion would take, 0 if that is not known.
func previewed(ctx context.Context, w io.Writer, name string, o pipeline.Options) (time.Duration, error) {
	p, err := pipeline.NewPreview(ctx, o)
	if err != nil {
		return 0, err
	}
	printPreview(w, name, p)
	return p.Time, nil
}

// printPreview prints what would be written, how many frames would be shot and made, what becomes of the
// other streams, and the rough size and time.
func printPreview(w io.Writer, name string, p *pipeline.Preview) {
	fmt.Fprintf(w, "%s: %s, %s, %dx%d %s, %s fps\n", name, p.Container, p.Encoder, p.Width, p.Height, p.Written, rateText(p.Rate))
	if p.Frames > 0 {
		held := ""
		if p.Held > 0 {
			held = fmt.Sprintf(", %d held", p.Held)
		}
		fmt.Fprintf(w, "%s: %d as shot, %d made%s\n", counted(p.Frames, "frame"), p.Shot, p.Frames-p.Shot-p.Held, held)
	} else {
		fmt.Fprintln(w, "the number of frames is not known before")
	}
	for _, s := range p.Streams {
		fmt.Fprintf(w, "stream %d, %s: %s\n", s.Index, s.Kind, fateText(s.Codec, s.Written, s.Encoded))
	}
	if p.Frames > 0 {
		took := ""
		if p.Time > 0 {
			took = " in " + roughly(p.Time)
		}
		fmt.Fprintf(w, "about %.2g MB%s, by a trial of %s on %s\n", float64(p.Bytes)/1e6, took, counted(p.Trial, "frame"), backendText(p.Backend))
	}
}

func fateText(codec, written string, encoded bool) string {
	switch {
	case written == "":
		return codec + ", left out"
	case encoded:
		return codec + ", encoded as " + written
	case written != codec:
		return codec + ", written as " + written
	}
	return codec + ", copied"
}

func backendText(b pipeline.Backend) string {
	if b == pipeline.CUDA {
		return "the GPU"
	}
	return "the CPU"
}

// roughly formats a time that is not known to the second.
func roughly(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1g s", max(d.Seconds(), 0.1))
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// dryRunRestore prints what a restoration would write. Its time is not known, as the trial makes no frames.
func dryRunRestore(ctx context.Context, w io.Writer, report *restore.Report, o pipeline.Options) error {
	o.Input.Deinterlace = pipeline.IgnoreFields // frames are written as they are coded
	p, err := pipeline.NewPreview(ctx, o)
	if err != nil {
		return err
	}
	p.Frames, p.Held, p.Time = report.Frames, 0, 0
	p.Shot = report.Frames - report.Made
	printPreview(w, o.Output.File, p)
	return nil
}

// dryRunSegments prints which of some ranges of a plan would be made, and how long that takes.
func dryRunSegments(ctx context.Context, w io.Writer, plan *segment.Plan, dir string, ranges []int, local pipeline.Options) error {
	status := plan.Status(dir, false)
	var frames int64
	for _, i := range ranges {
		r, what := status.Segments[i], "would be made"
		if r.State == segment.Done {
			what = "done already"
		} else {
			frames += r.Frames
		}
		fmt.Fprintf(w, "segment %d of %d, frames %d to %d: %s\n", i, len(plan.Ranges), r.First, r.First+r.Frames, what)
	}
	if frames == 0 {
		return nil
	}
	p, err := pipeline.NewPreview(ctx, plan.Conversion(local))
	if err != nil {
		return err
	}
	if p.Frames > 0 {
		fmt.Fprintf(w, "about %s, by a trial of %s on %s\n", roughly(p.Time*time.Duration(frames)/time.Duration(p.Frames)), counted(p.Trial, "frame"), backendText(p.Backend))
	}
	return nil
}

// dryRunEvaluate prints what an evaluation would write, and how long that takes, by a trial of the first
// frames.
func dryRunEvaluate(ctx context.Context, w io.Writer, e evaluate.Options) error {
	dir, trial := e.Dir, max(10, 2*e.Every)+1
	e.Dir = ""
	if e.MaxFrames == 0 || e.MaxFrames > trial {
		e.MaxFrames = trial
	}
	begun := time.Now()
	r, err := evaluate.Run(ctx, e)
	if err != nil {
		return err
	}
	each := time.Since(begun) / time.Duration(max(len(r.Frames), 1))
	var methods []string
	for _, m := range r.Methods {
		methods = append(methods, m.Name)
	}
	for _, name := range evaluate.Files {
		fmt.Fprintln(w, filepath.Join(dir, name))
	}
	fmt.Fprintf(w, "%s: %s\n", counted(int64(len(methods)), "method"), strings.Join(methods, ", "))
	fmt.Fprintf(w, "about %s for each frame held out, by a trial of %s\n", roughly(each), counted(int64(len(r.Frames)), "frame"))
	return nil
}
