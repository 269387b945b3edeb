package segment

import (
	"context"

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
	// start prepares for the part's first frame.
	start(clip *pipeline.Clip, memory frame.Memory) error
	// finish completes what is written, after all frames.
	finish() error
	// abort frees what start has made.
	abort()
}

// discard is a partSink that drops the frames.
type discard struct{ media.Discard }

func (discard) start(*pipeline.Clip, frame.Memory) error { return nil }
func (discard) finish() error                            { return nil }
func (discard) abort()                                   {}

// runPart makes the frames of range r of the conversion that o and whole describe, and
// passes them to sink. The frames are those of one run, whatever the ranges are. If r ends
// at whole.Frames, runPart makes all frames to the end of the input. Damage that ends the
// input early is an error.
func runPart(ctx context.Context, o pipeline.Options, whole *Outline, r Range, sink partSink) (*pipeline.Report, error) {
	report, err := makePart(ctx, o, whole, r, sink)
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
	clock := clip.Plan.Clock
	part := pipeline.Part{Pass: &clip.Plan.Passes[0], First: r.First, End: timeline.Endless, Start: clock.At(clip.Source.Video().StreamPTS)}
	if r.Start != nil {
		part.Start = clock.Exact(*r.Start)
	}
	last := r.End >= whole.Frames
	clip.Plan.Total = whole.Frames - r.First
	if !last {
		part.End, clip.Plan.Total = r.End, r.End-r.First
	}
	var line *stages.Line
	err = clip.Frames(ctx, part, clip.Pictures(), func(source pipeline.Source, want stages.Range) error {
		line = clip.Line(sink, s)
		return line.Run(ctx, source, part.Pass, want)
	})
	if err != nil {
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
