package motion

import (
	"context"
	"log/slog"

	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// Params say how flow is estimated.
type Params struct {
	Method  Method
	Workers frame.Workers // what one Estimator has of them; estimates do not depend on it
	Devices Devices       // where DIS works if there are any; nil for none
	Cache   *Cache        // nil to estimate always
	Log     *slog.Logger
}

// Estimator estimates the flow between guides, for one goroutine.
type Estimator struct {
	cache    *Cache
	estimate estimate
}

// estimate makes the flows between two guides.
type estimate interface {
	// name identifies the method and all its parameters: whatever the flows depend on
	// besides the guides. It is empty if the flows are not to be cached.
	name() string
	// estimate sets dst to the flows between a and b. If a and b change places, the flows
	// do.
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
	m = &keepingStill{m, p.Workers}
	if p.Method == DIS && p.Devices != nil {
		if d, ok := p.Devices.Open(ownOptions()); ok {
			m = &onDevice{d, m}
		}
	}
	return &Estimator{p.Cache, m}, nil
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
		own, err := newOwn(p.Workers)
		if err != nil {
			return nil, err
		}
		return &fromFiles{pattern: pattern, own: own, log: p.Log}, nil
	case p.Method == DIS:
		return newOwn(p.Workers)
	}
	return newOpenCV(p.Method)
}

// Close frees the estimator.
func (e *Estimator) Close() { e.estimate.close() }

// Estimate returns the flows between a and b, both ways, with the flow of what stands
// still set to zero. Between b and a they are the same, the other way round.
func (e *Estimator) Estimate(a, b Guide) (dst warp.FlowPair, err error) {
	err = e.cache.pair(e.estimate.name(), a, b, &dst, func() error { return e.estimate.estimate(a, b, &dst) })
	return dst, err
}

// keepingStill sets the flow of what stands still to zero.
type keepingStill struct {
	of      estimate
	workers frame.Workers
}

func (e *keepingStill) name() string { return e.of.name() }
func (e *keepingStill) close()       { e.of.close() }

func (e *keepingStill) estimate(a, b Guide, dst *warp.FlowPair) error {
	if err := e.of.estimate(a, b, dst); err != nil {
		return err
	}
	return flow.KeepStill(a.picture(), b.picture(), e.workers, dst.Forward, dst.Backward)
}
