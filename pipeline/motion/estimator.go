package motion

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"retime/flow"
	"retime/flow/opencv"
	"retime/frame"
	"retime/warp"
)

// Params say how flow is estimated.
type Params struct {
	Method  Method
	Preset  Preset
	Workers frame.Workers // what one Estimator has of them; estimates do not depend on it
	Cache   *Cache        // nil to estimate always
}

// Estimator estimates the flow between guides, for one goroutine. It runs two threads,
// one for either direction.
type Estimator struct {
	workers frame.Workers
	cache   *Cache
	plain   plain
	full    estimates // of the preset; plain for most
}

// estimates makes one or several pairs of flows between two guides.
type estimates interface {
	// name identifies the method and all its parameters.
	name() string
	// count is how many pairs there are.
	count() int
	// estimate sets dst, of count pairs.
	estimate(a, b Guide, dst []warp.FlowPair) error
	close()
}

// NewEstimator returns an estimator, which the caller closes. Errors carry a fault.Kind
// if they are about the cache's directory.
func NewEstimator(p Params) (*Estimator, error) {
	if err := p.Cache.open(); err != nil {
		return nil, err
	}
	e := &Estimator{workers: p.Workers, cache: p.Cache}
	var err error
	if e.plain, err = newPlain(p); err != nil {
		return nil, err
	}
	e.full = e.plain
	if p.Method != Farneback && p.Preset == Best {
		if e.full, err = newDoubled(p, e.plain); err != nil {
			e.plain.close()
			return nil, err
		}
	}
	return e, nil
}

// Close frees the estimator.
func (e *Estimator) Close() { e.full.close() }

// Estimate returns the flows between a and b that the preset asks for, both ways.
func (e *Estimator) Estimate(a, b Guide) ([]warp.FlowPair, error) {
	return e.between(e.full, a, b)
}

// Plain returns one pair of flows between a and b.
func (e *Estimator) Plain(a, b Guide) (warp.FlowPair, error) {
	flows, err := e.between(e.plain, a, b)
	if err != nil {
		return warp.FlowPair{}, err
	}
	return flows[0], nil
}

// Outward returns the flow from a to the picture before it and from b to the picture
// after it.
func (e *Estimator) Outward(a, before, b, after Guide) (toBefore, toAfter flow.Field, err error) {
	err = together(
		func() error { return e.one(e.plain.backward, a, before, &toBefore) },
		func() error { return e.one(e.plain.forward, b, after, &toAfter) },
	)
	return toBefore, toAfter, err
}

// between returns the flows between a and b that a method makes, with the flow of what
// stands still set to zero.
func (e *Estimator) between(m estimates, a, b Guide) ([]warp.FlowPair, error) {
	dst := make([]warp.FlowPair, m.count())
	err := e.cache.pairs(m.name(), a, b, dst, func() error {
		if err := m.estimate(a, b, dst); err != nil {
			return err
		}
		for _, p := range dst {
			if err := flow.KeepStill(a.picture(), b.picture(), e.workers, p.Forward, p.Backward); err != nil {
				return err
			}
		}
		return nil
	})
	return dst, err
}

// one sets dst to the flow from a to b that one of the plain estimators finds.
func (e *Estimator) one(with hostEstimator, a, b Guide, dst *flow.Field) error {
	return e.cache.fields("one "+e.plain.method, a, b, []*flow.Field{dst}, func() error {
		return with.Estimate(a.picture(), b.picture(), dst)
	})
}

// hostEstimator estimates between pictures in the host's memory, and reuses the field's
// memory.
type hostEstimator = flow.Estimator[frame.Image[uint8], *flow.Field]

// plain is two estimators, one for either direction.
type plain struct {
	forward, backward hostEstimator
	method            string // that they have in common
}

func newPlain(p Params) (plain, error) {
	forward, method, err := newHostEstimator(p)
	if err != nil {
		return plain{}, err
	}
	backward, _, err := newHostEstimator(p)
	if err != nil {
		forward.Close()
		return plain{}, err
	}
	return plain{forward, backward, method}, nil
}

// newHostEstimator also returns a name for the method and its parameters.
func newHostEstimator(p Params) (e hostEstimator, method string, err error) {
	if p.Method == Farneback {
		o := opencv.DefaultFarneback()
		e, err = opencv.NewFarneback(o)
		method = fmt.Sprintf("farneback %+v", o)
	} else {
		o := p.Preset.dis()
		e, err = opencv.NewDIS(o)
		method = fmt.Sprintf("dis %+v", o)
	}
	if err != nil {
		return nil, "", err // e is not nil
	}
	return e, method, nil
}

func (p plain) name() string { return "both " + p.method }
func (p plain) count() int   { return 1 }

func (p plain) estimate(a, b Guide, dst []warp.FlowPair) error {
	return p.pair(a.picture(), b.picture(), &dst[0])
}

// pair sets dst to the flows between two pictures, both directions at once.
func (p plain) pair(a, b frame.Image[uint8], dst *warp.FlowPair) error {
	return together(
		func() error { return p.forward.Estimate(a, b, &dst.Forward) },
		func() error { return p.backward.Estimate(b, a, &dst.Backward) },
	)
}

func (p plain) close() {
	p.forward.Close()
	p.backward.Close()
}

// together runs both at once.
func together(f, g func() error) error {
	var group errgroup.Group
	group.Go(f)
	group.Go(g)
	return group.Wait()
}
