package pipeline

import (
	"context"
	"errors"
	"io"
	"math/big"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retime/frame"
	"retime/pipeline/fault"
)

// conversion is one run of the stages.
type conversion struct {
	o      *Options
	plan   *plan
	part   *part     // nil for the whole
	line   *timeline // of the pass that is under way
	source Source
	sink   Sink
	synth  Synthesizer
	level  int                // of the guides
	still  frame.Image[uint8] // where nothing ever moves, on the guides' grid; empty for nowhere
	ladder ladder
	assess assessor
	wishes decisions

	sources, frames, made int64
	gaps                  int64
	cuts                  []*big.Rat // times of the first frames of scenes
	repeats               int64      // source frames left out as repeats
	damage                error
	times                 stageTimes
	enough                atomic.Bool // what is read now is not wanted
}

// decodedQueue is how many frames wait between decoding and planning, and finishedQueue
// how many between synthesis and encoding.
const (
	decodedQueue  = 2
	finishedQueue = 4
)

// run converts everything. It returns the damage that ended the input early,
// or else an error.
func (c *conversion) run(ctx context.Context) (damage, err error) {
	group, ctx := errgroup.WithContext(ctx)
	tasks, leave, err := c.analyse(ctx, group)
	if err != nil {
		return nil, err
	}
	loaded, queue := tasks, finishedQueue
	if d, ok := c.synth.(*devices); ok {
		n := len(d.list)
		loaded, queue = make(chan *task, loadedQueue(n)), startedQueue(n)
		group.Go(func() error { return c.load(ctx, d, tasks, loaded) })
	}
	outputs := make(chan output, queue)
	group.Go(func() error { return c.synthesize(ctx, loaded, outputs) })
	finished := outputs
	if c.line.moments() > 1 {
		finished = make(chan output)
		group.Go(func() error { return c.expose(ctx, outputs, finished) })
	}
	group.Go(func() error { return c.encode(ctx, finished) })
	if err = group.Wait(); err == nil {
		err = c.conclude()
	}

	// After an error the queues still hold frames.
	leave()
	drain(loaded, (*task).release)
	drain(outputs, output.discard)
	drain(finished, output.discard)
	return c.damage, err
}

// conclude judges what was written. No stage can, as a queue also ends where the
// stage before it fails.
func (c *conversion) conclude() error {
	if c.part != nil {
		return nil
	}
	if c.frames == 0 && c.damage == nil && c.line.run.End == nil {
		if c.o.Repairs != nil && c.sources > 0 {
			return fault.New(fault.Usage, "every frame of %q is to be made anew; none is left to make them from", c.o.Input.File)
		}
		return fault.New(fault.Usage, "the part from %s holds no frame of %q", seconds(c.line.at(0)), c.o.Input.File)
	}
	if c.line == &c.plan.lines[len(c.plan.lines)-1] {
		c.wishes.warn(c.o.Hooks.Log)
	}
	return nil
}

// analyse starts the stages before the synthesis, which tell what is to be made of
// what. leave is called when they have ended.
func (c *conversion) analyse(ctx context.Context, group *errgroup.Group) (tasks chan *task, leave func(), err error) {
	workers := c.o.flowWorkers()
	pictures := make(chan picture, decodedQueue)
	estimates := make(chan *interval)        // to the flow workers
	ordered := make(chan *interval, workers) // the same ones, in order
	tasks = make(chan *task)
	c.level = c.o.Synthesis.Preset.level(c.source.Video().Width, c.source.Video().Height)
	if c.line == nil {
		c.line = &c.plan.lines[0]
	}
	c.ladder = newLadder(c.o)
	if c.wishes.of == nil { // those of all passes
		c.wishes = newDecisions(c.o.Synthesis.Decisions)
	}
	c.assess.Workers = c.o.workers()
	if c.still, err = staticMask(c.o, c.source.Video(), c.level); err != nil {
		return nil, nil, err
	}
	group.Go(func() error { return c.decode(ctx, pictures) })
	distinct := pictures
	if c.o.Synthesis.Duplicates == RetimeDuplicates {
		distinct = make(chan picture)
		group.Go(func() error { return c.dropRepeats(ctx, pictures, distinct) })
	}
	if c.o.Repairs != nil {
		distinct = make(chan picture)
		whole := distinct
		group.Go(func() error { return c.leaveOut(ctx, pictures, whole) })
		if c.o.Synthesis.Mode.UsesFlow() {
			distinct = make(chan picture)
			group.Go(func() error { return c.lookAround(ctx, whole, distinct) })
		}
	}
	group.Go(func() error { return c.place(ctx, distinct, estimates, ordered) })
	for range workers {
		group.Go(func() error { return c.estimate(ctx, estimates) })
	}
	group.Go(func() error { return c.relate(ctx, ordered, tasks) })
	return tasks, func() {
		drain(pictures, picture.Release)
		drain(distinct, picture.Release)
		drain(ordered, (*interval).release)
		drain(tasks, (*task).release)
	}, nil
}

// drain lets go of what is left in a queue, which is closed.
func drain[T any](queue <-chan T, drop func(T)) {
	for v := range queue {
		drop(v)
	}
}

// send delivers v unless ctx ends first.
func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// decode reads the source to its end. Damage ends it early without an error.
func (c *conversion) decode(ctx context.Context, to chan<- picture) error {
	defer close(to)
	for {
		stop := c.times.decode.start()
		f, err := c.source.Read()
		stop()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && fault.KindOf(err) == fault.BadData:
			c.damage = err
			return nil
		case err != nil:
			return err
		}
		p := picture{Frame: f, number: c.sources, view: c.view(f), at: c.moment(f.PTS)}
		c.sources++
		if err := send(ctx, to, p); err != nil {
			f.Release()
			return err
		}
		if t := c.stop(); t != nil && p.at.Cmp(t) >= 0 || c.enough.Load() {
			return nil
		}
	}
}

// moment is the time of a frame on the clock of the run, which rises.
func (c *conversion) moment(pts int64) *big.Rat {
	t := c.plan.clock.at(pts)
	if c.line.run.Backward {
		t.Neg(t)
	}
	return t
}

// stop is the moment from which on no frame is wanted; nil for the source's end.
func (c *conversion) stop() *big.Rat {
	t := c.line.run.To
	if t == nil {
		return c.plan.to
	}
	if c.line.run.Backward {
		return new(big.Rat).Neg(t)
	}
	return t
}

// estimate computes the flow of intervals, both ways at once.
func (c *conversion) estimate(ctx context.Context, from <-chan *interval) error {
	e, err := newEstimators(c.o)
	if err != nil {
		return err
	}
	defer e.close()
	for v := range from {
		stop := c.times.flow.start()
		if v.a.far.Frame != nil {
			v.err = e.estimateContinued(v, newCuts(c.o).threshold)
		} else if v.err = e.estimate(v); v.err == nil {
			v.change = measureChange(v.a.guide(), v.b.guide(), v.flows[0])
		}
		stop()
		close(v.ready)
		v.release()
	}
	return ctx.Err()
}

// output is a frame to be encoded, which may still be in the making. finish is
// called once; it returns when the frame is there, with its record.
type output struct {
	*frame.Frame
	finish   func() (result, error)
	from, to *big.Rat // as the slot's
	scene    int      // which it belongs to, from 0
}

// ready is the output of a frame that is there.
func ready(f *frame.Frame, r Record) output {
	return output{Frame: f, finish: func() (result, error) { return result{Record: r}, nil }}
}

// discard lets go of a frame that nobody wants any more.
func (f output) discard() {
	_, _ = f.finish() // its error goes the way of the frame
	f.Release()
}

// encode writes the frames.
func (c *conversion) encode(ctx context.Context, from <-chan output) error {
	for f := range from {
		record, err := f.finish()
		if err == nil {
			stop := c.times.encode.start()
			if c.o.Hooks.Digest != nil {
				c.o.Hooks.Digest(c.number(), digest(f.Frame))
			}
			err = c.write(f)
			stop()
		}
		f.Release()
		if err != nil {
			return err
		}
		c.frames++
		if record.Method == Interpolated || record.Method == Blended || record.Method == Exposed || record.Method == Extrapolated {
			c.made++
		}
		if c.o.Hooks.Record != nil {
			c.o.Hooks.Record(record.Record)
		}
		if c.o.Hooks.ConfidenceMap != nil && record.confidence.Width > 0 {
			if err := c.o.Hooks.ConfidenceMap(record.Frame, record.confidence); err != nil {
				return err
			}
		}
		if c.o.Hooks.Progress != nil {
			c.o.Hooks.Progress(Progress{c.frames, max(c.plan.total, c.frames)})
		}
	}
	return ctx.Err()
}

// number is that of the frame that is written next.
func (c *conversion) number() int64 {
	if c.part == nil {
		return c.frames
	}
	return c.part.first/c.line.moments() + c.frames
}

// write hands f to the sink.
func (c *conversion) write(f output) error {
	if f.from == nil {
		return c.sink.WriteFrame(f.Frame)
	}
	return c.sink.(TimedSink).WriteFrameAt(f.Frame, f.from, f.to)
}

// stageTimes adds up how long each stage was at work.
type stageTimes struct{ decode, flow, load, synthesis, encode stopwatch }

type stopwatch struct{ total atomic.Int64 }

func (w *stopwatch) start() (stop func()) {
	began := time.Now()
	return func() { w.total.Add(int64(time.Since(began))) }
}

func (t *stageTimes) stages() Stages {
	d := func(w *stopwatch) time.Duration { return time.Duration(w.total.Load()) }
	return Stages{d(&t.decode), d(&t.flow), d(&t.load), d(&t.synthesis), d(&t.encode)}
}
