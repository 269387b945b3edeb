package motion

import (
	"retime/flow"
	"retime/flow/dis"
	"retime/warp"
)

// Devices open estimators that work beside the processor.
type Devices interface {
	// Open returns an estimator by package dis; ok is false if there is no device.
	Open(o dis.Options) (e DeviceEstimator, ok bool)
}

// DeviceEstimator estimates flow on a device, with the vectors of package dis.
type DeviceEstimator interface {
	// Estimate sets dst, whose fields have the guides' size, to the flows between a and b
	// with the flow of what stands still set to zero. It reports false if the processor is
	// to do that instead.
	Estimate(a, b Guide, dst *warp.FlowPair) (done bool, err error)
	Close()
}

// onDevice estimates on a device, and on the processor whatever the device leaves.
type onDevice struct {
	device    DeviceEstimator
	processor estimate
}

// name is the processor's, because the flow is the same.
func (e *onDevice) name() string { return e.processor.name() }

func (e *onDevice) estimate(a, b Guide, dst *warp.FlowPair) error {
	m := a.picture()
	for _, f := range []*flow.Field{&dst.Forward, &dst.Backward} {
		*f = flow.NewField(m.Width, m.Height)
	}
	if done, err := e.device.Estimate(a, b, dst); done || err != nil {
		return err
	}
	return e.processor.estimate(a, b, dst)
}

func (e *onDevice) close() {
	e.device.Close()
	e.processor.close()
}
