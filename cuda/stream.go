package cuda

import "fmt"

// Stream is a queue of copies and kernels that run in order. Only one goroutine at a
// time may use it.
type Stream struct {
	device *Device
	handle any
	args   []uint64

	staging *staging // nil if uploads are direct
}

// NewStream returns a stream that waits for no other stream.
func (d *Device) NewStream() (*Stream, error) { return d.newStream(d.driver.NewStream()) }

// NewUrgentStream returns a stream whose waiting kernels start before other streams' waiting kernels.
func (d *Device) NewUrgentStream() (*Stream, error) { return d.newStream(d.driver.NewUrgentStream()) }

func (d *Device) newStream(h any, err error) (*Stream, error) {
	if err != nil {
		return nil, err
	}
	return &Stream{device: d, handle: h}, nil
}

// Device returns the device of the stream.
func (s *Stream) Device() *Device { return s.device }

// Close destroys the stream. All its work must be done.
func (s *Stream) Close() error {
	if s.staging != nil {
		s.staging.free()
	}
	return s.device.driver.DestroyStream(s.handle)
}

// Synchronize waits until all queued work is done, and returns that work's first error.
func (s *Stream) Synchronize() error { return s.device.driver.Synchronize(s.handle) }

// Event is a point in a stream's work.
type Event struct {
	device *Device
	handle any
}

// NewEvent returns an event for ordering the work of streams.
func (d *Device) NewEvent() (*Event, error) { return d.newEvent(false) }

// NewTimedEvent returns an event that also records the time.
func (d *Device) NewTimedEvent() (*Event, error) { return d.newEvent(true) }

func (d *Device) newEvent(timed bool) (*Event, error) {
	h, err := d.driver.NewEvent(timed)
	if err != nil {
		return nil, err
	}
	return &Event{d, h}, nil
}

// Close destroys the event.
func (e *Event) Close() error { return e.device.driver.DestroyEvent(e.handle) }

// Synchronize waits until the event has happened. It returns at once if the event was
// never recorded.
func (e *Event) Synchronize() error { return e.device.driver.SynchronizeEvent(e.handle) }

// Since returns the seconds from an earlier event to e. Both must be timed and have
// happened.
func (e *Event) Since(from *Event) (float64, error) {
	return e.device.driver.Elapsed(from.handle, e.handle)
}

// Record makes e happen when all work queued so far is done.
func (s *Stream) Record(e *Event) error { return s.device.driver.Record(e.handle, s.handle) }

// WaitFor makes the work queued from now on wait for e, which may be recorded on
// another stream.
func (s *Stream) WaitFor(e *Event) error { return s.device.driver.WaitEvent(s.handle, e.handle) }

// Launch queues a kernel over grid blocks of block threads, with shared bytes of
// dynamic shared memory. The arguments must match the kernel's parameters in number and
// type.
func (s *Stream) Launch(k *Kernel, grid, block Dim, shared int, args ...Arg) error {
	s.args = s.args[:0]
	for _, a := range args {
		s.args = append(s.args, a.bits)
	}
	kernel, err := k.handle()
	if err == nil {
		err = s.device.driver.Launch(s.handle, kernel, grid, block, shared, s.args)
	}
	if err != nil {
		return fmt.Errorf("kernel %s of %s.cu: %w", k.name, k.module, err)
	}
	return nil
}
