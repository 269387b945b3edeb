package stages

import (
	"context"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"retime/pipeline/decision"
	"retime/pipeline/timeline"
)

// newRuns returns the runs that make a range of frames: the conversion's own, and one for each
// other way that decisions choose for a frame of the range. The caller passes them to closeBeside.
func (l *Line) newRuns(pass *timeline.Pass, want Range, v timeline.Video) (runs []*run, err error) {
	w, err := decision.NewWays(l.params.Way, l.params.Decisions)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.closeBeside(runs)
		}
	}()
	wanting := new(atomic.Int32)
	each := pass.Layout.Subframes()
	for n, way := range w.List {
		frames := Range{First: want.First / each, End: want.End, Midway: want.Midway}
		if want.End != timeline.Endless {
			frames.End = want.End / each
		}
		if first, end := w.Bounds(n); n > 0 && (first >= frames.End || end <= frames.First) {
			continue
		}
		p, err := w.Pass(n, l.plan, pass)
		if err != nil {
			return runs, err
		}
		slots := want
		if n > 0 {
			slots = frames.times(p.Layout.Subframes())
		}
		r, err := l.newRun(way.Preset, p, slots, v)
		if err != nil {
			return runs, err
		}
		r.number, r.ways, r.wanting, r.synth = n, w, wanting, l.synth
		if n > 0 {
			if r.synth, err = l.params.Open(way.Preset); err != nil {
				return runs, err
			}
		}
		wanting.Add(1)
		runs = append(runs, r)
	}
	return runs, nil
}

// connectAll connects the stages of several runs, each of which gets all pictures.
func connectAll(s *stages, pictures <-chan *Picture, runs []*run, schedules []Schedule) <-chan *Target {
	d := newDivider(runs)
	targets := make([]<-chan *Target, len(runs))
	for i, queue := range d.divide(s, pictures) {
		targets[i] = runs[i].connect(s, queue, schedules[i], true)
	}
	return connect(s, 0, runs[0].gather(runs, targets, func(frame int64) { d.set(func() { d.next = frame }) }))
}

// times returns r in slots, of which each frame has so many.
func (r Range) times(each int64) Range {
	r.First *= each
	if r.End != timeline.Endless {
		r.End *= each
	}
	return r
}

// closeBeside closes the synthesizers that were opened for runs, and counts what they did.
func (l *Line) closeBeside(runs []*run) {
	for _, r := range runs {
		if r.number == 0 {
			continue
		}
		s := r.synth.Summary()
		r.synth.Close()
		l.beside.Load += s.Load
		l.beside.Synthesis += s.Synthesis
		l.beside.Remade += s.Remade
	}
}

// end is the number of the slot after the last one that r may make.
func (r *run) end() int64 {
	first, end := r.ways.Bounds(r.number)
	return min(r.want.End, Range{First: first, End: end}.times(r.pass.Layout.Subframes()).End)
}

// dividedAhead is how many pictures may wait for each of several runs. Two are enough for the run whose
// frame is due to advance past the next interval, even if that comes in parts. Runs that take
// different pictures for repeats need more, and those that retime repeats in parts of pictures more still.
func dividedAhead(runs []*run) int {
	switch {
	case slices.ContainsFunc(runs, (*run).retimesDrawings):
		return (4 + drawingsAfter) * (maxRepeats + 1)
	case runs[0].params.DropRepeats:
		return 4 * (maxRepeats + 1)
	}
	return 2
}

// divider hands each picture to all runs. If they have different shutters, the next interval with
// frames is not the same one for all: many pictures may lie between the next subframe of a run
// that waits for its turn and the next frame of the run whose turn it is. They go around the first.
type divider struct {
	runs  []*run
	ahead int  // see dividedAhead
	mixed bool // the runs have different shutters

	mu     sync.Mutex
	change sync.Cond    // of what follows
	lists  [][]*Picture // that wait, by run
	times  []*big.Rat   // of the pictures from frame next on, if the runs are mixed
	next   int64        // frame whose turn it is
	ended  bool         // no further picture comes
}

func newDivider(runs []*run) *divider {
	d := &divider{runs: runs, ahead: dividedAhead(runs), lists: make([][]*Picture, len(runs))}
	d.change.L = &d.mu
	for _, r := range runs {
		d.mixed = d.mixed || r.pass != runs[0].pass
	}
	return d
}

// divide returns a queue of the pictures for each run.
func (d *divider) divide(s *stages, from <-chan *Picture) (queues []<-chan *Picture) {
	s.start(func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() { d.set(func() {}) })()
		defer d.set(func() { d.ended = true })
		for p := range from {
			if err := d.put(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range d.runs {
		queues = append(queues, connect(s, 0, func(ctx context.Context, emit func(*Picture) error) error {
			for p := d.take(ctx, i); p != nil; p = d.take(ctx, i) {
				if err := emit(p); err != nil {
					return err
				}
			}
			return ctx.Err()
		}))
		s.drains = append(s.drains, func() {
			for _, p := range d.lists[i] {
				p.Release()
			}
		})
	}
	return queues
}

// set changes the divider's state and wakes who waits for that.
func (d *divider) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
	d.change.Broadcast()
}

// put hands p to all runs once there is room. It takes over p.
func (d *divider) put(ctx context.Context, p *Picture) error {
	defer p.Release()
	d.mu.Lock()
	defer d.mu.Unlock()
	for ctx.Err() == nil && !d.room() {
		d.change.Wait()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, r := range d.runs {
		d.lists[i] = append(d.lists[i], r.picture(p))
	}
	if d.mixed {
		d.note(p.At)
	}
	d.change.Broadcast()
	return nil
}

// room reports whether the next picture may come: if all runs have room for it, or if the one whose
// turn it is lacks it.
func (d *divider) room() bool {
	full := slices.ContainsFunc(d.lists, func(l []*Picture) bool { return len(l) >= d.ahead })
	if !full || !d.mixed {
		return !full
	}
	i := slices.IndexFunc(d.runs, func(r *run) bool { return r.number == r.ways.Number(d.next) })
	return i >= 0 && len(d.lists[i]) == 0 && d.lacks(d.runs[i].pass.Layout)
}

// lacks reports whether the pictures so far may not reach the end of the next interval with frames
// of a layout, after that of frame next.
func (d *divider) lacks(l timeline.Layout) bool {
	last := l.Moment((d.next+1)*l.Subframes() - 1)
	behind := slices.IndexFunc(d.times, func(t *big.Rat) bool { return t.Cmp(last) > 0 })
	if behind < 0 || len(d.times) < behind+d.ahead {
		return true
	}
	after := l.Moment(l.FirstFrom(d.times[behind+d.ahead-1]))
	return d.times[len(d.times)-d.ahead].Cmp(after) <= 0
}

// note takes note of a picture's time, and drops times before frame next.
func (d *divider) note(at *big.Rat) {
	l := d.runs[0].pass.Layout
	first := l.Moment(d.next * l.Subframes())
	d.times = append(slices.DeleteFunc(d.times, func(t *big.Rat) bool { return t.Cmp(first) <= 0 }), at)
}

// take returns the next picture for a run, nil for none.
func (d *divider) take(ctx context.Context, i int) *Picture {
	d.mu.Lock()
	defer d.mu.Unlock()
	for ctx.Err() == nil && !d.ended && len(d.lists[i]) == 0 {
		d.change.Wait()
	}
	if ctx.Err() != nil || len(d.lists[i]) == 0 {
		return nil
	}
	p := d.lists[i][0]
	d.lists[i] = d.lists[i][1:]
	d.change.Broadcast()
	return p
}

// picture returns p with the guide of the run, and a reference of its own.
func (r *run) picture(p *Picture) *Picture {
	mine := *p
	if _, scale := p.Guide.Source(); scale != r.scale {
		mine.Guide = r.guide(p.Frame)
	}
	return mine.Retain()
}

// gather passes on what runs make in the order of the frames. It tells turn which one it waits for.
func (r *run) gather(runs []*run, made []<-chan *Target, turn func(frame int64)) stage[*Target] {
	return func(_ context.Context, emit func(*Target) error) error {
		queues := make([]<-chan *Target, len(r.ways.List)) // by way; nil for one that has ended
		for i, other := range runs {
			queues[other.number] = made[i]
		}
		pass := func(frame int64) error {
			n := r.ways.Number(frame)
			if queues[n] == nil {
				return nil
			}
			turn(frame)
			t, ok := <-queues[n]
			if !ok {
				queues[n] = nil
				return nil
			}
			return emit(t)
		}
		next := r.frame(max(r.want.First, r.pass.Layout.First()))
		for ; queues[0] != nil; next++ {
			if err := pass(next); err != nil {
				return err
			}
		}
		for _, frame := range r.ways.From(next) {
			if err := pass(frame); err != nil {
				return err
			}
		}
		for _, queue := range queues {
			if queue == nil {
				continue
			}
			for t := range queue { // none, as the way's last frame was its turn
				if err := emit(t); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// cutsOf returns the times at which scenes begin, as the runs found them in their intervals.
func cutsOf(runs []*run) (list []*big.Rat) {
	for _, r := range runs {
		list = append(list, r.cuts...)
	}
	if len(runs) == 1 {
		return list
	}
	slices.SortFunc(list, func(a, b *big.Rat) int {
		if runs[0].pass.Backward {
			a, b = b, a
		}
		return a.Cmp(b)
	})
	return slices.CompactFunc(list, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
}
