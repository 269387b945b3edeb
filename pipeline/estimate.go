package pipeline

import (
	"context"

	"retime/pipeline/motion"
	"retime/warp"
)

// estimate is an interval whose flow is being estimated.
type estimate struct {
	*Interval
	done chan struct{}
	err  error
}

// wait returns when the interval's flow is known or its estimation has failed.
func (e *estimate) wait(ctx context.Context) error {
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// estimate passes intervals on in order while workers estimate their flow.
func (r *run) estimate(s *stages, from <-chan *Interval) stage[*estimate] {
	jobs := make(chan *estimate)
	for range r.options.FlowWorkers() {
		s.start(func(ctx context.Context) error { return r.estimateFlow(ctx, jobs) })
	}
	return func(ctx context.Context, emit func(*estimate) error) error {
		defer close(jobs)
		for v := range from {
			e := &estimate{Interval: v, done: make(chan struct{})}
			if !v.moves {
				close(e.done)
				if err := emit(e); err != nil {
					return err
				}
				continue
			}
			v.retain() // for the worker
			err := emit(e)
			if err == nil {
				select {
				case jobs <- e:
					continue
				case <-ctx.Done():
					err = ctx.Err()
				}
			}
			v.Release()
			return err
		}
		return nil
	}
}

// estimateFlow estimates the flow of intervals, both ways at once.
func (r *run) estimateFlow(ctx context.Context, jobs <-chan *estimate) error {
	e, err := r.options.Estimator(ctx, r.synth.Flow())
	if err != nil {
		return err
	}
	defer e.Close()
	for job := range jobs {
		stop := r.times.flow.start()
		job.err = estimateInterval(e, job.Interval, r.options)
		stop()
		close(job.done)
		job.Release()
	}
	return nil
}

func estimateInterval(e *motion.Estimator, v *Interval, o *Options) (err error) {
	if v.Extend != nil {
		v.found.continued, err = estimateContinuation(e, v, o)
		return err
	}
	flows, err := e.Estimate(v.A.Guide, v.B.Guide)
	if err != nil {
		return err
	}
	v.found.flows = []warp.FlowPair{flows}
	v.found.change = motion.Measure(v.A.Guide, v.B.Guide, flows)
	if len(v.Around) == 0 {
		return nil
	}
	before, after := v.Around[0], v.Around[1]
	ahead, err := e.Estimate(before.Guide, v.A.Guide)
	if err != nil {
		return err
	}
	behind, err := e.Estimate(v.B.Guide, after.Guide)
	if err != nil {
		return err
	}
	outer := func(c ContextPicture, f *warp.Outer) *warp.Outer {
		f.Guide, f.Frame, f.Span = c.Guide.Picture(), c.Frame, c.Span
		return f
	}
	v.found.outward = []*warp.Outer{outer(before, &warp.Outer{Flow: ahead.Backward}), outer(after, &warp.Outer{Flow: behind.Forward})}
	return nil
}

// continuation is the motion from the picture at a clip's end to the next one, along
// which frames are made beyond the end.
type continuation struct {
	warp.FlowPair // from the end, and back
	change        motion.Change
	residual      float64 // grey levels
}

// confidence in the frame that lies so far beyond the end.
func (m *continuation) confidence(beyond warp.Phase) float64 {
	c := confidence(warp.Made{Residual: m.residual}, m.change)
	return c / (1 + float64(beyond)/warp.PhaseOne)
}

// estimateContinuation returns the motion that goes on beyond v's end, or nil if it
// cannot be told.
func estimateContinuation(e *motion.Estimator, v *Interval, o *Options) (*continuation, error) {
	near, far := v.A.Guide, v.Extend.Guide
	flows, err := e.Estimate(near, far)
	if err != nil {
		return nil, err
	}
	m := &continuation{FlowPair: flows, change: motion.Measure(near, far, flows)}
	m.residual = warp.MeanError(o.sharedWorkers(), near.Picture(), far.Picture(), m.Forward)
	if m.change.CutScore() >= *o.Synthesis.SceneThreshold || confidence(warp.Made{Residual: m.residual}, m.change) < DefaultBlendBelow {
		return nil, nil
	}
	return m, nil
}
