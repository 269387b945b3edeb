package synth

import (
	"errors"
	"sync/atomic"

	"retime/cuda"
	"retime/flow"
	"retime/flow/dis"
)

// Guide is a picture to estimate flow on, and the frame that it was made from.
type Guide = cuda.Guide

// FlowDevice estimates flow on a device, by package dis. One goroutine uses it; several
// FlowDevices work at once.
type FlowDevice interface {
	// Estimate sets forward and backward, which have the guides' size and memory of their
	// own, to the flows between a and b, with the flow of what stands still set to zero.
	Estimate(a, b Guide, forward, backward flow.Field) error
	Close() error
}

// FlowEstimator estimates flow on one of a synthesizer's devices. One goroutine uses it,
// and closes it before the synthesizer.
type FlowEstimator struct {
	device  *fallback
	options dis.Options
	open    FlowDevice // nil until it is used
	without bool       // the device estimates no flow
}

// FlowEstimators opens estimators on a synthesizer's devices in turn. The zero value has no
// device.
type FlowEstimators struct {
	devices []*fallback // none for the CPU
	next    atomic.Int64
}

// New returns an estimator by package dis; ok is false if the synthesizer has no device
// for it.
func (f *FlowEstimators) New(o dis.Options) (e *FlowEstimator, ok bool) {
	if len(f.devices) == 0 {
		return nil, false
	}
	i := int(f.next.Add(1)-1) % len(f.devices)
	return &FlowEstimator{device: f.devices[i], options: o}, true
}

// Estimate is FlowDevice's, but leaves the work to the caller, and reports false, if the
// device cannot do it. An error ends the job.
func (e *FlowEstimator) Estimate(a, b Guide, forward, backward flow.Field) (done bool, err error) {
	if e.without || e.device.lost() {
		return false, nil
	}
	if e.open == nil {
		open, err := e.device.Flow(e.options)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			e.without = true
			return false, nil
		case err != nil:
			return false, e.device.fault(err)
		}
		e.open = open
	}
	if err := e.open.Estimate(a, b, forward, backward); err != nil {
		return false, e.device.fault(err)
	}
	return true, nil
}

// Close frees the device's memory.
func (e *FlowEstimator) Close() {
	if e.open != nil {
		_ = e.open.Close() // after a fault this fails, too, and nothing depends on it
	}
}

// cudaFlow is an estimator of a cudaDevice.
type cudaFlow struct {
	*cuda.DIS
	synthesizer *cuda.Synthesizer
}

func (f cudaFlow) Estimate(a, b Guide, forward, backward flow.Field) error {
	return f.synthesizer.EstimateFlow(f.DIS, a, b, forward, backward)
}

func (d *cudaDevice) Flow(o dis.Options) (FlowDevice, error) {
	e, err := cuda.NewDIS(d.gpu, o)
	if err != nil {
		return nil, err
	}
	return cudaFlow{e, d.Synthesizer}, nil
}
