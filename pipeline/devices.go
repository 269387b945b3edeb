package pipeline

import (
	"cmp"
	"context"
	"sync"

	"retime/frame"
	"retime/warp"
)

// devices share the frames to be made. They are finished as those of a Starter.
type devices struct {
	list []*rescuer
	// Of the goroutine that shares the frames:
	last            int // the device that the last one went to
	left, intervals int // how many more may go there
	// Of the goroutine that starts them, from open on:
	lanes []*lane
	now   int // whose turn it is
}

// turnFrames is how many frames one of several devices makes before it is another's
// turn, and turnIntervals in how many intervals at most. It needs their flows and
// pictures, and those of the two beside them.
const (
	turnFrames    = 16
	turnIntervals = 4
)

// startedQueue is how many frames that so many devices are making wait for the encoder.
func startedQueue(devices int) int {
	if devices == 1 {
		return 8
	}
	return devices * turnFrames
}

// maxStarted is the most frames that so many devices make at a time: those in the
// queue to the encoder, and one at either end of it.
func maxStarted(devices int) int { return startedQueue(devices) + 2 }

// loadedQueue is how many intervals that so many devices have wait for their turn.
func loadedQueue(devices int) int {
	if devices == 1 {
		return 1
	}
	return devices * turnIntervals
}

// turn is a run of an interval's frames that one device makes.
type turn struct {
	device, frames int
	loaded         chan struct{} // closed when the device has the interval
}

// share shares the next frames, so many of one interval, among the devices.
func (d *devices) share(frames int) (turns []turn) {
	for frames > 0 {
		if d.left <= 0 || d.intervals == 0 || d.list[d.last].lost() {
			d.last, d.left, d.intervals = d.after(d.last), turnFrames, turnIntervals
		}
		n := min(frames, turnFrames)
		frames, d.left, d.intervals = frames-n, d.left-n, d.intervals-1
		if k := len(turns) - 1; k >= 0 && turns[k].device == d.last {
			turns[k].frames += n
			continue
		}
		turns = append(turns, turn{d.last, n, make(chan struct{})})
	}
	return turns
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

// lane is a device and the goroutine that has it begin intervals and start frames, so
// that none waits for what is queued on another.
type lane struct {
	device *rescuer
	calls  chan func(context.Context)
	busy   *stopwatch
	err    error // of the last Begin
}

// open starts the lanes, for Begin, Start and Make until end, which returns when all that
// was begun and started is; that may be finished later. Once ctx ends nothing is started.
// busy takes the lanes' time.
func (d *devices) open(ctx context.Context, busy *stopwatch) (end func()) {
	var running sync.WaitGroup
	d.lanes = nil
	for _, r := range d.list {
		l := &lane{device: r, busy: busy, calls: make(chan func(context.Context), 3*maxStarted(len(d.list)))}
		d.lanes = append(d.lanes, l)
		running.Go(func() {
			for call := range l.calls {
				call(ctx)
			}
		})
	}
	return func() {
		for _, l := range d.lanes {
			close(l.calls)
		}
		running.Wait()
	}
}

// turnTo makes the device of that turn, or another where it is lost, that of the
// interval that is begun next.
func (d *devices) turnTo(u turn) {
	if d.now = u.device; d.list[d.now].lost() {
		d.now = d.after(d.now)
	}
	d.lanes[d.now].calls <- func(context.Context) { <-u.loaded }
}

// Begin passes the interval to the device whose turn it is. The frames that are started
// then tell of its error.
func (d *devices) Begin(in warp.Interval) error {
	l := d.lanes[d.now]
	l.calls <- func(context.Context) {
		defer l.busy.start()()
		l.err = l.device.Begin(in)
	}
	return nil
}

// Start has the device begin to make a frame, and does not wait for that either.
func (d *devices) Start(dst *frame.Frame, phase warp.Phase) (finish func() (warp.Made, error), err error) {
	type start struct {
		finish func() (warp.Made, error)
		err    error
	}
	l := d.lanes[d.now]
	started := make(chan start, 1)
	l.calls <- func(ctx context.Context) {
		defer l.busy.start()()
		s := start{err: cmp.Or(ctx.Err(), l.err)}
		if s.err == nil {
			s.finish, s.err = l.device.Start(dst, phase)
		}
		started <- s
	}
	return func() (warp.Made, error) {
		s := <-started
		if s.err != nil {
			return warp.Made{}, s.err
		}
		return s.finish()
	}, nil
}

func (d *devices) Make(dst *frame.Frame, phase warp.Phase) (warp.Made, error) {
	finish, err := d.Start(dst, phase)
	if err != nil {
		return warp.Made{}, err
	}
	return finish()
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
