package synth

import (
	"errors"

	"retime/cuda"
	"retime/flow"
	"retime/flow/dis"
	"retime/warp"
)

// FlowDevice estimates flow on a device, by package dis. One goroutine uses it; several
// FlowDevices work at once.
type FlowDevice interface {
	// Estimate returns the flows between a and b, which stay on the device, with the flow
	// of what stands still set to zero.
	Estimate(a, b warp.Guide) (ResidentFlow, error)
	Close() error
}

// ResidentFlow is a pair of flows on a device. Any goroutine may call its methods.
type ResidentFlow interface {
	// Pair returns fields without samples. Intervals that the device gets refer to them.
	Pair() warp.FlowPair
	Comparison() flow.Comparison
	// Download sets dst, whose fields have the guides' size and memory of their own, to
	// the flows.
	Download(dst warp.FlowPair) error
	// Release lets the device use the memory of the flows. No interval that is begun later
	// may refer to them.
	Release()
}

// FlowSource opens estimators of flow on one of a synthesizer's devices.
type FlowSource struct{ device *fallback }

// New returns an estimator by package dis.
func (s FlowSource) New() *FlowEstimator { return &FlowEstimator{device: s.device} }

// FlowEstimator estimates flow on one of a synthesizer's devices. One goroutine uses it,
// and closes it before the synthesizer.
type FlowEstimator struct {
	device  *fallback
	open    FlowDevice // nil until it is used
	without bool       // the device estimates no flow
}

// Has reports whether the device has flows that an estimator left there.
func (e *FlowEstimator) Has(p warp.FlowPair) bool { return e.device.Has(p) }

// Estimate is FlowDevice's, but leaves the work to the caller, and reports false, if the
// device cannot do it or has no memory left for it. An error ends the job.
func (e *FlowEstimator) Estimate(a, b warp.Guide) (f *Flow, done bool, err error) {
	if e.without || e.device.lost() {
		return nil, false, nil
	}
	if e.open == nil {
		open, err := e.device.Flow(e.device.params.Flow)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			e.without = true
			return nil, false, nil
		case errors.Is(err, cuda.ErrOutOfMemory):
			return nil, false, nil // there may be some for the next one
		case err != nil:
			return nil, false, e.device.fault(err)
		}
		e.open = open
	}
	there, err := e.open.Estimate(a, b)
	if errors.Is(err, cuda.ErrOutOfMemory) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, e.device.fault(err)
	}
	return &Flow{there, e.device}, true, nil
}

// Close frees the device's memory.
func (e *FlowEstimator) Close() {
	if e.open != nil {
		_ = e.open.Close() // after a fault this fails, too, and nothing depends on it
	}
}

// Flow is a pair of flows on one of a synthesizer's devices.
type Flow struct {
	ResidentFlow
	device *fallback
}

// Download is ResidentFlow's, but reports false if the device cannot do it. An error ends
// the job.
func (f *Flow) Download(dst warp.FlowPair) (done bool, err error) {
	if f.device.lost() {
		return false, nil
	}
	if err := f.ResidentFlow.Download(dst); err != nil {
		return false, f.device.fault(err)
	}
	return true, nil
}

// cudaFlow is an estimator of a cudaDevice.
type cudaFlow struct {
	*cuda.DIS
	synthesizer *cuda.Synthesizer
}

func (f cudaFlow) Estimate(a, b warp.Guide) (ResidentFlow, error) {
	there, err := f.synthesizer.EstimateResident(f.DIS, a, b)
	if err != nil {
		return nil, err
	}
	return there, nil
}

func (d *cudaDevice) Flow(o dis.Options) (FlowDevice, error) {
	e, err := cuda.NewDIS(d.gpu, o)
	if err != nil {
		return nil, err
	}
	return cudaFlow{e, d.Synthesizer}, nil
}
