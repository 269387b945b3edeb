package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"retime/cuda"
	"retime/frame"
	"retime/pipeline/fault"
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

// newSynthesizer returns what makes the frames: devices, or else the CPU.
func newSynthesizer(o *Options) (Synthesizer, error) {
	if o.Compute.Backend == CPU || o.Synthesis.Mode == warp.Nearest {
		return newCPUSynthesizer(o)
	}
	found, err := cuda.Devices()
	if o.Compute.Backend == CUDA {
		switch {
		case errors.Is(err, cuda.ErrNotBuilt):
			return nil, fault.New(fault.Usage, "Compute.Backend cuda: %w; run retime-cuda, or use Compute.Backend cpu", err)
		case err != nil:
			return nil, fault.New(fault.TryAgain, "Compute.Backend cuda: %w; use Compute.Backend cpu", err)
		case len(found) == 0:
			return nil, fault.New(fault.TryAgain, "Compute.Backend cuda: no CUDA device answers; use Compute.Backend cpu")
		}
	} else if err != nil || len(found) == 0 {
		return newCPUSynthesizer(o)
	}
	s, err := openDevices(o, len(found))
	if err != nil {
		return withoutDevices(o, err)
	}
	return s, nil
}

// withoutDevices returns what makes the frames where err came of opening devices: the
// CPU, unless that is no choice.
func withoutDevices(o *Options, err error) (Synthesizer, error) {
	switch {
	case fault.KindOf(err) == fault.Usage:
		return nil, err
	case o.Compute.Backend == CUDA && errors.Is(err, cuda.ErrOutOfMemory):
		return nil, fault.New(fault.TryAgain, "%w; free some of the device's memory, or use Compute.Backend cpu", err)
	case o.Compute.Backend == CUDA:
		return nil, err
	case errors.Is(err, errors.ErrUnsupported):
		o.Hooks.Log.Debug("on the CPU", "because", err)
	default:
		o.Hooks.Log.Warn("the device cannot be used; frames are made on the CPU", "error", err)
	}
	return newCPUSynthesizer(o)
}

// openDevices returns a synthesizer on the devices that o names, of count that
// there are.
func openDevices(o *Options, count int) (Synthesizer, error) {
	ordinals := o.Compute.Devices
	if len(ordinals) == 0 {
		ordinals = []int{0}
	}
	s := new(devices)
	for i, n := range ordinals {
		if n < 0 || n >= count || slices.Contains(ordinals[:i], n) {
			s.Close()
			return nil, fault.New(fault.Usage, "Compute.Devices %v: want different numbers from 0 to %d", ordinals, count-1)
		}
		d, err := openDevice(o, n)
		if err != nil {
			s.Close()
			return nil, err
		}
		name := d.name
		if len(ordinals) > 1 {
			name = fmt.Sprintf("%s (device %d)", name, n)
		}
		s.list = append(s.list, newRescuer(d, name, o))
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
