package pipeline

import (
	"context"

	"retime/pipeline/frame"
	"retime/warp"
)

// synthesize makes the intervals' frames in order. It holds three intervals at
// a time: motion that is not straight shows in the neighbouring ones.
func (c *conversion) synthesize(ctx context.Context, from <-chan *interval, to chan<- output) error {
	defer close(to)
	cuts := newCuts(c.o)
	var w window
	defer w.release()
	scene := 0
	for v := range from {
		w.push(v)
		if err := v.wait(ctx); err != nil {
			return err
		}
		v.scene = scene
		v.cut = v.b.Frame != nil && cuts.within(v, c.line.run.Backward)
		if err := c.wishes.settle(v, c.plan, c.o.Mode); err != nil {
			return err
		}
		if v.cut {
			scene++
			_, at := v.span(c.line.run.Backward)
			c.cuts = append(c.cuts, at)
		}
		if err := c.fill(ctx, &w, to); err != nil {
			return err
		}
	}
	w.push(nil)
	if err := c.fill(ctx, &w, to); err != nil {
		return err
	}
	return ctx.Err()
}

// window is an interval between its neighbours, any of which may be nil.
type window struct{ before, now, after *interval }

func (w *window) push(v *interval) {
	if w.before != nil {
		w.before.release()
	}
	w.before, w.now, w.after = w.now, w.after, v
}

func (w *window) release() {
	for range 3 {
		w.push(nil)
	}
}

// fill makes the frames of the window's middle interval.
func (c *conversion) fill(ctx context.Context, w *window, to chan<- output) error {
	v := w.now
	if v == nil {
		return nil
	}
	begun := false
	for _, s := range v.slots {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !c.part.holds(s.index) {
			continue
		}
		if c.part != nil && c.part.cold && s.index == c.part.first && w.before == nil {
			return errContext
		}
		out, err := c.show(w, s, &begun)
		if err != nil {
			return err
		}
		if s.lost != nil && s.lost.frame != nil {
			if out, err = c.patch(out, s.lost); err != nil {
				return err
			}
		}
		out.from, out.to, out.scene = s.from, s.to, v.scene
		if v.cut && s.phase >= v.hold {
			out.scene++
		}
		if err := send(ctx, to, out); err != nil {
			out.discard()
			return err
		}
	}
	return nil
}

// show returns the frame of slot s in the window's middle interval.
func (c *conversion) show(w *window, s slot, begun *bool) (output, error) {
	v := w.now
	at := c.plan.shown(s)
	stands := c.o.Mode == warp.Nearest || v.cut || v.gap // in whose place nothing is made
	switch {
	case s.phase == 0, s.wish == FromSource:
		return ready(v.a.Frame.Retain(), v.record(s, at, FromSource, warp.Made{})), nil
	case s.wish == Nearest, s.wish == "" && stands:
		return ready(v.nearest(s).Frame.Retain(), v.record(s, at, Nearest, warp.Made{})), nil
	}
	f, finish, err := c.make(w, s.phase, begun)
	if err != nil {
		return output{}, err
	}
	v.retain()
	return output{Frame: f, finish: func() (result, error) {
		defer v.release()
		made, err := finish()
		if err != nil {
			return result{}, err
		}
		return c.settle(v, s, f, made), nil
	}}, nil
}

// make begins to make a frame.
func (c *conversion) make(w *window, phase warp.Phase, begun *bool) (f *frame.Frame, finish func() (warp.Made, error), err error) {
	defer c.times.synthesis.start()()
	if !*begun {
		in := w.describe(c.level)
		if c.o.Mode == warp.Project {
			c.still.mark(&in)
		}
		if err := c.synth.Begin(in); err != nil {
			return nil, nil, err
		}
		*begun = true
	}
	if f, err = c.sink.NewFrame(w.now.a.Frame); err != nil {
		return nil, nil, err
	}
	if s, ok := c.synth.(Starter); ok {
		if finish, err = s.Start(f, phase); err == nil {
			return f, c.timed(finish), nil
		}
	} else {
		var made warp.Made
		if made, err = c.synth.Make(f, phase); err == nil {
			return f, func() (warp.Made, error) { return made, nil }, nil
		}
	}
	f.Release()
	return nil, nil, err
}

// timed adds the time that finish takes to the synthesis's.
func (c *conversion) timed(finish func() (warp.Made, error)) func() (warp.Made, error) {
	return func() (warp.Made, error) {
		defer c.times.synthesis.start()()
		return finish()
	}
}

// describe returns what the synthesis of the middle interval sees.
func (w *window) describe(level int) warp.Interval {
	v := w.now
	in := warp.Interval{
		A: v.a.Frame, B: v.b.Frame, GuideA: v.a.guide, GuideB: v.b.guide, Level: level,
		Flows: v.flows,
	}
	if b := w.before; b != nil && b.moves() && asLong(b, v) {
		in.Before = &warp.Outer{Guide: b.a.guide, Flow: b.flows[0].Backward}
	}
	if a := w.after; a != nil && a.moves() && asLong(a, v) {
		in.After = &warp.Outer{Guide: a.b.guide, Flow: a.flows[0].Forward}
	}
	return in
}
