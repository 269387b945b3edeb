package motion

import (
	"context"
	"sync"
	"sync/atomic"

	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
	"retime/warp"
)

// Device estimates flow by package dis, for one goroutine.
type Device struct {
	// Estimate returns the flows between a and b, which stay on the device, with the flow of still
	// pixels set to zero. done is false if the processor should estimate them instead.
	Estimate func(a, b warp.Guide) (f DeviceFlow, done bool, err error)
	// Has reports whether the device has a flow's fields.
	Has   func(warp.FlowPair) bool
	Close func()
}

// DeviceFlow is a pair of flows on a device. Any goroutine may call its methods.
type DeviceFlow interface {
	// Pair returns fields without samples, which identify the flows to the device.
	Pair() warp.FlowPair
	// Comparison compares the guides along the flow from a.
	Comparison() flow.Comparison
	// Download copies the flows to dst, whose fields have the guides' size. done is false if the
	// device has lost them.
	Download(dst warp.FlowPair) (done bool, err error)
	Release()
}

// DeviceOptions returns the options that devices must give their estimators.
func DeviceOptions() dis.Options { return ownOptions() }

// NewDeviceEstimator is NewEstimator for an estimator that works on a device. It takes over d, even
// if it fails, and closes it at once if the method is not DIS.
func NewDeviceEstimator(ctx context.Context, p Params, d Device) (*Estimator, error) {
	e, err := NewEstimator(ctx, p)
	if err != nil || p.Method != DIS {
		d.Close()
		return e, err
	}
	e.estimate = &onDevice{d, e.estimate, p.Workers}
	return e, nil
}

// onDevice estimates on a device, and on the processor whatever the device declines.
type onDevice struct {
	device    Device
	processor estimator
	workers   frame.Workers
}

// name is the processor's, because both give the same flow.
func (e *onDevice) name() string { return e.processor.name() }

func (e *onDevice) estimate(a, b Guide) (Flow, error) {
	there, done, err := e.device.Estimate(a.OnDevice(), b.OnDevice())
	if err != nil {
		return nil, err
	}
	if !done {
		return e.processor.estimate(a, b)
	}
	f := &resident{DeviceFlow: there, guides: [2]Guide{a, b}}
	for _, g := range f.guides {
		if g.source != nil {
			g.source.Retain()
		}
	}
	f.refs.Store(1)
	f.fields = sync.OnceValues(func() (warp.FlowPair, error) { return bringHome(there, a, b, e.workers) })
	return f, nil
}

func (e *onDevice) close() {
	e.device.Close()
	e.processor.close()
}

// resident is a Flow on a device, or on several.
type resident struct {
	DeviceFlow
	fields func() (warp.FlowPair, error)
	guides [2]Guide // with their frames, from which the flow can be estimated again
	refs   atomic.Int32

	mu    sync.Mutex
	again []DeviceFlow // the same on other devices
}

func (f *resident) Change() Change {
	of := func(s flow.Sums) correlation {
		return correlation{int(s.N), int(s.A), int(s.B), int(s.AA), int(s.BB), int(s.AB)}
	}
	c := f.Comparison()
	return changeOf(of(c.Still), of(c.Along), int(c.Lost))
}

func (f *resident) Fields() (warp.FlowPair, error) { return f.fields() }

// On has a device that does not have the flow estimate it, which takes a fraction of the time of
// bringing it there by way of the host.
func (f *resident) On(d Device) (warp.FlowPair, error) {
	if p := f.Pair(); d.Has(p) {
		return p, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, there := range f.again {
		if p := there.Pair(); d.Has(p) {
			return p, nil
		}
	}
	there, done, err := d.Estimate(f.guides[0].OnDevice(), f.guides[1].OnDevice())
	switch {
	case err != nil:
		return warp.FlowPair{}, err
	case !done:
		return f.fields()
	}
	f.again = append(f.again, there)
	return there.Pair(), nil
}

func (f *resident) Retain() Flow {
	f.refs.Add(1)
	return f
}

func (f *resident) Release() {
	if f.refs.Add(-1) > 0 {
		return
	}
	for _, there := range append(f.again, f.DeviceFlow) {
		there.Release()
	}
	for _, g := range f.guides {
		if g.source != nil {
			g.source.Release()
		}
	}
}

// bringHome downloads the flows between a and b, or estimates them again if the device has
// lost them.
func bringHome(there DeviceFlow, a, b Guide, workers frame.Workers) (warp.FlowPair, error) {
	at := there.Pair().Forward
	p := newPair(at.Width, at.Height)
	if done, err := there.Download(p); done || err != nil {
		return p, err
	}
	own, err := newOwn(ownOptions(), workers)
	if err != nil {
		return p, err
	}
	again := keepingStill{own, workers}
	defer again.close()
	return again.pair(a, b)
}
