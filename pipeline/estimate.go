package pipeline

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"retime/flow"
	"retime/flow/opencv"
	"retime/pipeline/frame"
	"retime/warp"
)

// Estimator computes the optical flow from a to b, luma pictures of one size,
// into dst, whose memory it reuses. It is used by one goroutine at a time.
type Estimator interface {
	Estimate(a, b frame.Image[uint8], dst *flow.Field) error
	Close() error
}

// startedEstimator is an estimator that also tries the vectors of an initial flow
// of a's size.
type startedEstimator interface {
	Estimator
	EstimateFrom(a, b frame.Image[uint8], initial flow.Field, dst *flow.Field) error
}

// flowWorkers is how many intervals' flows are estimated at once. Each takes
// two threads, one for either direction.
func (o *Options) flowWorkers() int {
	return max(1, min(o.workers().Count()/2, maxFlowWorkers))
}

// maxFlowWorkers bounds the memory that estimators take.
const maxFlowWorkers = 8

func (o *Options) workers() frame.Workers { return frame.Workers{N: o.Threads} }

// shared is what each of flowWorkers goroutines has of the workers.
func (o *Options) shared() frame.Workers {
	return frame.Workers{N: max(1, o.workers().Count()/o.flowWorkers())}
}

// estimators are what one goroutine estimates flows with.
type estimators struct {
	workers frame.Workers
	first   pair
	// second, where the preset asks for one, differs in its faults and starts from
	// what block matching found.
	second *secondEstimate
}

// pair is two estimators, one for either direction.
type pair struct{ forward, backward Estimator }

func (p pair) close() {
	for _, e := range []Estimator{p.forward, p.backward} {
		if e != nil {
			e.Close()
		}
	}
}

// secondEstimate is another pair of estimators.
type secondEstimate struct {
	forward, backward startedEstimator
	matcher           flow.Matcher
	toB, toA          flow.Field
}

func newEstimators(o *Options) (*estimators, error) {
	e := &estimators{workers: o.shared()}
	if err := e.open(o); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *estimators) open(o *Options) (err error) {
	for _, to := range []*Estimator{&e.first.forward, &e.first.backward} {
		if *to, err = newEstimator(o); err != nil {
			return err
		}
	}
	if o.Flow == Farneback || o.Preset != Best {
		return nil
	}
	e.second = &secondEstimate{matcher: flow.Matcher{Workers: e.workers}}
	for _, to := range []*startedEstimator{&e.second.forward, &e.second.backward} {
		if *to, err = newStartedEstimator(o); err != nil {
			return err
		}
	}
	return nil
}

func newEstimator(o *Options) (e Estimator, err error) {
	var method string
	if o.Flow == Farneback {
		p := opencv.DefaultFarneback()
		e, err = opencv.NewFarneback(p)
		method = fmt.Sprintf("farneback %+v", p)
	} else {
		p := o.Preset.dis()
		e, err = opencv.NewDIS(p)
		method = fmt.Sprintf("dis %+v", p)
	}
	switch {
	case err != nil:
		return nil, err
	case o.FlowCache == "":
		return e, nil
	}
	return newFlowCache(e, o.FlowCache, method)
}

func newStartedEstimator(o *Options) (startedEstimator, error) {
	p := o.Preset.secondDIS()
	e, err := opencv.NewDIS(p)
	switch {
	case err != nil:
		return nil, err
	case o.FlowCache == "":
		return e, nil
	}
	return newStartedFlowCache(e, o.FlowCache, fmt.Sprintf("dis %+v", p))
}

func (e *estimators) close() {
	e.first.close()
	if e.second != nil {
		pair{e.second.forward, e.second.backward}.close()
	}
}

// estimate sets v's flows, both directions at once.
func (e *estimators) estimate(v *interval) error {
	a, b := v.a.guide, v.b.guide
	v.flows = make([]warp.FlowPair, 1, 2)
	first := &v.flows[0]
	err := together(
		func() error { return e.first.forward.Estimate(a, b, &first.Forward) },
		func() error { return e.first.backward.Estimate(b, a, &first.Backward) },
	)
	if err != nil {
		return err
	}
	if err := e.keepStill(a, b, first); err != nil {
		return err
	}
	if err := e.estimateOuter(v); err != nil || e.second == nil {
		return err
	}
	s := e.second
	if err := s.matcher.Suggest(warp.Halve(a), warp.Halve(b), first.Forward, first.Backward, &s.toB, &s.toA); err != nil {
		return err
	}
	v.flows = v.flows[:2]
	second := &v.flows[1]
	err = together(
		func() error { return s.forward.EstimateFrom(a, b, s.toB, &second.Forward) },
		func() error { return s.backward.EstimateFrom(b, a, s.toA, &second.Backward) },
	)
	if err != nil {
		return err
	}
	return e.keepStill(a, b, second)
}

// estimateOuter sets v's outer pictures' flows, where there are both.
func (e *estimators) estimateOuter(v *interval) error {
	before, after := v.a.outer[0], v.a.outer[1]
	if before.Frame == nil || after.Frame == nil {
		return nil
	}
	v.outer = [2]*warp.Outer{
		{Guide: before.guide, Frame: before.Frame, Span: before.span}, {Guide: after.guide, Frame: after.Frame, Span: after.span},
	}
	return together(
		func() error { return e.first.backward.Estimate(v.a.guide, before.guide, &v.outer[0].Flow) },
		func() error { return e.first.forward.Estimate(v.b.guide, after.guide, &v.outer[1].Flow) },
	)
}

func (e *estimators) keepStill(a, b frame.Image[uint8], p *warp.FlowPair) error {
	return flow.KeepStill(a, b, e.workers, p.Forward, p.Backward)
}

// together runs both at once.
func together(f, g func() error) error {
	var group errgroup.Group
	group.Go(f)
	group.Go(g)
	return group.Wait()
}
