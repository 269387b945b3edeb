package pipeline

import (
	"context"
	"slices"
	"time"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
)

// Convert makes one frame for each of the timestamps, from the two frames of
// source around it, and writes them to sink in order. Timestamps are in source's
// time base and ascend. One that is a frame's own is that frame; the first and the
// last frame stand in where nothing comes before or after them, and timestamps
// behind the last one's end get no frame.
//
// Of o only what says how frames are made counts (Mode, Flow, Preset, Order,
// Backend, Threads), with Log, Progress, and Input for messages. Damage that
// ends source early is returned as an error beside the report. Errors carry a
// fault.Kind.
func Convert(ctx context.Context, source Source, sink Sink, timestamps []int64, o Options) (*Report, error) {
	report, err := convert(ctx, source, sink, timestamps, o)
	if err != nil && ctx.Err() != nil {
		return report, fault.Cancel(ctx, "cancelled")
	}
	return report, err
}

func convert(ctx context.Context, source Source, sink Sink, timestamps []int64, o Options) (*Report, error) {
	began := time.Now()
	if err := o.settle(); err != nil {
		return nil, err
	}
	if len(timestamps) == 0 || !slices.IsSorted(timestamps) {
		return nil, fault.New(fault.Usage, "timestamps must be at least one and ascend")
	}
	synth, err := newSynthesizer(&o)
	if err != nil {
		return nil, err
	}
	defer synth.Close()
	video := source.Video()
	c := &conversion{o: &o, plan: newPlanAt(video, timestamps), source: source, sink: sink, synth: synth}
	damage, err := c.run(ctx)
	if err != nil {
		return nil, err
	}
	report := &Report{
		Width: video.Width, Height: video.Height, Format: video.Source, Sources: c.sources, Frames: c.frames, Made: c.made, Cuts: c.cuts,
		Stages: c.times.stages(), Elapsed: time.Since(began),
	}
	describeBackend(report, synth)
	return report, damage
}

// EstimateFlow returns the optical flow between two frames of one size, both
// ways, as Convert estimates it with the same options. The fields' grid is the
// frames', halved (rounding up) as often as the preset does. Modes that use no
// flow are a fault.Usage error.
func EstimateFlow(a, b *frame.Frame, o Options) (forward, backward flow.Field, err error) {
	v, err := estimatePair(a, b, o)
	if err != nil {
		return forward, backward, err
	}
	return v.flows[0].Forward, v.flows[0].Backward, nil
}

// CutScore says from 0 to 1 how surely a scene cut lies between two frames of
// one size, as Convert judges it with the same options: it is one from
// DefaultSceneThreshold on. Modes that use no flow are a fault.Usage error.
func CutScore(a, b *frame.Frame, o Options) (float64, error) {
	v, err := estimatePair(a, b, o)
	if err != nil {
		return 0, err
	}
	return measureChange(v.a.guide(), v.b.guide(), v.flows[0]).cutScore(), nil
}

// estimatePair returns the interval between two frames with its flow.
func estimatePair(a, b *frame.Frame, o Options) (*interval, error) {
	if err := o.settle(); err != nil {
		return nil, err
	}
	if !o.Synthesis.Mode.UsesFlow() {
		return nil, fault.New(fault.Usage, "Synthesis.Mode %s uses no optical flow", o.Synthesis.Mode)
	}
	e, err := newEstimators(&o)
	if err != nil {
		return nil, err
	}
	defer e.close()
	c := &conversion{o: &o, level: o.Synthesis.Preset.level(a.Width, a.Height)}
	v := &interval{a: picture{Frame: a, view: c.view(a)}, b: picture{Frame: b, view: c.view(b)}}
	return v, e.estimate(v)
}
