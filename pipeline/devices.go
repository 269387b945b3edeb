package pipeline

import (
	"retime/pipeline/frame"
	"retime/warp"
)

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
