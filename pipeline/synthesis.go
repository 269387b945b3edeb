package pipeline

import (
	"context"
	"sync"

	"retime/frame"
	"retime/warp"
)

// task is an interval with what its frames are made from.
type task struct {
	*interval
	around []*interval   // those that in refers to, held
	first  bool          // no interval is known before it
	made   int           // how many frames are, of in
	in     warp.Interval // empty where none is
	turns  []turn        // of devices, those to come
	left   int           // how many more frames are made before the next one
}

func (t *task) retain() {
	for _, v := range t.around {
		v.retain()
	}
}

func (t *task) release() {
	for _, v := range t.around {
		v.release()
	}
}

// relate settles in order what is shown in the intervals, and tells what their frames
// are made from. It holds three intervals at a time: motion that is not straight
// shows in the neighbouring ones.
func (c *conversion) relate(ctx context.Context, from <-chan *interval, to chan<- *task) error {
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
		if err := c.wishes.settle(v, c.plan, c.o.Synthesis.Mode); err != nil {
			return err
		}
		if v.cut {
			scene++
			_, at := v.span(c.line.run.Backward)
			c.cuts = append(c.cuts, at)
		}
		if err := c.assign(ctx, &w, to); err != nil {
			return err
		}
	}
	w.push(nil)
	if err := c.assign(ctx, &w, to); err != nil {
		return err
	}
	return ctx.Err()
}

// assign sends the task of the window's middle interval.
func (c *conversion) assign(ctx context.Context, w *window, to chan<- *task) error {
	v := w.now
	if v == nil {
		return nil
	}
	t := &task{interval: v, first: w.before == nil}
	for _, s := range v.slots {
		if c.part.holds(s.index) && c.method(v, s) == Interpolated {
			t.made++
		}
	}
	if t.made > 0 {
		t.in = w.describe(c.level)
		if c.o.Synthesis.Mode == warp.Project {
			t.in.Static = c.still
		}
	}
	for _, v := range []*interval{w.before, v, w.after} {
		if v != nil {
			t.around = append(t.around, v)
		}
	}
	t.retain()
	err := send(ctx, to, t)
	if err != nil {
		t.release()
	}
	return err
}

// load lets the devices, which work at once, have each interval before its turn.
func (c *conversion) load(ctx context.Context, d *devices, from <-chan *task, to chan<- *task) error {
	defer close(to)
	type load struct {
		*task
		done chan struct{}
	}
	var loaders sync.WaitGroup
	defer loaders.Wait()
	queues := make([]chan load, len(d.list))
	for i := range queues {
		queues[i] = make(chan load, loadedQueue(len(d.list))-1)
		defer close(queues[i])
		loaders.Go(func() {
			for l := range queues[i] {
				if ctx.Err() == nil {
					stop := c.times.load.start()
					_ = d.list[i].Load(l.in) // Begin meets the error again
					stop()
				}
				close(l.done)
				l.release()
			}
		})
	}
	for t := range from {
		t.turns = d.share(t.made)
		for _, u := range t.turns {
			t.retain()
			if err := send(ctx, queues[u.device], load{t, u.loaded}); err != nil {
				t.release() // the loader's
				t.release()
				return err
			}
		}
		if err := send(ctx, to, t); err != nil {
			t.release()
			return err
		}
	}
	return ctx.Err()
}

// synthesize makes the intervals' frames in order.
func (c *conversion) synthesize(ctx context.Context, from <-chan *task, to chan<- output) error {
	defer close(to)
	if d, ok := c.synth.(*devices); ok {
		defer d.open(ctx, &c.times.synthesis)()
	}
	for t := range from {
		err := c.fill(ctx, t, to)
		t.release()
		if err != nil {
			return err
		}
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

// fill makes the frames of an interval.
func (c *conversion) fill(ctx context.Context, t *task, to chan<- output) error {
	for _, s := range t.slots {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !c.part.holds(s.index) {
			continue
		}
		if c.part != nil && c.part.cold && s.index == c.part.first && t.first {
			return errContext
		}
		out, err := c.show(t, s)
		if err != nil {
			return err
		}
		if s.lost != nil && s.lost.frame != nil {
			if out, err = c.patch(out, s.lost); err != nil {
				return err
			}
		}
		out.from, out.to, out.scene = s.from, s.to, t.scene
		if t.cut && s.phase >= t.hold {
			out.scene++
		}
		if err := send(ctx, to, out); err != nil {
			out.discard()
			return err
		}
	}
	return nil
}

// method says how the frame of slot s in v is come by: it is there, as FromSource or
// Nearest, Extrapolated, or else made.
func (c *conversion) method(v *interval, s slot) Method {
	stands := c.o.Synthesis.Mode == warp.Nearest || v.cut || v.gap // in whose place nothing is made
	switch {
	case s.beyond != 0 && v.continued != nil:
		return Extrapolated
	case s.phase == 0, s.wish == FromSource:
		return FromSource
	case s.wish == Nearest, s.wish == "" && stands:
		return Nearest
	}
	return Interpolated
}

// show returns the frame of slot s.
func (c *conversion) show(t *task, s slot) (output, error) {
	v := t.interval
	at := c.plan.shown(s)
	switch c.method(v, s) {
	case Extrapolated:
		return c.extrapolate(t, s)
	case FromSource:
		return ready(v.a.Frame.Retain(), v.record(s, at, FromSource, warp.Made{})), nil
	case Nearest:
		return ready(v.nearest(s).Frame.Retain(), v.record(s, at, Nearest, warp.Made{})), nil
	}
	f, finish, err := c.make(t, s.phase)
	if err != nil {
		return output{}, err
	}
	t.retain()
	return output{Frame: f, finish: func() (result, error) {
		defer t.release()
		made, err := finish()
		if err != nil {
			return result{}, err
		}
		return c.settle(v, s, f, made), nil
	}}, nil
}

// make begins to make a frame.
func (c *conversion) make(t *task, phase warp.Phase) (f *frame.Frame, finish func() (warp.Made, error), err error) {
	defer c.times.synthesis.start()()
	d, ok := c.synth.(*devices)
	if t.left == 0 {
		t.left = t.made
		if ok {
			t.left = t.turns[0].frames
			d.turnTo(t.turns[0])
			t.turns = t.turns[1:]
		}
		if err := c.synth.Begin(t.in); err != nil {
			return nil, nil, err
		}
	}
	t.left--
	if f, err = c.sink.NewFrame(t.a.Frame); err != nil {
		return nil, nil, err
	}
	if ok {
		if finish, err = d.Start(f, phase); err == nil {
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
		A: v.a.Frame, B: v.b.Frame, GuideA: v.a.guide(), GuideB: v.b.guide(), Level: level,
		Flows: v.flows,
	}
	in.Before, in.After = v.outer[0], v.outer[1]
	if b := w.before; in.Before == nil && b != nil && b.moves() && asLong(b, v) {
		in.Before = &warp.Outer{Guide: b.a.guide(), Flow: b.flows[0].Backward, Frame: b.a.Frame}
	}
	if a := w.after; in.After == nil && a != nil && a.moves() && asLong(a, v) {
		in.After = &warp.Outer{Guide: a.b.guide(), Flow: a.flows[0].Forward, Frame: a.b.Frame}
	}
	return in
}
