package pipeline

import (
	"context"
	"errors"
	"io"
	"math/big"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retime/pipeline/fault"
	"retime/pipeline/frame"
	"retime/warp"
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
	level  int // of the guides
	still  overlays
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

// picture is a source frame on its way. Its references are counted with the
// frame's own.
type picture struct {
	*frame.Frame
	number int64 // from 0 at the first one read
	guide  frame.Image[uint8]
	at     *big.Rat // on the source's clock
	shown  *big.Rat // when its last repeat was shown, nil where it has none
	lost   []lost   // pictures behind it that are made anew
	stands bool     // for the first of the lost ones, as none comes before them
}

// Retain adds a reference to the frame and to what is kept of lost ones.
func (p picture) Retain() {
	p.Frame.Retain()
	for _, l := range p.lost {
		l.retain()
	}
}

// Release drops a reference to both.
func (p picture) Release() {
	p.Frame.Release()
	for _, l := range p.lost {
		l.release()
	}
}

// interval is the time between two source frames and what is shown in it.
type interval struct {
	a, b  picture // b is empty behind the last frame
	slots []slot
	// Set before ready is closed.
	flows  []warp.FlowPair
	change change
	err    error
	ready  chan struct{}
	hold   warp.Phase // how long the first picture stands where none is made
	gap    bool       // too long for motion to run through
	// Set by the synthesis.
	cut   bool
	scene int // of its first picture
}

func (v *interval) retain() {
	v.a.Retain()
	v.b.Retain()
}

func (v *interval) release() {
	v.a.Release()
	if v.b.Frame != nil {
		v.b.Release()
	}
}

// makes says whether any frame of the interval must be made.
func (v *interval) makes() bool {
	for _, s := range v.slots {
		if s.phase != 0 {
			return true
		}
	}
	return false
}

// rest shows the first picture throughout.
func (v *interval) rest() {
	for i := range v.slots {
		v.slots[i].phase = 0
	}
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

// decodedQueue is how many frames wait between decoding and planning, and
// finishedQueue how many between synthesis and encoding.
const (
	decodedQueue  = 2
	finishedQueue = 2
)

// run converts everything. It returns the damage that ended the input early,
// or else an error.
func (c *conversion) run(ctx context.Context) (damage, err error) {
	workers := c.o.flowWorkers()
	group, ctx := errgroup.WithContext(ctx)
	pictures := make(chan picture, decodedQueue)
	estimates := make(chan *interval)        // to the flow workers
	ordered := make(chan *interval, workers) // the same ones, in order
	outputs := make(chan output, finishedQueue)
	c.level = c.o.Preset.level(c.source.Video().Width, c.source.Video().Height)
	if c.line == nil {
		c.line = &c.plan.lines[0]
	}
	c.ladder, c.wishes = newLadder(c.o), newDecisions(c.o.Decisions)
	c.assess.Workers = c.o.workers()
	if c.still, err = newOverlays(c.o, c.source.Video(), c.level); err != nil {
		return nil, err
	}

	group.Go(func() error { return c.decode(ctx, pictures) })
	distinct := pictures
	if c.o.Duplicates == RetimeDuplicates {
		distinct = make(chan picture)
		group.Go(func() error { return c.dropRepeats(ctx, pictures, distinct) })
	}
	if c.o.Repairs != nil {
		distinct = make(chan picture)
		group.Go(func() error { return c.leaveOut(ctx, pictures, distinct) })
	}
	group.Go(func() error { return c.place(ctx, distinct, estimates, ordered) })
	for range workers {
		group.Go(func() error { return c.estimate(ctx, estimates) })
	}
	group.Go(func() error { return c.synthesize(ctx, ordered, outputs) })
	finished := outputs
	if c.line.moments() > 1 {
		finished = make(chan output)
		group.Go(func() error { return c.expose(ctx, outputs, finished) })
	}
	group.Go(func() error { return c.encode(ctx, finished) })
	err = group.Wait()
	if err == nil && c.part == nil {
		c.wishes.warn(c.o.Log)
	}

	// After an error the queues still hold frames.
	for p := range pictures {
		p.Release()
	}
	for p := range distinct {
		p.Release()
	}
	for v := range ordered {
		v.release()
	}
	for f := range outputs {
		f.discard()
	}
	for f := range finished {
		f.discard()
	}
	return c.damage, err
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
		p := picture{Frame: f, number: c.sources, guide: c.guide(f), at: c.moment(f.PTS)}
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

// guide returns the picture that f's motion is estimated on.
func (c *conversion) guide(f *frame.Frame) frame.Image[uint8] {
	if !c.o.Mode.UsesFlow() && c.o.Duplicates == KeepDuplicates {
		return frame.Image[uint8]{}
	}
	g := warp.Luma(f)
	for range c.level {
		g = warp.Halve(g)
	}
	return g
}

// place pairs neighbouring pictures and says which frames lie between them.
func (c *conversion) place(ctx context.Context, from <-chan picture, estimates, ordered chan<- *interval) error {
	defer close(estimates)
	defer close(ordered)
	var last picture
	var context *interval // the one before the part's first
	defer func() {
		if context != nil {
			context.release()
		}
	}()
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
			if context != nil {
				context.release()
			}
			context = v
			continue
		}
		if context != nil {
			u := context
			context = nil
			if err := c.dispatch(ctx, u, estimates, ordered); err != nil {
				v.release()
				last.Release()
				return err
			}
		}
		if err := c.dispatch(ctx, v, estimates, ordered); err != nil {
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
	if context != nil {
		u := context
		context = nil
		if err := c.dispatch(ctx, u, estimates, ordered); err != nil {
			last.Release()
			return err
		}
	}
	v := &interval{a: last, slots: c.lastSlots(placed, last), ready: make(chan struct{})}
	v.rest() // nothing follows: the last frame stays
	return c.dispatch(ctx, v, estimates, ordered)
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
		c.o.Log.Warn("the source has gaps, in which the frame before stands", "first", seconds(v.a.at), "length", seconds(v.length()))
	}
}

func (c *conversion) dispatch(ctx context.Context, v *interval, estimates, ordered chan<- *interval) error {
	if !v.makes() || v.gap || !c.o.Mode.UsesFlow() {
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

// estimate computes the flow of intervals, both ways at once.
func (c *conversion) estimate(ctx context.Context, from <-chan *interval) error {
	e, err := newEstimators(c.o)
	if err != nil {
		return err
	}
	defer e.close()
	for v := range from {
		stop := c.times.flow.start()
		if v.err = e.estimate(v); v.err == nil {
			v.change = measureChange(v.a.guide, v.b.guide, v.flows[0])
		}
		stop()
		close(v.ready)
		v.release()
	}
	return ctx.Err()
}

// encode writes the frames.
func (c *conversion) encode(ctx context.Context, from <-chan output) error {
	for f := range from {
		record, err := f.finish()
		if err == nil {
			stop := c.times.encode.start()
			if c.o.Digest != nil {
				c.o.Digest(c.number(), digest(f.Frame))
			}
			err = c.write(f)
			stop()
		}
		f.Release()
		if err != nil {
			return err
		}
		c.frames++
		if record.Method == Interpolated || record.Method == Blended || record.Method == Exposed {
			c.made++
		}
		if c.o.Record != nil {
			c.o.Record(record.Record)
		}
		if c.o.ConfidenceMap != nil && record.confidence.Width > 0 {
			if err := c.o.ConfidenceMap(record.Frame, record.confidence); err != nil {
				return err
			}
		}
		if c.o.Progress != nil {
			c.o.Progress(Progress{c.frames, max(c.plan.total, c.frames)})
		}
	}
	if c.frames == 0 && ctx.Err() == nil && c.damage == nil && c.line.run.End == nil && c.part == nil {
		return fault.New(fault.Usage, "the part from %s holds no frame of %q", seconds(c.line.at(0)), c.o.Input)
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
type stageTimes struct{ decode, flow, synthesis, encode stopwatch }

type stopwatch struct{ total atomic.Int64 }

func (w *stopwatch) start() (stop func()) {
	began := time.Now()
	return func() { w.total.Add(int64(time.Since(began))) }
}

func (t *stageTimes) stages() Stages {
	d := func(w *stopwatch) time.Duration { return time.Duration(w.total.Load()) }
	return Stages{d(&t.decode), d(&t.flow), d(&t.synthesis), d(&t.encode)}
}
