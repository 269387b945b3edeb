package pipeline

import (
	"context"
	"math/big"
	"slices"
	"sync/atomic"

	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// newRuns returns the runs that make a range of frames: the conversion's own, and one for each
// other way that decisions choose for a frame of the range. The caller passes them to closeBeside.
func (l *Line) newRuns(pass *timeline.Pass, want Range, v media.Video) (runs []*run, err error) {
	w, err := l.options.Ways()
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
		o, p := *l.options, pass
		if way.Shutter != w.Own().Shutter {
			var ok bool
			if p, ok = l.plan.WithShutter(pass, way.Open()); !ok {
				return runs, fault.New(fault.Usage, "Synthesis.Decisions choose shutters, and the output's frames have no constant rate")
			}
		}
		o.Synthesis.Preset = way.Preset
		slots := want
		if n > 0 {
			slots = frames.times(p.Layout.Subframes())
		}
		r, err := l.newRun(&o, p, slots, v)
		if err != nil {
			return runs, err
		}
		r.number, r.ways, r.wanting, r.synth = n, w, wanting, l.synth
		if n > 0 {
			if r.synth, err = l.open(&o); err != nil {
				return runs, err
			}
		}
		wanting.Add(1)
		runs = append(runs, r)
	}
	return runs, nil
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

// end is the number of the slot behind the last one that r may make.
func (r *run) end() int64 {
	first, end := r.ways.Bounds(r.number)
	return min(r.want.End, Range{First: first, End: end}.times(r.pass.Layout.Subframes()).End)
}

// dividedAhead is how many pictures wait for each of several runs. When the run whose turn it
// is to deliver a frame waits for pictures, any other run has one of its own ready that is not
// before it, and so has taken the pictures up to the one behind the next interval. Of the next
// pictures, as many go around that run as it has room for: two if an interval comes in parts, and
// more if the runs take different ones for repeats.
func dividedAhead(d Duplicates) int {
	if d == RetimeDuplicates {
		return 4 * (maxRepeats + 1)
	}
	return 2
}

// divide hands each picture to all runs.
func divide(s *stages, from <-chan *Picture, runs []*run) []<-chan *Picture {
	queues := make([]chan *Picture, len(runs))
	ends := make([]<-chan *Picture, len(runs))
	for i, r := range runs {
		queues[i] = make(chan *Picture, dividedAhead(r.options.Synthesis.Duplicates))
		ends[i] = queues[i]
		s.drains = append(s.drains, func() { drain(queues[i]) })
	}
	s.start(func(ctx context.Context) error {
		defer func() {
			for _, q := range queues {
				close(q)
			}
		}()
		for p := range from {
			for i, r := range runs {
				mine := r.picture(p)
				select {
				case queues[i] <- mine:
				case <-ctx.Done():
					mine.Release()
					p.Release()
					return ctx.Err()
				}
			}
			p.Release()
		}
		return nil
	})
	return ends
}

// picture returns p with the guide of the run, and a reference of its own.
func (r *run) picture(p *Picture) *Picture {
	mine := *p
	if _, level := p.Guide.Source(); level != r.level {
		mine.Guide = r.guide(p.Frame)
	}
	return mine.Retain()
}

// gather passes on what runs make in the order of the frames.
func (r *run) gather(runs []*run, made []<-chan *Target) stage[*Target] {
	return func(_ context.Context, emit func(*Target) error) error {
		queues := make([]<-chan *Target, len(r.ways.List)) // by way; nil for one that has ended
		end := int64(0)                                    // of the frames of other ways
		for i, other := range runs {
			queues[other.number] = made[i]
			if other.number > 0 {
				_, last := r.ways.Bounds(other.number)
				end = max(end, last)
			}
		}
		next := r.frame(max(r.want.First, r.pass.Layout.First()))
		for ; queues[0] != nil || next < end; next++ {
			n := r.ways.Number(next)
			if queues[n] == nil {
				continue
			}
			t, ok := <-queues[n]
			if !ok {
				queues[n] = nil
				continue
			}
			if err := emit(t); err != nil {
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
