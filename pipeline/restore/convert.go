package restore

import (
	"context"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore/fields"
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
	if repairs.marked != BothFields {
		clip.Source.Interlace(repairs.marked == TopField, false)
	} else if repairs.stated != BothFields && !smart { // copied packets are not marked
		clip.Source.Interlace(repairs.stated == TopField, true)
	}
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

// keepChannels has whole frames keep all channels of the pictures; see pipeline.Clip.KeepChannels.
func (r *restoration) keepChannels(ctx context.Context, writing *media.WriterOptions) error {
	switch {
	case r.repairs.weave == nil:
		return r.clip.KeepChannels(ctx, writing)
	case len(r.clip.Options.Output.Channels) > 0:
		return fault.New(fault.Usage, "Output.Channels: fields are restored in colour alone; Input.Deinterlace off takes frames as they are")
	}
	return nil
}

// encode makes and encodes all frames.
func (r *restoration) encode(ctx context.Context, s synth.Synthesizer) (*pipeline.Report, error) {
	o := &r.clip.Options
	writing := r.writerOptions(s)
	if err := r.keepChannels(ctx, &writing); err != nil {
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
	timing := *r.clip.Plan
	run := func(source stages.Source, sink stages.Sink) (pipeline.Result, error) {
		line := o.Line(&timing, sink, s)
		line.CountFrom(at.pictures)
		err := line.RunSchedule(ctx, source, &timing.Passes[0], r.schedule(timing.Clock, at.made), stages.Whole())
		return line.Result(), err
	}
	w := r.repairs.weave
	if w == nil {
		return run(source, sink)
	}
	pictures, weaver := fields.NewSource(source, w, o.Compute.Workers()), fields.NewSink(sink, w)
	defer pictures.Close()
	defer weaver.Close()
	pictures.CountFrom(at.frame)
	weaver.CountFrom(at.frame)
	timing.Clock = timeline.NewStatedClock(fields.Video(r.clip.Source.Video()))
	result, err := run(pictures, weaver)
	result.Sources, result.Frames = pictures.Frames(), weaver.Frames()
	return result, err
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
