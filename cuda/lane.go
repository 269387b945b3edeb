package cuda

import (
	"retime/warp"
)

// lane makes frames one after the other, on its own stream and in its own memory. The kernels of a
// frame leave most of a device idle, so a synthesizer has several lanes.
type lane struct {
	stream *Stream
	last   *Event // happens when the work queued so far is done

	projection projection
	bend       bend
	shares     shares
	guesses    guesses
	calm       calm
	renderer   renderer
	colours    colours
	fader      fader
	inpainter  inpainter
	gaps       gaps
	parts      parts // of these, those that the program needs

	counters Buffer[uint64]
	clean    bool // whether the accumulators are zero
}

// maxLanes is the largest number of lanes, and lanePixels the number of pixels in guides that keep
// a device busy.
const (
	maxLanes   = 4
	lanePixels = 4 << 20
)

// lanesFor returns how many lanes are worthwhile for guides of the given number of pixels.
func lanesFor(pixels int) int { return max(2, min(maxLanes, lanePixels/max(1, pixels))) }

func newLane(d *Device, program *program, p *warp.Params) (l *lane, err error) {
	l = new(lane)
	l.gaps.counters = &l.counters
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.stream, err = d.NewStream(); err != nil {
		return l, err
	}
	if l.last, err = d.NewEvent(); err != nil {
		return l, err
	}
	l.parts = program.lane(l, p)
	return l, l.parts.open(l.stream, p)
}

// close waits for the queued work and frees all memory.
func (l *lane) close() {
	// If the device has failed, there is nothing left to do about errors.
	if l.stream != nil {
		_ = l.stream.Synchronize()
		_ = l.stream.Close()
	}
	if l.last != nil {
		_ = l.last.Close()
	}
	l.parts.free()
	l.counters.Free()
}

// resize makes the memory fit. No work may be queued.
func (l *lane) resize(to *layout) error {
	l.clean = false
	if err := l.counters.Resize(l.stream.device, counters); err != nil {
		return err
	}
	return l.parts.resize(l.stream, to)
}

// clear queues the fills that zero the accumulators and counters between frames, unless they are
// zero.
func (l *lane) clear(to *layout) error {
	if l.clean {
		return nil
	}
	if err := l.counters.Clear(l.stream); err != nil {
		return err
	}
	for i := range to.groups[:to.count] {
		if err := l.colours.sums[i].clear(l.stream); err != nil {
			return err
		}
	}
	if err := l.bend.moved.Clear(l.stream); err != nil {
		return err
	}
	if err := l.projection.sums.clear(l.stream); err != nil {
		return err
	}
	l.clean = true
	return nil
}
