package pipeline

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"retime/flow"
	"retime/flow/opencv"
	"retime/frame"
	"retime/warp"
)

// Estimator estimates between luma pictures in the host's memory, and reuses that of
// the field.
type Estimator = flow.Estimator[frame.Image[uint8], *flow.Field]

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

func (o *Options) workers() frame.Workers { return frame.Workers{N: o.Compute.Threads} }

// shared is what each of flowWorkers goroutines has of the workers.
func (o *Options) shared() frame.Workers {
	return frame.Workers{N: max(1, o.workers().Count()/o.flowWorkers())}
}

// estimators are what one goroutine estimates flows with.
type estimators struct {
	workers frame.Workers
	cache   *flowCache
	plain   pair
	started *startedEstimates // nil unless the preset asks for them
}

// pair is two estimators, one for either direction.
type pair struct {
	forward, backward Estimator
	method            string // that they have in common
}

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
	method        string
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
	e := &estimators{workers: o.shared(), cache: o.flowCache}
	if err := e.open(o); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *estimators) open(o *Options) (err error) {
	if err := e.cache.open(); err != nil {
		return err
	}
	for _, to := range []*Estimator{&e.plain.forward, &e.plain.backward} {
		if *to, e.plain.method, err = newEstimator(o); err != nil {
			return err
		}
	}
	if o.Synthesis.Flow == Farneback || o.Synthesis.Preset != Best {
		return nil
	}
	e.started = &startedEstimates{matcher: flow.Matcher{Workers: e.workers}}
	first, second := &e.started.first, &e.started.second
	for _, to := range []*startedEstimator{&first.forward, &first.backward} {
		if *to, err = newStartedEstimator(o.Synthesis.Preset.dis()); err != nil {
			return err
		}
	}
	for _, to := range []*startedEstimator{&second.forward, &second.backward} {
		if *to, err = newStartedEstimator(o.Synthesis.Preset.secondDIS()); err != nil {
			return err
		}
	}
	e.started.method = fmt.Sprintf("%s, started dis %+v and %+v", e.plain.method, o.Synthesis.Preset.dis(), o.Synthesis.Preset.secondDIS())
	return nil
}

// newEstimator returns that of o, and with which parameters.
func newEstimator(o *Options) (e Estimator, method string, err error) {
	if o.Synthesis.Flow == Farneback {
		p := opencv.DefaultFarneback()
		e, err = opencv.NewFarneback(p)
		method = fmt.Sprintf("farneback %+v", p)
	} else {
		p := o.Synthesis.Preset.dis()
		e, err = opencv.NewDIS(p)
		method = fmt.Sprintf("dis %+v", p)
	}
	if err != nil {
		return nil, "", err // e is not nil
	}
	return e, method, nil
}

func newStartedEstimator(p opencv.DISOptions) (startedEstimator, error) {
	e, err := opencv.NewDIS(p)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (e *estimators) close() {
	e.plain.close()
	if s := e.started; s != nil {
		pair{forward: s.first.forward, backward: s.first.backward}.close()
		pair{forward: s.second.forward, backward: s.second.backward}.close()
	}
}

// estimate sets v's flows.
func (e *estimators) estimate(v *interval) error {
	a, b := v.a.view, v.b.view
	if e.started == nil {
		v.flows = make([]warp.FlowPair, 1)
		if err := e.estimatePlain(a, b, v.flows); err != nil {
			return err
		}
	} else {
		v.flows = make([]warp.FlowPair, 2)
		if err := e.between(e.started.method, a, b, v.flows, func() error {
			return e.started.estimate(e.plain, a, b, v.flows)
		}); err != nil {
			return err
		}
	}
	return e.estimateOuter(v)
}

// estimatePlain sets dst, a single pair, to what the plain estimators find.
func (e *estimators) estimatePlain(a, b view, dst []warp.FlowPair) error {
	return e.between("both "+e.plain.method, a, b, dst, func() error {
		return e.plain.estimate(a.guide(), b.guide(), &dst[0])
	})
}

// between sets dst to the flows between a and b that the method makes, which is what
// estimate does, with those of what stands still set to zero.
func (e *estimators) between(method string, a, b view, dst []warp.FlowPair, estimate func() error) error {
	return e.cache.pairs(method, a, b, dst, func() error {
		if err := estimate(); err != nil {
			return err
		}
		for _, p := range dst {
			if err := flow.KeepStill(a.guide(), b.guide(), e.workers, p.Forward, p.Backward); err != nil {
				return err
			}
		}
		return nil
	})
}

// estimate sets both flows of dst. Where no block was found, the first is started
// from no motion and the second from the coarse flow.
func (s *startedEstimates) estimate(plain pair, from, to view, dst []warp.FlowPair) error {
	a, b, ha, hb := from.guide(), to.guide(), from.half(), to.half()
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
		{Guide: before.guide(), Frame: before.Frame, Span: before.span}, {Guide: after.guide(), Frame: after.Frame, Span: after.span},
	}
	return together(
		func() error { return e.estimateOne(e.plain.backward, v.a.view, before.view, &v.outer[0].Flow) },
		func() error { return e.estimateOne(e.plain.forward, v.b.view, after.view, &v.outer[1].Flow) },
	)
}

// estimateOne sets dst to the flow from a to b that one of the plain estimators finds.
func (e *estimators) estimateOne(with Estimator, a, b view, dst *flow.Field) error {
	return e.cache.fields("one "+e.plain.method, a, b, []*flow.Field{dst}, func() error {
		return with.Estimate(a.guide(), b.guide(), dst)
	})
}

// together runs both at once.
func together(f, g func() error) error {
	var group errgroup.Group
	group.Go(f)
	group.Go(g)
	return group.Wait()
}
