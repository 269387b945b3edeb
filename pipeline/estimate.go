package pipeline

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"retime/flow"
	"retime/flow/opencv"
	"retime/pipeline/frame"
)

// Estimator computes the optical flow from a to b, luma pictures of one size,
// into dst, whose memory it reuses. It is used by one goroutine at a time.
type Estimator interface {
	Estimate(a, b frame.Image[uint8], dst *flow.Field) error
	Close() error
}

// flowWorkers is how many intervals' flows are estimated at once. Each takes
// two threads, one for either direction.
func (o *Options) flowWorkers() int {
	return max(1, min(o.workers().Count()/2, maxFlowWorkers))
}

// maxFlowWorkers bounds the memory that estimators take.
const maxFlowWorkers = 8

func (o *Options) workers() frame.Workers { return frame.Workers{N: o.Threads} }

// estimators are a pair for the two directions.
type estimators struct{ forward, backward Estimator }

func newEstimators(o *Options) (*estimators, error) {
	f, err := newEstimator(o)
	if err != nil {
		return nil, err
	}
	b, err := newEstimator(o)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &estimators{f, b}, nil
}

func newEstimator(o *Options) (Estimator, error) {
	e, method, err := o.estimator()
	if err != nil || o.FlowCache == "" {
		return e, err
	}
	return newFlowCache(e, o.FlowCache, method)
}

// estimator returns what o chooses, and a name that says how its fields differ
// from another's.
func (o *Options) estimator() (e Estimator, method string, err error) {
	if o.Flow == Farneback {
		p := opencv.DefaultFarneback()
		e, err = opencv.NewFarneback(p)
		return e, fmt.Sprintf("farneback %+v", p), err
	}
	p := o.Preset.dis()
	e, err = opencv.NewDIS(p)
	return e, fmt.Sprintf("dis %+v", p), err
}

func (e *estimators) close() {
	e.forward.Close()
	e.backward.Close()
}

// both estimates v's flow in both directions.
func (e *estimators) both(v *interval) error {
	var group errgroup.Group
	group.Go(func() error { return e.forward.Estimate(v.a.guide, v.b.guide, &v.forward) })
	group.Go(func() error { return e.backward.Estimate(v.b.guide, v.a.guide, &v.backward) })
	return group.Wait()
}
