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
	Preset  Preset
	Workers frame.Workers // what one Estimator has of them; estimates do not depend on it
	Cache   *Cache        // nil to estimate always
	Log     *slog.Logger
}

// Estimator estimates the flow between guides, for one goroutine.
type Estimator struct {
	workers   frame.Workers
	cache     *Cache
	estimates []estimate // one or more
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
	list, err := newEstimates(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Estimator{p.Workers, p.Cache, list}, nil
}

// newEstimates returns the estimates that a method makes with a preset.
func newEstimates(ctx context.Context, p Params) ([]estimate, error) {
	if err := p.Method.Check(); err != nil {
		return nil, err
	}
	pattern, files := p.Method.Files()
	line, command := p.Method.Command()
	switch {
	case command:
		return []estimate{newCommand(ctx, line)}, nil
	case files:
		own, err := newOwn(p.Preset.options(), p.Workers)
		if err != nil {
			return nil, err
		}
		return []estimate{&fromFiles{pattern: pattern, own: own, log: p.Log}}, nil
	case p.Method == DIS:
		own, err := newOwn(p.Preset.options(), p.Workers)
		return []estimate{own}, err
	}
	e, err := newOpenCV(p.Method)
	return []estimate{e}, err
}

// Close frees the estimator.
func (e *Estimator) Close() {
	for _, m := range e.estimates {
		m.close()
	}
}

// Estimate returns the flows between a and b that the preset asks for, both ways, the
// first of them as Plain does.
func (e *Estimator) Estimate(a, b Guide) ([]warp.FlowPair, error) {
	list := make([]warp.FlowPair, len(e.estimates))
	for i, m := range e.estimates {
		var err error
		if list[i], err = e.between(m, a, b); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Plain returns one pair of flows between a and b.
func (e *Estimator) Plain(a, b Guide) (warp.FlowPair, error) { return e.between(e.estimates[0], a, b) }

// Outward returns the flow from a to the picture before it and from b to the picture
// after it. They are those that Plain returns for the two pairs.
func (e *Estimator) Outward(a, before, b, after Guide) (toBefore, toAfter flow.Field, err error) {
	first, err := e.Plain(before, a)
	if err != nil {
		return flow.Field{}, flow.Field{}, err
	}
	last, err := e.Plain(b, after)
	return first.Backward, last.Forward, err
}

// between returns the flows between a and b that m makes, with the flow of what stands
// still set to zero.
func (e *Estimator) between(m estimate, a, b Guide) (dst warp.FlowPair, err error) {
	err = e.cache.pair(m.name(), a, b, &dst, func() error {
		if err := m.estimate(a, b, &dst); err != nil {
			return err
		}
		return flow.KeepStill(a.picture(), b.picture(), e.workers, dst.Forward, dst.Backward)
	})
	return dst, err
}
