package motion

import (
	"context"
	"log/slog"

	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
	"retime/warp"
)

// Params describe how flow is estimated.
type Params struct {
	Method  Method
	Workers frame.Workers // what one Estimator has of them; estimates do not depend on it
	Cache   *Cache        // nil to estimate always
	Log     *slog.Logger
}

// Estimator estimates the flow between guides, for one goroutine.
type Estimator struct {
	cache    *Cache
	estimate estimator
}

// estimator makes the flow between two guides, and sets the flow of what stands still to
// zero.
type estimator interface {
	// name identifies the method and all its parameters: whatever the flows depend on
	// besides the guides. It is empty if the flows are not to be cached.
	name() string
	estimate(a, b Guide) (Flow, error)
	close()
}

// estimate makes the flows between two guides in the host's memory.
type estimate interface {
	name() string // as an estimator's
	// estimate sets dst to the flows between a and b, of the guides' size. If a and b
	// change places, the flows do.
	estimate(a, b Guide, dst *warp.FlowPair) error
	close()
}

// NewEstimator returns an estimator, which the caller closes, and which works until ctx
// ends. Errors carry a fault.Kind if they are about the method or the cache's directory.
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
	line, command := p.Method.Command()
	switch {
	case command:
		return newCommand(ctx, line), nil
	case files:
		own, err := newOwn(ownOptions(), p.Workers)
		if err != nil {
			return nil, err
		}
		return &fromFiles{pattern: pattern, own: own, log: p.Log}, nil
	case p.Method == DIS:
		return newOwn(ownOptions(), p.Workers)
	}
	return newOpenCV(p.Method)
}

// Close frees the estimator.
func (e *Estimator) Close() { e.estimate.close() }

// Estimate returns the flow between a and b, with a reference that the caller releases.
// Between b and a it is the same, the other way round. The guides' frames must stay until
// the flow is released.
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
