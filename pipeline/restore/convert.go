package restore

import (
	"context"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
)

// restoration is a clip along with the repairs to make in it.
type restoration struct {
	clip    *pipeline.Clip
	repairs *repairs
}

// restore writes o's output with the repairs, from an input whose frames have the
// timestamps stamps. If smart is set, it copies the packets that no repair changes.
func restore(ctx context.Context, o pipeline.Options, repairs *repairs, stamps []int64, smart bool) (*pipeline.Report, error) {
	open := pipeline.Open
	if smart {
		open = pipeline.OpenPackets
	}
	clip, err := openClip(ctx, o, open)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	if err := repairs.check(clip.Source.Video()); err != nil {
		return nil, err
	}
	repairs.mark(clip.Source, smart)
	s, err := clip.Options.Synthesizer()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	r := &restoration{clip, repairs}
	if smart {
		return r.smartCopy(ctx, stamps, s)
	}
	return r.encode(ctx, s)
}

// openClip opens a clip whose frames keep their times.
func openClip(ctx context.Context, o pipeline.Options, open func(context.Context, pipeline.Options) (*pipeline.Clip, error)) (*pipeline.Clip, error) {
	o.Timing.KeepTimestamps, o.Synthesis.Duplicates = true, pipeline.KeepDuplicates
	clip, err := open(ctx, o)
	if err == nil {
		clip.Plan.Total, clip.Plan.Gap = clip.Source.Video().Frames, nil // a gap may be long, because frames are missing
	}
	return clip, err
}

// encode makes and encodes all frames.
func (r *restoration) encode(ctx context.Context, s synth.Synthesizer) (*pipeline.Report, error) {
	o := &r.clip.Options
	writing := r.writerOptions(s)
	if err := r.repairs.keepChannels(ctx, r.clip, &writing); err != nil {
		return nil, err
	}
	writer, err := media.Create(ctx, o.Output.File, r.clip.Source, writing)
	if err != nil {
		return nil, err
	}
	defer writer.Abort()
	result, err := r.run(ctx, writer.Encoder, s)
	if err != nil {
		return nil, err
	}
	if result.Frames == 0 && result.Cutoff == nil {
		return nil, fault.New(fault.Usage, "every frame of %q is to be replaced; none is left to make them from", o.Input.File)
	}
	format := writer.PixelFormat()
	name, err := writer.Finish(result.Cutoff != nil)
	if err != nil {
		return nil, err
	}
	return r.clip.Report(result, s.Summary(), name, format), result.Partial(name)
}

// run makes all frames and passes them to sink.
func (r *restoration) run(ctx context.Context, sink pipeline.Sink, s synth.Synthesizer) (pipeline.Result, error) {
	return r.runFrom(ctx, &r.clip.Options, beginning{}, r.clip.Source, sink, s)
}

// beginning is where in a clip a source begins.
type beginning struct {
	frame    int64 // of the input
	pictures int64 // of the input before it
	made     int64 // pictures of the output before it
}

// runFrom makes the frames of a part of the clip, with the options o, and passes them to sink.
func (r *restoration) runFrom(ctx context.Context, o *pipeline.Settled, at beginning, source stages.Source, sink stages.Sink, s synth.Synthesizer) (pipeline.Result, error) {
	return r.repairs.run(r.clip, at, source, sink, func(source stages.Source, sink stages.Sink, clock *timeline.Clock) (pipeline.Result, error) {
		timing := *r.clip.Plan
		timing.Clock = clock
		line := o.Line(&timing, sink, s)
		line.CountFrom(at.pictures)
		err := line.RunSchedule(ctx, source, &timing.Passes[0], r.schedule(clock, at.made), stages.Whole())
		return line.Result(), err
	})
}

func (r *restoration) writerOptions(s synth.Synthesizer) media.WriterOptions {
	w := r.clip.WriterOptions(s.Memory())
	if list := r.repairs.numbers; len(list) > 0 {
		last := len(list) - 1
		w.Number = func(k int) int { return list[min(k, last)] + max(k-last, 0) }
	}
	return w
}

// schedule returns the schedule of the repairs; first is the number of the first picture.
func (r *restoration) schedule(clock *timeline.Clock, first int64) *schedule {
	o := &r.clip.Options
	return &schedule{
		repairs: r.repairs, clock: clock, workers: o.Compute.Workers(), next: first,
		motion: o.Synthesis.Mode.UsesFlow(), bends: o.Synthesis.Preset != pipeline.Fast,
	}
}
