package segment

import (
	"context"
	"errors"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/timeline"
)

// partSink takes the frames of a part.
type partSink interface {
	pipeline.Sink
	// start prepares for the part's first frame. It is called again if the part starts again.
	start(clip *pipeline.Clip, memory frame.Memory) error
	// finish completes what is written, after all frames.
	finish() error
	// abort frees what start has made.
	abort()
}

// discard is a partSink that drops the frames.
type discard struct{ pipeline.Discard }

func (discard) start(*pipeline.Clip, frame.Memory) error { return nil }
func (discard) finish() error                            { return nil }
func (discard) abort()                                   {}

// runPart makes the frames of range r of the conversion that o and whole describe, and
// passes them to sink. The frames are those of one run, whatever the ranges are. If r ends
// at whole.Frames, runPart makes all frames to the end of the input. Damage that ends the
// input early is an error.
func runPart(ctx context.Context, o pipeline.Options, whole *Outline, r Range, sink partSink) (*pipeline.Report, error) {
	report, err := makePart(ctx, o, whole, r, sink)
	if errors.Is(err, stages.ErrLate) { // the file's index is not exact
		r.Start = nil
		report, err = makePart(ctx, o, whole, r, sink)
	}
	return report, fault.Interrupted(ctx, err)
}

func makePart(ctx context.Context, o pipeline.Options, whole *Outline, r Range, sink partSink) (*pipeline.Report, error) {
	clip, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	if r.First < 0 || r.First >= r.End || r.First >= whole.Frames {
		return nil, fault.New(fault.Usage, "frames %d to %d of %d: no such range", r.First, r.End, whole.Frames)
	}
	s, err := clip.Options.Synthesizer()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	defer sink.abort()
	if err := sink.start(clip, s.Memory()); err != nil {
		return nil, err
	}
	source, closeSource, err := openAt(ctx, clip, r.Start)
	if err != nil {
		return nil, err
	}
	defer closeSource()
	pass := &clip.Plan.Passes[0]
	each := pass.Layout.Subframes()
	last := r.End >= whole.Frames
	want := stages.Range{First: r.First * each, End: timeline.Endless, Midway: source.Video().FirstPTS != clip.Source.Video().FirstPTS}
	clip.Plan.Total = whole.Frames - r.First
	if !last {
		want.End, clip.Plan.Total = r.End*each, r.End-r.First
	}
	line := clip.Line(sink, s)
	if err := line.Run(ctx, source, pass, want); err != nil {
		return nil, err
	}
	result := line.Result()
	short := !last && result.Frames < r.End-r.First
	switch {
	case result.Cutoff != nil && (last || short): // otherwise the damage lies after the part
		return nil, result.Cutoff
	case short:
		return nil, whole.endsWith(o.Input.File, r.First+result.Frames)
	}
	if err := sink.finish(); err != nil {
		return nil, err
	}
	return clip.Report(result, s.Summary(), "", ""), nil
}

// endsWith returns the error for an input that gives fewer frames than planned.
func (whole *Outline) endsWith(input string, frames int64) error {
	return fault.New(fault.BadData, "input %q ends with frame %d of the output; %d are planned", input, frames, whole.Frames)
}

// openAt opens the clip's input a second time, to read from the timestamp start on. It
// returns the clip's own reader if start is nil, or if the stream has another format at
// start: the pictures are then converted as from the first one on.
func openAt(ctx context.Context, clip *pipeline.Clip, start *int64) (r *media.Reader, closeReader func(), err error) {
	if start == nil {
		return clip.Source, func() {}, nil
	}
	o := clip.ReaderOptions()
	o.From, o.ProbeFields = media.Start{At: clip.Plan.Clock.Exact(*start)}, false
	if r, err = media.Open(ctx, clip.Options.Input.File, o); err != nil {
		return nil, nil, err
	}
	a, b := r.Video(), clip.Source.Video()
	if a.Width != b.Width || a.Height != b.Height || a.Source != b.Source || a.Format != b.Format {
		r.Close()
		return clip.Source, func() {}, nil
	}
	r.CaptionFor(clip.Source)
	return r, r.Close, nil
}
