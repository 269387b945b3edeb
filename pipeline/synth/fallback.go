package synth

import (
	"errors"
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

	in    Interval
	begun bool // the device has the interval

	cpu     chan *warp.Synthesizer // one, or nil before it is needed; taking it locks it
	faults  atomic.Int32           // since the device last made a frame
	dropped atomic.Bool            // the device is no longer used
	remade  atomic.Int64
}

// maxFaults is how many frames in a row a device may fail to make before it is no longer
// used.
const maxFaults = 3

func newFallback(d Device, p Params) *fallback {
	r := &fallback{Device: d, params: p, cpu: make(chan *warp.Synthesizer, 1)}
	r.cpu <- nil
	return r
}

// lost says whether the device is no longer used.
func (r *fallback) lost() bool { return r.dropped.Load() }

func (r *fallback) Load(in Interval) error {
	if r.lost() {
		return nil
	}
	mine, err := in.On(r.Has)
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
	mine, err := in.On(r.Has)
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
				return r.remake(in, dst, phase)
			}, nil
		}
		r.begun = false
		if err := r.fault(err); err != nil {
			return nil, err
		}
	}
	made, err := r.remake(in, dst, phase)
	return func() (warp.Made, error) { return made, err }, nil
}

// fault counts a failure of the device, and returns an error if the failure ends the job:
// memory that is short is no fault, and will be short for the next frame, too.
func (r *fallback) fault(err error) error {
	switch {
	case errors.Is(err, cuda.ErrOutOfMemory):
		return fault.New(fault.TryAgain, "%s: %w; free some, or use Compute.Backend cpu", r.Name(), err)
	case r.params.Policy == StopAtFault:
		return fault.New(fault.Internal, "%s: %w; with Compute.FaultPolicy cpu the job would go on on the CPU", r.Name(), err)
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

// remake makes a frame on the CPU.
func (r *fallback) remake(in Interval, dst *frame.Frame, phase warp.Phase) (made warp.Made, err error) {
	host, err := in.Host()
	if err != nil {
		return made, err
	}
	cpu := <-r.cpu
	defer func() { r.cpu <- cpu }()
	if cpu == nil {
		if cpu, err = warp.NewSynthesizer(r.params.Warp); err != nil {
			return made, err
		}
	}
	interval, err := cpu.Prepare(host)
	if err != nil {
		return made, err
	}
	defer interval.Close()
	r.remade.Add(1)
	return interval.Make(dst, phase)
}

func (r *fallback) Close() {
	r.Device.Close()
	if cpu := <-r.cpu; cpu != nil {
		cpu.Close()
	}
}
