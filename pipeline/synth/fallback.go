package synth

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"retime/cuda"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp"
)

// fallback makes frames on a device, and again on the CPU if the device fails. A frame
// has the same samples either way.
type fallback struct {
	Device
	params Params
	loader *FlowEstimator // of the goroutine that loads intervals

	in    Interval
	begun bool // the device has the interval

	cpu     func() (Synthesizer, error) // opens it the first time
	opened  Synthesizer                 // by cpu; nil before
	faults  atomic.Int32                // since the device last made a frame
	dropped atomic.Bool                 // the device is no longer used
	remade  atomic.Int64
}

// maxFaults is how many frames in a row a device may fail to make before it is no longer
// used.
const maxFaults = 3

func newFallback(d Device, p Params) *fallback {
	r := &fallback{Device: d, params: p}
	r.loader = FlowSource{r}.New()
	r.cpu = sync.OnceValues(func() (s Synthesizer, err error) {
		r.opened, err = NewCPU(p.Warp)
		return r.opened, err
	})
	return r
}

// lost reports whether the device is no longer used.
func (r *fallback) lost() bool { return r.dropped.Load() }

func (r *fallback) Load(in Interval) error {
	if r.lost() {
		return nil
	}
	mine, err := in.On(r.loader)
	if err != nil {
		return err
	}
	return r.Device.Load(mine)
}

func (r *fallback) Begin(in Interval) error {
	r.in, r.begun = in, false
	if r.lost() {
		return nil
	}
	mine, err := in.On(&FlowEstimator{device: r, without: true})
	if err != nil {
		return err
	}
	if err := r.Device.Begin(mine); err != nil {
		return r.fault(err)
	}
	r.begun = true
	return nil
}

func (r *fallback) Start(dst *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	in := r.in
	if r.begun {
		finish, err := r.Device.Start(dst, phase)
		if err == nil {
			return func() (warp.Made, error) {
				made, err := finish()
				if err == nil {
					r.faults.Store(0)
					return made, nil
				}
				if err := r.fault(err); err != nil {
					return made, err
				}
				finish, err := r.remake(in, dst, phase)
				if err != nil {
					return made, err
				}
				return finish()
			}, nil
		}
		r.begun = false
		if err := r.fault(err); err != nil {
			return nil, err
		}
	}
	return r.remake(in, dst, phase)
}

// fault counts a failure of the device, and returns an error if the failure ends the job:
// memory that is short is no fault, and will be short for the next frame, too.
func (r *fallback) fault(err error) error {
	switch {
	case errors.Is(err, cuda.ErrOutOfMemory):
		return fault.New(fault.TryAgain, "%s: %w; free some, or use Compute.Backend cpu", r.Name(), err)
	case r.params.Policy == StopAtFault:
		return fault.New(fault.Internal, "%s: %w; with Compute.FaultPolicy cpu the job would continue on the CPU", r.Name(), err)
	}
	switch r.faults.Add(1) {
	case 1:
		r.params.Log.Warn("the device failed; frames that it does not make are made on the CPU", "device", r.Name(), "error", err)
	case maxFaults:
		r.dropped.Store(true)
		r.params.Log.Warn("the device keeps failing and is left alone", "device", r.Name())
	}
	return nil
}

// remake has the CPU begin to make a frame.
func (r *fallback) remake(in Interval, dst *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	cpu, err := r.cpu()
	if err != nil {
		return nil, err
	}
	r.remade.Add(1)
	ctx := context.Background() // what was started on the device is finished here
	job, err := cpu.Prepare(ctx, Assignment{}, in, 1)
	if err != nil {
		return nil, err
	}
	finish, err := job.Start(ctx, dst, phase)
	if err != nil {
		job.Close()
		return nil, err
	}
	return func() (warp.Made, error) {
		defer job.Close()
		return finish()
	}, nil
}

func (r *fallback) Close() {
	r.loader.Close()
	r.Device.Close()
	if r.opened != nil {
		r.opened.Close()
	}
}
