package pipeline

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"retime/cuda"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp"
)

// FaultPolicy says what becomes of a frame that a device fails to make.
type FaultPolicy string

// The policies.
const (
	RemakeOnCPU FaultPolicy = "cpu"  // it is made again on the CPU, and the job goes on
	StopAtFault FaultPolicy = "fail" // the job fails
)

// rescuer makes frames on a device, and again on the CPU where the device fails.
// A frame has the same samples either way.
type rescuer struct {
	device Starter
	name   string
	policy FaultPolicy
	log    *slog.Logger
	newCPU func() (Synthesizer, error)

	in    warp.Interval
	begun bool // the device has the interval

	cpu    chan Synthesizer // one, or nil before it is needed; taking it locks it
	faults atomic.Int32     // since a frame was last made on the device
	left   atomic.Bool      // alone
	remade atomic.Int64
}

// maxFaults is how many frames in a row a device may fail to make before it is
// left alone.
const maxFaults = 3

func newRescuer(s Starter, name string, o *Options) *rescuer {
	r := &rescuer{
		device: s, name: name, policy: o.Compute.FaultPolicy, log: o.Hooks.Log,
		newCPU: func() (Synthesizer, error) { return newCPUSynthesizer(o) },
		cpu:    make(chan Synthesizer, 1),
	}
	r.cpu <- nil
	return r
}

// lost says whether the device is left alone.
func (r *rescuer) lost() bool { return r.left.Load() }

func (r *rescuer) Load(in warp.Interval) error {
	if r.lost() {
		return nil
	}
	return r.device.Load(in)
}

func (r *rescuer) Begin(in warp.Interval) error {
	r.in, r.begun = in, false
	if r.lost() {
		return nil
	}
	if err := r.device.Begin(in); err != nil {
		return r.fault(err)
	}
	r.begun = true
	return nil
}

func (r *rescuer) Start(dst *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	in := r.in
	if r.begun {
		finish, err := r.device.Start(dst, phase)
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

// fault notes that the device failed. It returns an error where that ends the
// job: memory that is short is no fault, and is not there for the next frame
// either.
func (r *rescuer) fault(err error) error {
	switch {
	case errors.Is(err, cuda.ErrOutOfMemory):
		return fault.New(fault.TryAgain, "%s: %w; free some, or use Compute.Backend cpu", r.name, err)
	case r.policy == StopAtFault:
		return fault.New(fault.Internal, "%s: %w; with Compute.FaultPolicy cpu the job would go on on the CPU", r.name, err)
	}
	switch r.faults.Add(1) {
	case 1:
		r.log.Warn("the device failed; frames that it does not make are made on the CPU", "device", r.name, "error", err)
	case maxFaults:
		r.left.Store(true)
		r.log.Warn("the device keeps failing and is left alone", "device", r.name)
	}
	return nil
}

// remake makes a frame on the CPU.
func (r *rescuer) remake(in warp.Interval, dst *frame.Frame, phase warp.Phase) (made warp.Made, err error) {
	cpu := <-r.cpu
	defer func() { r.cpu <- cpu }()
	if cpu == nil {
		if cpu, err = r.newCPU(); err != nil {
			return made, err
		}
	}
	if err := cpu.Begin(in); err != nil {
		return made, err
	}
	r.remade.Add(1)
	return cpu.Make(dst, phase)
}

func (r *rescuer) Close() {
	r.device.Close()
	if cpu := <-r.cpu; cpu != nil {
		cpu.Close()
	}
}
