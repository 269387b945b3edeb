package synth

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"retime/cuda"
	"retime/flow/dis"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp"
)

// Open returns what makes the frames: CUDA devices, or else the CPU. Errors carry a
// fault.Kind.
func Open(p Params) (Synthesizer, error) {
	if p.onCPU() {
		return NewCPU(p.Warp)
	}
	found, err := cuda.Devices()
	if p.Backend == CUDA {
		switch {
		case errors.Is(err, cuda.ErrNotBuilt):
			return nil, fault.New(fault.Usage, "Compute.Backend cuda: %w; run retime-cuda, or use Compute.Backend cpu", err)
		case err != nil:
			return nil, fault.New(fault.TryAgain, "Compute.Backend cuda: %w; use Compute.Backend cpu", err)
		case len(found) == 0:
			return nil, fault.New(fault.TryAgain, "Compute.Backend cuda: no CUDA device answers; use Compute.Backend cpu")
		}
	} else if err != nil || len(found) == 0 {
		return NewCPU(p.Warp)
	}
	c := compare(&p, found[0])
	if c.leaves() {
		return NewCPU(p.Warp)
	}
	list, err := openDevices(p, len(found))
	if err != nil {
		return withoutDevices(p, err)
	}
	if c.measures(&p, list[0]) {
		list[0].Close()
		return NewCPU(p.Warp)
	}
	return NewDevices(p, list...), nil
}

// KeepDevices leaves the contexts and kernels of devices that are closed from now on to those that
// are opened later, until release is called.
func KeepDevices() (release func()) { return cuda.Keep() }

// Opening is a synthesizer that is being opened while its caller does other things, such as
// open the input.
type Opening struct {
	done   chan struct{} // closed when s and err are set
	s      Synthesizer
	err    error
	waited bool
}

// Begin begins to open a synthesizer.
func Begin(p Params) *Opening {
	return begin(func() (Synthesizer, error) { return Open(p) })
}

func begin(open func() (Synthesizer, error)) *Opening {
	o := &Opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.s, o.err = open()
	}()
	return o
}

// Wait returns what Open returns.
func (o *Opening) Wait() (Synthesizer, error) {
	<-o.done
	o.waited = true
	return o.s, o.err
}

// Drop closes the synthesizer unless Wait has returned it, but waits for nothing: it is closed
// once it is open, and may log until then.
func (o *Opening) Drop() {
	if o.waited {
		return
	}
	go func() {
		<-o.done
		if o.err == nil {
			o.s.Close()
		}
	}()
}

// onCPU reports whether p asks for no device.
func (p *Params) onCPU() bool { return p.Backend == CPU || p.Warp.Mode == warp.Nearest }

// FirstDevice returns the number of the CUDA device that frames are made on first.
func (p *Params) FirstDevice() int {
	if len(p.Devices) == 0 {
		return 0
	}
	return p.Devices[0]
}

// withoutDevices returns the CPU's synthesizer after devices could not be opened, or an
// error if the caller asked for devices or named wrong ones.
func withoutDevices(p Params, err error) (Synthesizer, error) {
	switch {
	case fault.KindOf(err) == fault.Usage:
		return nil, err
	case p.Backend == CUDA && errors.Is(err, cuda.ErrOutOfMemory):
		return nil, fault.New(fault.TryAgain, "%w; free some of the device's memory, or use Compute.Backend cpu", err)
	case p.Backend == CUDA:
		return nil, err
	case errors.Is(err, errors.ErrUnsupported):
		p.Log.Debug("on the CPU", "because", err)
	default:
		p.Log.Warn("the device cannot be used; frames are made on the CPU", "error", err)
	}
	return NewCPU(p.Warp)
}

// openDevices opens the devices that p names, of count that there are.
func openDevices(p Params, count int) ([]Device, error) {
	ordinals := p.Devices
	if len(ordinals) == 0 {
		ordinals = []int{0}
	}
	for i, n := range ordinals {
		if n < 0 || n >= count || slices.Contains(ordinals[:i], n) {
			return nil, fault.New(fault.Usage, "Compute.Devices %v: want different numbers from 0 to %d", ordinals, count-1)
		}
	}
	list, errs := make([]Device, len(ordinals)), make([]error, len(ordinals))
	var opening sync.WaitGroup
	for i, n := range ordinals { // at once, because each takes tenths of a second
		opening.Go(func() { list[i], errs[i] = openNumber(&p, n, len(ordinals) > 1) })
	}
	opening.Wait()
	if err := cmp.Or(errs...); err != nil {
		for i, d := range list {
			if errs[i] == nil {
				d.Close()
			}
		}
		return nil, err
	}
	return list, nil
}

// openNumber opens the device with the number n, which its name tells if there are several.
func openNumber(p *Params, n int, several bool) (Device, error) {
	gpu, err := cuda.Open(n)
	if err != nil {
		return nil, err
	}
	gpu.LimitMemory(p.DeviceMemory)
	name := gpu.Info().Name
	if several {
		name = fmt.Sprintf("%s (device %d)", name, n)
	}
	return OpenDevice(p.Warp, gpu, name)
}

// Device makes frames of one interval after another. All calls but Load, Has and Flow come from one
// goroutine.
type Device interface {
	// Load brings an interval that is begun soon to the device, from another goroutine
	// than Begin and Start. An interval may be begun without it.
	Load(in warp.Interval) error
	Begin(in warp.Interval) error
	// Start begins to make a frame of the interval that was begun last, and returns; see
	// Job.
	Start(dst *frame.Frame, phase warp.Phase) (finish func() (warp.Made, error), err error)
	// Has reports whether the device has flows that one of its estimators returned.
	Has(p warp.FlowPair) bool
	// Flow returns an estimator of flow on the device, which is closed before the device.
	// The error is errors.ErrUnsupported if there is none.
	Flow(o dis.Options) (FlowDevice, error)
	// HostMemory holds frames that the device writes without a copy; nil for none.
	HostMemory() frame.Memory
	// FreeMemory is how many bytes of its memory may still be used.
	FreeMemory() int64
	Name() string
	Close()
}

// cudaDevice is a cuda.Synthesizer that owns its device.
type cudaDevice struct {
	*cuda.Synthesizer
	gpu  *cuda.Device
	name string
}

// OpenDevice returns the Device that makes frames on gpu, and takes gpu over. Messages and
// reports call the device by the name; empty for the name that the driver gives.
func OpenDevice(p warp.Params, gpu *cuda.Device, name string) (Device, error) {
	name = cmp.Or(name, gpu.Info().Name)
	s, err := cuda.NewSynthesizer(gpu, p)
	if err != nil {
		gpu.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &cudaDevice{s, gpu, name}, nil
}

func (d *cudaDevice) HostMemory() frame.Memory { return d.gpu.HostMemory() }
func (d *cudaDevice) FreeMemory() int64        { return d.gpu.FreeMemory() }
func (d *cudaDevice) Name() string             { return d.name }

// Close frees all that the device holds.
func (d *cudaDevice) Close() {
	d.Synthesizer.Close()
	d.gpu.Close() // after a fault this fails too, and nothing depends on it
}
