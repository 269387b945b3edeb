package pipeline

import (
	"context"

	"retime/frame"
	"retime/warp"
)

// place pairs neighbouring pictures and says which frames lie between them.
func (c *conversion) place(ctx context.Context, from <-chan picture, estimates, ordered chan<- *interval) error {
	defer close(estimates)
	defer close(ordered)
	var lead *interval // the one before the part's first
	defer func() {
		if lead != nil {
			lead.release()
		}
	}()
	pass := func(v *interval) error {
		if u := lead; u != nil {
			lead = nil
			if err := c.dispatch(ctx, u, estimates, ordered); err != nil {
				v.release()
				return err
			}
		}
		return c.dispatch(ctx, v, estimates, ordered)
	}
	var last picture
	placed := c.line.first
	for next := range from {
		if last.Frame == nil {
			last = next
			if c.part != nil && c.part.cold {
				if placed = c.line.from(last.at); placed > c.part.first {
					last.Release()
					return errContext
				}
			}
			continue
		}
		v := &interval{a: last, b: next, slots: c.slots(placed, last, next), ready: make(chan struct{})}
		last = next
		placed += int64(len(v.slots))
		v.hold = v.turn()
		if g := c.plan.gap; g != nil && v.length().Cmp(g) > 0 {
			v.gap, v.hold = true, warp.PhaseOne
			c.warnOfGap(v)
		}
		if len(v.slots) == 0 {
			v.a.Release()
			continue
		}
		if v.makes() && frame.Equal(v.a.Frame, v.b.Frame) {
			v.rest()
		}
		next.Retain()
		if c.part != nil && placed <= c.part.first {
			if lead != nil {
				lead.release()
			}
			lead = v
			continue
		}
		if err := pass(v); err != nil {
			last.Release()
			return err
		}
		if c.part != nil && v.slots[0].index >= c.part.end {
			last.Release()
			c.enough.Store(true)
			for p := range from {
				p.Release()
			}
			return ctx.Err()
		}
	}
	if last.Frame == nil {
		return ctx.Err()
	}
	v := &interval{a: last, slots: c.lastSlots(placed, last), ready: make(chan struct{})}
	v.rest() // nothing follows: the last frame stays
	return pass(v)
}

// slots places frames from picture a to b.
func (c *conversion) slots(placed int64, a, b picture) []slot {
	switch {
	case c.o.Repairs != nil:
		return c.repairs(placed, a, b.at, c.plan.clock.exact(b.PTS))
	case c.plan.unit != nil:
		return c.line.divide(placed, a.at, b.at)
	}
	return c.line.between(placed, a.at, b.at)
}

// lastSlots are those of the last picture: until it ends, or to the end of a run
// that has one.
func (c *conversion) lastSlots(placed int64, last picture) (slots []slot) {
	frames := c.line.frames
	if c.line.run.End == nil {
		end := c.plan.clock.after(last.PTS, last.Duration)
		switch {
		case c.o.Repairs != nil:
			return c.repairs(placed, last, end, end)
		case c.plan.unit != nil:
			return c.line.divide(placed, last.at, end)
		case c.line.exposure == nil:
			return c.line.between(placed, last.at, end)
		}
		frames = min(frames, c.line.count(end)*c.line.moments())
	}
	for ; placed < frames; placed++ {
		slots = append(slots, slot{index: placed})
	}
	return slots
}

func (c *conversion) warnOfGap(v *interval) {
	if c.gaps++; c.gaps == 1 {
		c.o.Hooks.Log.Warn("the source has gaps, in which the frame before stands", "first", seconds(v.a.at), "length", seconds(v.length()))
	}
}

// dispatch sends v to the synthesis, and to be estimated where that is needed. It
// takes v over.
func (c *conversion) dispatch(ctx context.Context, v *interval, estimates, ordered chan<- *interval) error {
	if !v.makes() || v.gap || !c.o.Synthesis.Mode.UsesFlow() {
		close(v.ready)
		err := send(ctx, ordered, v)
		if err != nil {
			v.release()
		}
		return err
	}
	// A cancelled run drops v from the ordered queue while its flow is still
	// being estimated, so either side holds references of its own.
	v.retain()
	if err := send(ctx, ordered, v); err != nil {
		v.release()
		v.release()
		return err
	}
	if err := send(ctx, estimates, v); err != nil {
		v.release()
		return err
	}
	return nil
}
