package pipeline

import (
	"context"
	"slices"
	"time"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/stages"
	"retime/pipeline/timeline"
)

// Convert writes a frame to sink for each of the timestamps, in order. Timestamps are in units of
// source's time base and never fall. A timestamp that is a source frame's own gets that frame.
// One between two frames gets a frame made from both or, if they cannot be trusted, as across a
// scene cut, the nearer one. Timestamps before the first frame get the first, those after the
// last get the last until its Duration is over, and none after that.
//
// Of o, Synthesis, Compute, Hooks and Input.Tune count, and Input.File for messages. If damage ends source
// early, Convert returns the report with that error. Errors carry a fault.Kind, but those of
// source and sink are returned as they are. If ctx is cancelled, the error wraps ctx's, and sink
// may have got some of the frames.
func Convert(ctx context.Context, source Source, sink Sink, timestamps []int64, o Options) (*Report, error) {
	report, err := convert(ctx, source, sink, timestamps, o)
	return report, fault.Interrupted(ctx, err)
}

func convert(ctx context.Context, source Source, sink Sink, timestamps []int64, o Options) (*Report, error) {
	began := time.Now()
	settled, err := o.Settle()
	if err != nil {
		return nil, err
	}
	if len(timestamps) == 0 || !slices.IsSorted(timestamps) {
		return nil, fault.New(fault.Usage, "timestamps must be at least one and ascend")
	}
	s, err := settled.Synthesizer()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	video := source.Video()
	plan := timeline.NewPlanAt(video, timestamps)
	line, pass := settled.Line(plan, sink, s), &plan.Passes[0]
	if err := line.Run(ctx, source, pass, stages.Whole()); err != nil {
		return nil, err
	}
	if err := o.finish(line, pass); err != nil {
		return nil, err
	}
	r := line.Result()
	return newReport(r, s.Summary(), video, began), r.Cutoff
}

// EstimateFlow returns the optical flow between two frames of one size, both
// ways, as Convert estimates it with the same options. The fields' grid is the
// frames', halved (rounding up) as often as the preset does. Modes that use no
// flow are a fault.Usage error. Flow from files is estimated by DIS, because the frames
// have no numbers. If ctx is cancelled, a command that estimates the flow is ended, and the error wraps ctx's.
func EstimateFlow(ctx context.Context, a, b *frame.Frame, o Options) (forward, backward flow.Field, err error) {
	f, err := estimatePair(ctx, a, b, o)
	if err != nil {
		return forward, backward, err
	}
	defer f.Release()
	p, err := f.Fields()
	return p.Forward, p.Backward, err
}

// CutScore returns how surely there is a scene cut between two frames of one size, from 0 to 1, as
// Convert judges it with the same options. DefaultSceneThreshold and above is a cut. Modes that use no flow
// are a fault.Usage error. ctx is as for EstimateFlow.
func CutScore(ctx context.Context, a, b *frame.Frame, o Options) (float64, error) {
	f, err := estimatePair(ctx, a, b, o)
	if err != nil {
		return 0, err
	}
	defer f.Release()
	return f.Change().CutScore(), nil
}

// estimatePair returns the flow between two frames.
func estimatePair(ctx context.Context, a, b *frame.Frame, o Options) (motion.Flow, error) {
	settled, err := o.Settle()
	if err != nil {
		return nil, err
	}
	if !settled.Synthesis.Mode.UsesFlow() {
		return nil, fault.New(fault.Usage, "Synthesis.Mode %s uses no optical flow", settled.Synthesis.Mode)
	}
	e, err := settled.Estimator(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	scale := settled.Synthesis.Preset.Scale(a.Width, a.Height)
	f, err := e.Estimate(motion.NewGuide(a, scale), motion.NewGuide(b, scale))
	return f, fault.Interrupted(ctx, err)
}
