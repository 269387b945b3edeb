package motion

import (
	"context"
	"log/slog"

	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
	"retime/pipeline/media/sequence"
	"retime/warp"
)

// Params describe how flow is estimated.
type Params struct {
	Method  Method
	Workers frame.Workers // for one Estimator; estimates do not depend on their number
	Cache   *Cache        // nil to estimate every time
	Log     *slog.Logger
	// OpenCV opens the estimators of OpenCVDIS and Farneback; nil if there are none.
	OpenCV func(Method) (Foreign, error)
}

// Estimator estimates the flow between guides, for one goroutine.
type Estimator struct {
	cache    *Cache
	estimate estimator
}

// estimator makes the flow between two guides, and sets the flow of still pixels to zero.
type estimator interface {
	// name identifies the method and everything else besides the guides that the flows depend on.
	// It is empty if the flows must not be cached.
	name() string
	estimate(a, b Guide) (Flow, error)
	close()
}

// estimate makes the flows between two guides in host memory.
type estimate interface {
	name() string // like an estimator's
	// estimate sets dst to the flows between a and b, in the guides' size. Swapping a and b swaps
	// the flows.
	estimate(a, b Guide, dst *warp.FlowPair) error
	close()
}

// NewEstimator returns an estimator, which the caller closes, and which works until ctx ends.
// Errors about the method or the cache's directory carry a fault.Kind.
func NewEstimator(ctx context.Context, p Params) (*Estimator, error) {
	if err := p.Cache.open(); err != nil {
		return nil, err
	}
	m, err := newEstimate(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Estimator{p.Cache, &keepingStill{m, p.Workers}}, nil
}

// NewLocalEstimator is NewEstimator for cuts between small pictures, whatever the method: across
// cuts the flow of whole pictures finds matches there.
func NewLocalEstimator(p Params) (*Estimator, error) {
	m, err := newOwn(dis.Local(), p.Workers)
	if err != nil {
		return nil, err
	}
	return &Estimator{p.Cache, &keepingStill{m, p.Workers}}, nil
}

func newEstimate(ctx context.Context, p Params) (estimate, error) {
	if err := p.Method.Check(); err != nil {
		return nil, err
	}
	pattern, files := p.Method.Files()
	numbers, _ := sequence.Parse(pattern)
	line, command := p.Method.Command()
	switch {
	case command:
		return newCommand(ctx, line), nil
	case files:
		own, err := newOwn(ownOptions(), p.Workers)
		if err != nil {
			return nil, err
		}
		return &fromFiles{pattern: numbers, own: own, log: p.Log}, nil
	case p.Method == DIS:
		return newOwn(ownOptions(), p.Workers)
	}
	return newForeign(p)
}

// Close frees the estimator.
func (e *Estimator) Close() { e.estimate.close() }

// Estimate returns the flow between a and b with a reference, which the caller releases. From b to
// a it is the same flow with its fields swapped. The guides' frames must stay until the flow is
// released.
func (e *Estimator) Estimate(a, b Guide) (Flow, error) {
	return e.cache.flow(e.estimate.name(), a, b, func() (Flow, error) { return e.estimate.estimate(a, b) })
}

// keepingStill is an estimator on the processor.
type keepingStill struct {
	of      estimate
	workers frame.Workers
}

func (e *keepingStill) name() string { return e.of.name() }
func (e *keepingStill) close()       { e.of.close() }

func (e *keepingStill) estimate(a, b Guide) (Flow, error) {
	p, err := e.pair(a, b)
	if err != nil {
		return nil, err
	}
	return newHosted(a, b, p), nil
}

func (e *keepingStill) pair(a, b Guide) (p warp.FlowPair, err error) {
	if err := e.of.estimate(a, b, &p); err != nil {
		return p, err
	}
	return p, flow.KeepStill(a.picture(), b.picture(), e.workers, p.Forward, p.Backward)
}
