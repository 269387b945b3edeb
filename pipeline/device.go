package pipeline

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"retime/cuda"
	"retime/pipeline/fault"
	"retime/pipeline/frame"
	"retime/warp"
)

// Starter is a Synthesizer that makes several frames at a time. Start begins to
// make a frame as Make does and returns; Start and Begin may then be called
// again. finish, which is called once and perhaps from another goroutine, returns
// when dst is filled; frames are finished in order unless the run ends early. No
// more than maxStarted are unfinished at a time.
//
// Load takes what an interval that is begun soon needs, from another goroutine than
// Begin and Start. Intervals may be begun that were not loaded: a Load that fails is
// of no account.
type Starter interface {
	Synthesizer
	Load(in warp.Interval) error
	Start(dst *frame.Frame, phase warp.Phase) (finish func() (warp.Made, error), err error)
}

// maxStarted is the most frames that so many devices make at a time: those in the
// queue to the encoder, and one at either end of it.
func maxStarted(devices int) int { return devices*startedQueue + 2 }

// FaultPolicy says what becomes of a frame that a device fails to make.
type FaultPolicy string

// The policies.
const (
	RemakeOnCPU FaultPolicy = "cpu"  // it is made again on the CPU, and the job goes on
	StopAtFault FaultPolicy = "fail" // the job fails
)

// newSynthesizer returns what makes the frames: devices, or else the CPU.
func newSynthesizer(o *Options) (Synthesizer, error) {
	if o.Backend == CPU || o.Mode == warp.Nearest {
		return newCPUSynthesizer(o)
	}
	found, err := cuda.Devices()
	if o.Backend == CUDA {
		switch {
		case errors.Is(err, cuda.ErrNotBuilt):
			return nil, fault.New(fault.Usage, "--backend cuda: %w; run retime-cuda, or use --backend cpu", err)
		case err != nil:
			return nil, fault.New(fault.TryAgain, "--backend cuda: %w; use --backend cpu", err)
		case len(found) == 0:
			return nil, fault.New(fault.TryAgain, "--backend cuda: no CUDA device answers; use --backend cpu")
		}
	} else if err != nil || len(found) == 0 {
		return newCPUSynthesizer(o)
	}
	s, err := openDevices(o, len(found))
	if errors.Is(err, errors.ErrUnsupported) && o.Backend == Auto {
		o.Log.Debug("on the CPU", "because", err)
		return newCPUSynthesizer(o)
	}
	return s, err
}

// openDevices returns a synthesizer on the devices that o names, of count that
// there are.
func openDevices(o *Options, count int) (Synthesizer, error) {
	ordinals := o.Devices
	if len(ordinals) == 0 {
		ordinals = []int{0}
	}
	s := new(devices)
	for i, n := range ordinals {
		if n < 0 || n >= count || slices.Contains(ordinals[:i], n) {
			s.Close()
			return nil, fault.New(fault.Usage, "--device %v: want different numbers from 0 to %d", ordinals, count-1)
		}
		d, err := openDevice(o, n)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.list = append(s.list, newRescuer(d, d.name, o))
	}
	return s, nil
}

// device is a synthesizer that owns its device.
type device struct {
	Starter
	gpu  *cuda.Device
	name string
}

func openDevice(o *Options, ordinal int) (*device, error) {
	gpu, err := cuda.Open(ordinal)
	if err != nil {
		return nil, err
	}
	return newDevice(o, gpu)
}

func newDevice(o *Options, gpu *cuda.Device) (*device, error) {
	s, err := cuda.NewSynthesizer(gpu, o.params())
	if err != nil {
		gpu.Close()
		return nil, fmt.Errorf("%s: %w", gpu.Info().Name, err)
	}
	return &device{s, gpu, gpu.Info().Name}, nil
}

// Close frees all that the device holds.
func (d *device) Close() {
	d.Starter.Close()
	d.gpu.Close() // after a fault this fails too, and nothing depends on it
}

// HostMemory is the device's; see cuda.Device.
func (d *device) HostMemory() frame.Memory { return d.gpu.HostMemory() }

// memoryOf is where s would have the frames lie that it makes; nil for anywhere.
func memoryOf(s Synthesizer) frame.Memory {
	if d, ok := s.(*devices); ok {
		if m, ok := d.list[0].device.(interface{ HostMemory() frame.Memory }); ok {
			return m.HostMemory()
		}
	}
	return nil
}

// devices hands intervals to several devices in turn. Frames that it starts are
// finished as those of a Starter.
type devices struct {
	list []*rescuer
	now  int // the one whose interval it is
	last int // the one that the last interval was loaded for
}

// after is the number of the next device behind i that works; where none does, that
// of any.
func (d *devices) after(i int) int {
	for range d.list {
		i = (i + 1) % len(d.list)
		if !d.list[i].lost() {
			break
		}
	}
	return i
}

// choose returns the number of the device for the next interval. It may be called by
// another goroutine than the other methods.
func (d *devices) choose() int {
	d.last = d.after(d.last)
	return d.last
}

// turnTo makes the device of that number, or another where it does not work, that of
// the next interval.
func (d *devices) turnTo(i int) {
	if d.now = i; d.list[i].lost() {
		d.now = d.after(i)
	}
}

// Begin passes the interval to the device whose turn it is, or to the CPU where
// none works.
func (d *devices) Begin(in warp.Interval) error { return d.list[d.now].Begin(in) }

func (d *devices) Start(dst *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	return d.list[d.now].Start(dst, phase)
}

func (d *devices) Make(dst *frame.Frame, phase warp.Phase) (warp.Made, error) {
	return d.list[d.now].Make(dst, phase)
}

func (d *devices) Close() {
	for _, r := range d.list {
		r.Close()
	}
}

// describe fills in what the report says of the devices.
func (d *devices) describe(r *Report) {
	r.Backend = CUDA
	for _, l := range d.list {
		r.Devices = append(r.Devices, l.name)
		r.Remade += l.remade.Load()
	}
}

// describeBackend fills in where s makes frames.
func describeBackend(r *Report, s Synthesizer) {
	r.Backend = CPU
	if d, ok := s.(*devices); ok {
		d.describe(r)
	}
}

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
		device: s, name: name, policy: o.FaultPolicy, log: o.Log,
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

func (r *rescuer) Make(dst *frame.Frame, phase warp.Phase) (warp.Made, error) {
	finish, err := r.Start(dst, phase)
	if err != nil {
		return warp.Made{}, err
	}
	return finish()
}

// fault notes that the device failed. It returns an error where that ends the
// job: memory that is short is no fault, and is not there for the next frame
// either.
func (r *rescuer) fault(err error) error {
	switch {
	case errors.Is(err, cuda.ErrOutOfMemory):
		return fault.New(fault.TryAgain, "%s: %w; free some, or use --backend cpu", r.name, err)
	case r.policy == StopAtFault:
		return fault.New(fault.Internal, "%s: %w; with --gpu-fault cpu the job would go on on the CPU", r.name, err)
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
