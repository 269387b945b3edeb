package stages

import (
	"cmp"
	"context"
	"sync"

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

// estimate passes intervals on in order while workers estimate their flow: on the device
// that makes the interval's frames, or else on the CPU. At most ahead intervals wait after
// it.
func (r *run) estimate(s *stages, from <-chan *Interval, ahead int) stage[*estimate] {
	lanes := make([]chan *estimate, max(1, len(r.synth.Flow())))
	for i := range lanes {
		// Neither device waits for intervals of the other: there is room for all that wait
		// after this stage, on either side of the queue, too.
		lanes[i] = make(chan *estimate, ahead+2)
	}
	for i := range max(len(lanes), r.params.Flow.Workers) {
		lane := i % len(lanes)
		s.start(func(ctx context.Context) error { return r.estimateFlow(ctx, lane, lanes[lane]) })
	}
	return func(ctx context.Context, emit func(*estimate) error) error {
		defer func() {
			for _, jobs := range lanes {
				close(jobs)
			}
		}()
		for v := range from {
			v.assigned = r.synth.Assign(r.makes(v), r.pixels())
			e := &estimate{Interval: v, done: make(chan struct{})}
			if !v.moves {
				close(e.done)
				if err := emit(e); err != nil {
					return err
				}
				continue
			}
			v.retain() // for the worker
			if err := emit(e); err != nil {
				v.Release()
				return err
			}
			lanes[v.assigned.Device()] <- e
		}
		return nil
	}
}

// makes returns how many frames of v are made at most.
func (r *run) makes(v *Interval) (n int) {
	for _, t := range v.Targets {
		if t.Phase != 0 && r.holds(t.Index) {
			n++
		}
	}
	return n
}

// estimateFlow estimates the flow of intervals, both ways at once. A run beside the first one,
// which may have few intervals or none, opens its estimator when one comes.
func (r *run) estimateFlow(ctx context.Context, device int, jobs <-chan *estimate) (err error) {
	var e *motion.Estimator
	open := sync.OnceFunc(func() { e, err = r.estimator(ctx, device) })
	if r.number == 0 {
		open()
	}
	layers := layerEstimator{workers: r.params.Flow.Share}
	defer layers.close()
	for job := range jobs {
		open()
		if job.err = cmp.Or(err, ctx.Err()); job.err == nil {
			stop := r.times.flow.start()
			if job.err = estimateInterval(e, job.Interval, &r.params); job.err == nil {
				job.err = layers.estimate(ctx, job.Interval, r.scale.Level)
			}
			stop()
		}
		close(job.done)
		job.Release()
	}
	if e != nil {
		e.Close()
	}
	return err
}

// estimator opens an estimator on a device, or on the CPU if there is no device.
func (r *run) estimator(ctx context.Context, device int) (*motion.Estimator, error) {
	if devices := r.synth.Flow(); len(devices) > 0 {
		return r.params.Flow.DeviceEstimator(ctx, devices[device])
	}
	return r.params.Flow.Estimator(ctx)
}

func estimateInterval(e *motion.Estimator, v *Interval, p *Params) (err error) {
	if v.Extend != nil {
		v.found.continued, err = estimateContinuation(e, v, p)
		return err
	}
	flow, err := e.Estimate(v.A.Guide, v.B.Guide)
	if err != nil {
		return err
	}
	v.found.flows = []motion.Flow{v.keepFlow(flow)}
	v.found.change = flow.Change()
	for i, c := range v.Around {
		a, b := c.Guide, v.A.Guide
		if i > 0 {
			a, b = v.B.Guide, c.Guide
		}
		flow, err := e.Estimate(a, b)
		if err != nil {
			return err
		}
		v.found.outward[i] = &outer{guide: c.Guide, frame: c.Frame, flow: v.keepFlow(flow), back: i == 0, span: c.Span}
	}
	return nil
}

// leastContinued is the confidence below which motion is not continued beyond an end.
const leastContinued = 0.3

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
func estimateContinuation(e *motion.Estimator, v *Interval, p *Params) (*continuation, error) {
	near, far := v.A.Guide, v.Extend.Guide
	flow, err := e.Estimate(near, far)
	if err != nil {
		return nil, err
	}
	defer flow.Release()
	flows, err := flow.Fields()
	if err != nil {
		return nil, err
	}
	m := &continuation{FlowPair: flows, change: flow.Change()}
	m.residual = warp.MeanError(p.Flow.Share, near.Picture(), far.Picture(), m.Forward)
	if m.change.CutScore() >= p.SceneThreshold || confidence(warp.Made{Residual: m.residual}, m.change) < leastContinued {
		return nil, nil
	}
	return m, nil
}
