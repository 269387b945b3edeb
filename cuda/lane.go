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
	inpainter  inpainter
	holes      [maxGroups]holes
	counters   Buffer[uint64]
	clean      bool // whether the accumulators are zero
}

// maxLanes is the largest number of lanes, and lanePixels the number of pixels in guides that keep
// a device busy.
const (
	maxLanes   = 4
	lanePixels = 4 << 20
)

// lanesFor returns how many lanes are worthwhile for guides of the given number of pixels.
func lanesFor(pixels int) int { return max(2, min(maxLanes, lanePixels/max(1, pixels))) }

func newLane(d *Device, p warp.Params) (l *lane, err error) {
	l = new(lane)
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
	if l.colours, err = newColours(d); err != nil || p.Mode == warp.Blend {
		return l, err
	}
	if l.inpainter, err = newInpainter(l.stream, p.Directions); err != nil || p.Mode == warp.Splat {
		return l, err
	}
	if l.projection, err = newProjection(d); err != nil {
		return l, err
	}
	if l.bend, err = newBend(d); err != nil {
		return l, err
	}
	if l.shares, err = newShares(l.stream); err != nil {
		return l, err
	}
	if l.guesses, err = newGuesses(d); err != nil {
		return l, err
	}
	if l.calm, err = newCalm(d); err != nil {
		return l, err
	}
	l.renderer, err = newRenderer(l.stream, p.Order, p.Kernel)
	return l, err
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
	l.projection.free()
	l.bend.free()
	l.shares.free()
	l.guesses.free()
	l.calm.free()
	l.renderer.free()
	l.colours.free()
	l.inpainter.free()
	l.counters.Free()
	for i := range l.holes {
		l.holes[i].free()
	}
}

// resize makes the memory fit. No work may be queued.
func (l *lane) resize(p *warp.Params, to *layout) error {
	d := l.stream.device
	l.clean = false
	if err := l.counters.Resize(d, counters); err != nil {
		return err
	}
	if p.Mode == warp.Blend {
		return nil
	}
	for i, g := range to.groups[:to.count] {
		h := &l.holes[i]
		if err := h.resize(d, g, to.format.Bytes()); err != nil {
			return err
		}
		h.counter = l.counters.part(groupCounter+i, 1)
		at := h.counter.Arg().bits
		h.count, h.rest = Arg{at}, Arg{at + 4}
		if p.Mode == warp.Splat {
			if err := l.colours.sums[i].resize(l.stream, g.width*g.height, 2, g.end-g.first); err != nil {
				return err
			}
		}
	}
	if p.Mode == warp.Splat {
		return nil
	}
	if err := l.projection.resize(l.stream, to.guideWidth, to.guideHeight, to.flows+2); err != nil {
		return err
	}
	if p.Acceleration {
		if err := l.bend.resize(d, to.guideWidth, to.guideHeight, to.level); err != nil {
			return err
		}
	}
	if err := l.calm.resize(d, to); err != nil {
		return err
	}
	list := hypotheses(to.flows, to.level)
	if err := l.guesses.resize(d, to.guideWidth*to.guideHeight, len(list)); err != nil {
		return err
	}
	return l.shares.resize(l.stream, to.guideWidth, to.guideHeight, to.level, list)
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
