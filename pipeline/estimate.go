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
	plain   pair
	started *startedEstimates // nil unless the preset asks for them
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

// startedEstimates are two estimates that differ in their faults, both started from
// what block matching finds where a flow of halved guides fits badly.
type startedEstimates struct {
	first, second startedPair
	matcher       flow.Matcher
	coarse        warp.FlowPair // of the halved guides
	along         warp.FlowPair // the same for the guides
	found         warp.FlowPair
}

type startedPair struct{ forward, backward startedEstimator }

// estimate sets dst to the flows between a and b, both directions at once.
func (p startedPair) estimate(a, b frame.Image[uint8], from, dst *warp.FlowPair) error {
	return together(
		func() error { return p.forward.EstimateFrom(a, b, from.Forward, &dst.Forward) },
		func() error { return p.backward.EstimateFrom(b, a, from.Backward, &dst.Backward) },
	)
}

// estimate is that of startedPair without a flow to start from.
func (p pair) estimate(a, b frame.Image[uint8], dst *warp.FlowPair) error {
	return together(
		func() error { return p.forward.Estimate(a, b, &dst.Forward) },
		func() error { return p.backward.Estimate(b, a, &dst.Backward) },
	)
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
	for _, to := range []*Estimator{&e.plain.forward, &e.plain.backward} {
		if *to, err = newEstimator(o); err != nil {
			return err
		}
	}
	if o.Flow == Farneback || o.Preset != Best {
		return nil
	}
	e.started = &startedEstimates{matcher: flow.Matcher{Workers: e.workers}}
	first, second := &e.started.first, &e.started.second
	for _, to := range []*startedEstimator{&first.forward, &first.backward} {
		if *to, err = newStartedEstimator(o, o.Preset.dis()); err != nil {
			return err
		}
	}
	for _, to := range []*startedEstimator{&second.forward, &second.backward} {
		if *to, err = newStartedEstimator(o, o.Preset.secondDIS()); err != nil {
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

func newStartedEstimator(o *Options, p opencv.DISOptions) (startedEstimator, error) {
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
	e.plain.close()
	if s := e.started; s != nil {
		pair{s.first.forward, s.first.backward}.close()
		pair{s.second.forward, s.second.backward}.close()
	}
}

// estimate sets v's flows.
func (e *estimators) estimate(v *interval) error {
	a, b := v.a.guide, v.b.guide
	if e.started == nil {
		v.flows = make([]warp.FlowPair, 1)
		if err := e.plain.estimate(a, b, &v.flows[0]); err != nil {
			return err
		}
	} else {
		v.flows = make([]warp.FlowPair, 2)
		if err := e.started.estimate(e.plain, a, b, v.flows); err != nil {
			return err
		}
	}
	for _, p := range v.flows {
		if err := flow.KeepStill(a, b, e.workers, p.Forward, p.Backward); err != nil {
			return err
		}
	}
	return e.estimateOuter(v)
}

// estimate sets both flows of dst. Where no block was found, the first is started
// from no motion and the second from the coarse flow.
func (s *startedEstimates) estimate(plain pair, a, b frame.Image[uint8], dst []warp.FlowPair) error {
	ha, hb := warp.Halve(a), warp.Halve(b)
	if err := plain.estimate(ha, hb, &s.coarse); err != nil {
		return err
	}
	flow.Double(&s.along.Forward, s.coarse.Forward, a.Width, a.Height)
	flow.Double(&s.along.Backward, s.coarse.Backward, a.Width, a.Height)
	found := &s.found
	err := s.matcher.Suggest(ha, hb, s.along.Forward, s.along.Backward, &found.Forward, &found.Backward)
	if err != nil {
		return err
	}
	if err := s.first.estimate(a, b, found, &dst[0]); err != nil {
		return err
	}
	found.Forward.Underlay(s.along.Forward)
	found.Backward.Underlay(s.along.Backward)
	return s.second.estimate(a, b, found, &dst[1])
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
		func() error { return e.plain.backward.Estimate(v.a.guide, before.guide, &v.outer[0].Flow) },
		func() error { return e.plain.forward.Estimate(v.b.guide, after.guide, &v.outer[1].Flow) },
	)
}

// together runs both at once.
func together(f, g func() error) error {
	var group errgroup.Group
	group.Go(f)
	group.Go(g)
	return group.Wait()
}
