package stages

import (
	"context"

	"retime/frame"

	"retime/pipeline/synth"
	"retime/warp"
)

// sample is a Synthesizer that makes no frames. It keeps the first intervals with their frames and
// the phases of the wanted frames.
type sample struct {
	seen      int64 // number of intervals so far
	intervals []warp.Interval
	jobs      []*kept // one for each interval
	held      []*frame.Frame
}

func (s *sample) Assign(int, int) synth.Assignment { return synth.Assignment{} }

func (s *sample) Prepare(_ context.Context, _ synth.Assignment, of synth.Interval, _ int) (synth.Job, error) {
	if s.seen++; len(s.intervals) == sampled {
		return skipped{}, nil
	}
	in, err := of.Host()
	if err != nil {
		return nil, err
	}
	for _, f := range []*frame.Frame{in.A, in.B} {
		s.held = append(s.held, f.Retain())
	}
	for _, o := range []*warp.Outer{in.Before, in.After} {
		if o != nil {
			s.held = append(s.held, o.Frame.Retain())
		}
	}
	job := new(kept)
	s.intervals, s.jobs = append(s.intervals, in), append(s.jobs, job)
	return job, nil
}

func (s *sample) Ahead(int) (intervals, frames int) { return 0, 1 }
func (s *sample) Memory() frame.Memory              { return nil }
func (s *sample) Flow() []synth.FlowSource          { return nil }
func (s *sample) Summary() synth.Summary            { return synth.Summary{} }
func (s *sample) Close()                            {}

func (s *sample) release() {
	for _, f := range s.held {
		f.Release()
	}
}

// skipped is the Job of an interval that is not kept.
type skipped struct{}

func (skipped) Start(context.Context, *frame.Frame, warp.Phase) (func() (warp.Made, error), error) {
	return func() (warp.Made, error) { return warp.Made{}, nil }, nil
}

func (skipped) Close() {}

// kept is the Job of an interval that is kept.
type kept struct{ phases []warp.Phase }

func (k *kept) Start(_ context.Context, _ *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	k.phases = append(k.phases, phase)
	return func() (warp.Made, error) { return warp.Made{}, nil }, nil
}

func (k *kept) Close() {}
