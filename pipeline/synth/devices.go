package synth

import (
	"cmp"
	"context"
	"sync"

	"retime/frame"
	"retime/warp"
)

// devices divide the frames to be made among themselves.
type devices struct {
	workers []*worker
	roomy   bool // whether each has roomyMemory free
	// The goroutine that assigns intervals keeps the device of the last frame, and how
	// many more frames and intervals that device gets.
	last                     int
	frameRoom, intervalsRoom int
}

// turn is what one of several devices makes before the next one takes over, so many frames in so
// many intervals at most. At each change a device needs pictures of another one, and finds again the
// motion in two intervals that the other one has found, too; but as much as a turn waits for each
// device.
type turn struct{ frames, intervals int }

// The turns between pictures of up to longPixels, on devices that have roomyMemory, and all others.
var long, short = turn{64, 16}, turn{16, 4}

const (
	longPixels  = 2048 * 1152
	roomyMemory = 4 << 30
)

// turnOf returns the turn between pictures of so many pixels.
func (d *devices) turnOf(pixels int) turn {
	if pixels <= longPixels && d.roomy {
		return long
	}
	return short
}

// startedAhead is how many frames that a number of devices have started wait for the
// encoder.
func startedAhead(devices int, t turn) int {
	if devices == 1 {
		return 8
	}
	return devices * t.frames
}

// maxStarted is how many frames a number of devices make at a time at most: those in the
// queue to the encoder, and one at either end of it.
func maxStarted(devices int) int { return startedAhead(devices, long) + 2 }

// loadedAhead is how many intervals that a number of devices have wait for their turn.
func loadedAhead(devices int, t turn) int {
	if devices == 1 {
		return 1
	}
	return devices * t.intervals
}

// NewDevices returns a Synthesizer that divides the work among devices, of which there
// must be one at least, and falls back to the CPU as p says. Close closes the devices.
func NewDevices(p Params, list ...Device) Synthesizer {
	d := &devices{roomy: true}
	for _, device := range list {
		d.roomy = d.roomy && device.FreeMemory() >= roomyMemory
		f := newFallback(device, p)
		d.workers = append(d.workers, newWorker(f, len(list)))
	}
	return d
}

func (d *devices) Ahead(pixels int) (intervals, frames int) {
	t := d.turnOf(pixels)
	return loadedAhead(len(d.workers), t), startedAhead(len(d.workers), t)
}

func (d *devices) Flow() (list []FlowSource) {
	for _, w := range d.workers {
		list = append(list, FlowSource{w.device})
	}
	return list
}

func (d *devices) Memory() frame.Memory { return d.workers[0].device.HostMemory() }

func (d *devices) Summary() Summary {
	s := Summary{Backend: CUDA}
	for _, w := range d.workers {
		s.Devices = append(s.Devices, w.device.Name())
		s.Remade += w.device.remade.Load()
		s.Load += w.loading.total()
		s.Synthesis += w.working.total()
	}
	return s
}

func (d *devices) Close() {
	for _, w := range d.workers {
		w.close()
	}
}

// Assign divides the frames among the devices.
func (d *devices) Assign(frames, pixels int) Assignment {
	a := Assignment{shares: d.assign(frames, d.turnOf(pixels)), first: d.last}
	if len(a.shares) > 0 {
		a.first = a.shares[0].worker
	}
	return a
}

func (d *devices) assign(frames int, t turn) (list []share) {
	for frames > 0 {
		if d.frameRoom <= 0 || d.intervalsRoom == 0 || d.workers[d.last].device.lost() {
			d.last, d.frameRoom, d.intervalsRoom = d.after(d.last), t.frames, t.intervals
		}
		n := min(frames, t.frames)
		frames, d.frameRoom, d.intervalsRoom = frames-n, d.frameRoom-n, d.intervalsRoom-1
		if k := len(list) - 1; k >= 0 && list[k].worker == d.last {
			list[k].frames += n
			continue
		}
		list = append(list, share{d.last, n})
	}
	return list
}

// after returns the number of the next device after i that works, or of any if none
// does.
func (d *devices) after(i int) int {
	for range d.workers {
		i = (i + 1) % len(d.workers)
		if !d.workers[i].device.lost() {
			break
		}
	}
	return i
}

func (d *devices) Prepare(ctx context.Context, to Assignment, in Interval, frames int) (Job, error) {
	j := &deviceJob{devices: d, in: in}
	for _, s := range to.limited(frames) {
		if d.workers[s.worker].device.lost() {
			s.worker = d.after(s.worker)
		}
		l := loadedShare{s, make(chan struct{})}
		select {
		case d.workers[s.worker].loads <- load{ctx, in, l.loaded}:
			j.assigned = append(j.assigned, l)
		case <-ctx.Done():
			j.Close()
			return nil, ctx.Err()
		}
	}
	return j, nil
}

// deviceJob makes the frames of one interval on the devices that it is assigned to.
type deviceJob struct {
	devices  *devices
	in       Interval
	assigned []loadedShare
	begun    int // of the shares
	left     int // frames of the one that was begun last
	now      *worker
}

// loadedShare is a share on its way to its device.
type loadedShare struct {
	share
	loaded chan struct{} // closed once the device has the interval, or never will
}

// Start passes the work to the device whose turn it is, and does not wait for that
// device's calls either.
func (j *deviceJob) Start(ctx context.Context, dst *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	if j.left == 0 {
		j.begin()
	}
	j.left--
	type started struct {
		finish func() (warp.Made, error)
		err    error
	}
	w, result := j.now, make(chan started, 1)
	w.calls <- func() {
		defer w.working.start()()
		s := started{err: cmp.Or(ctx.Err(), w.begun)}
		if s.err == nil {
			s.finish, s.err = w.device.Start(dst, phase)
		}
		result <- s
	}
	return func() (warp.Made, error) {
		defer w.working.start()()
		s := <-result
		if s.err != nil {
			return warp.Made{}, s.err
		}
		return s.finish()
	}, nil
}

// begin has the next device begin the interval. The frames that are started then report
// its error.
func (j *deviceJob) begin() {
	a := j.assigned[j.begun]
	j.begun++
	j.left = a.frames
	w := j.devices.workers[a.worker]
	if w.device.lost() {
		w = j.devices.workers[j.devices.after(a.worker)]
	}
	j.now = w
	w.calls <- func() {
		<-a.loaded
		defer w.working.start()()
		w.begun = w.device.Begin(j.in)
	}
}

func (j *deviceJob) Close() {
	for _, a := range j.assigned {
		<-a.loaded
	}
}

// load is an interval to be brought to a device.
type load struct {
	ctx  context.Context
	in   Interval
	done chan struct{}
}

// worker is a device with a goroutine that loads intervals and one that begins intervals
// and starts frames, so that no device waits for another.
type worker struct {
	device           *fallback
	loads            chan load
	calls            chan func()
	begun            error // what the last Begin returned; of the goroutine of calls
	loading, working stopwatch
	running          sync.WaitGroup
}

func newWorker(device *fallback, devices int) *worker {
	w := &worker{
		device: device,
		loads:  make(chan load, loadedAhead(devices, long)-1),
		calls:  make(chan func(), 3*maxStarted(devices)),
	}
	w.running.Go(func() {
		for l := range w.loads {
			if l.ctx.Err() == nil {
				stop := w.loading.start()
				_ = w.device.Load(l.in) // Begin meets the error again
				stop()
			}
			close(l.done)
		}
	})
	w.running.Go(func() {
		for call := range w.calls {
			call()
		}
	})
	return w
}

func (w *worker) close() {
	close(w.loads)
	close(w.calls)
	w.running.Wait()
	w.device.Close()
}
