package evaluate

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
)

// evaluation is the state of one Run.
type evaluation struct {
	o       *Options
	clip    *clip
	methods []method
	meter   meter
	gallery *gallery

	failed  []Failure // the peers that are left out
	timings []timing
	scores  [][]Score           // by method and held-out frame
	records [][]pipeline.Record // likewise, for the methods that record
	done    int64               // frames made so far, for progress
	total   int64
}

func newEvaluation(o *Options, c *clip, methods []method) (*evaluation, error) {
	e := &evaluation{o: o, clip: c, methods: methods, meter: meter{workers: o.workers()}}
	if !o.NoVIF {
		v, err := newVIF(c.video, o.Threads)
		if err != nil {
			o.Log.Warn("visual information fidelity is left out", "reason", err)
		}
		e.meter.vif = v
	}
	var err error
	if e.gallery, err = newGallery(o.Worst, c.video, o.Threads); err != nil {
		e.meter.close()
		return nil, err
	}
	return e, nil
}

func (e *evaluation) close() {
	e.meter.close()
	e.gallery.close()
}

func (e *evaluation) progress() {
	e.done++
	e.o.Progress(pipeline.Progress{Frames: e.done, Total: e.total})
}

const (
	// timedFrames is the number of frames that each method makes against the clock;
	// timedBytes bounds the memory of their neighbours.
	timedFrames = 16
	timedBytes  = 128 << 20
)

// timing is the time in which a method made frames whose neighbours were decoded in
// advance, without comparing the results.
type timing struct {
	frames  int
	elapsed time.Duration
}

func (t timing) perFrame() float64 { return t.elapsed.Seconds() / float64(t.frames) }

func (e *evaluation) timeAll(ctx context.Context) error {
	kept, held, err := e.clip.head(ctx, timedFrames, timedBytes)
	if err != nil {
		return err
	}
	defer releaseAll(kept)
	e.total = int64(len(e.methods) * (held + len(e.clip.held)))
	return e.each(ctx, func(m method) error {
		sink := &timedSink{progress: e.progress}
		began := time.Now()
		if err := m.maker.make(ctx, &replay{e.clip.video, kept}, sink, e.clip.stamps(held)); err != nil {
			return err
		}
		if sink.frames != held {
			return fmt.Errorf("made %d of %d frames", sink.frames, held)
		}
		e.timings = append(e.timings, timing{held, time.Since(began)})
		return nil
	})
}

// each calls try for all methods. It leaves out the peers for which try fails.
func (e *evaluation) each(ctx context.Context, try func(method) error) error {
	for i := 0; i < len(e.methods); {
		m, done := e.methods[i], e.done
		err := try(m)
		switch {
		case err == nil:
			i++
		case m.kind != kindPeer || ctx.Err() != nil:
			return e.named(m, err)
		default:
			e.o.Log.Warn("a peer fails, and is left out", "peer", m.name, "reason", err)
			e.failed = append(e.failed, Failure{m.name, err.Error()})
			e.done = done
			e.leaveOut(i)
		}
	}
	return nil
}

// leaveOut removes method i, which may have failed anywhere.
func (e *evaluation) leaveOut(i int) {
	e.methods = slices.Delete(e.methods, i, i+1)
	e.total -= int64(len(e.clip.held))
	if i < len(e.timings) {
		e.timings = slices.Delete(e.timings, i, i+1)
	} else {
		e.total -= int64(e.timings[0].frames) // the first method is no peer
	}
	e.gallery.keepViews(i)
}

// named adds the method to err.
func (e *evaluation) named(m method, err error) error {
	return fault.New(fault.KindOf(err), "%s %q: %w", m.kind, m.name, err)
}

// replay is a pipeline.Source that delivers frames from memory.
type replay struct {
	video  media.Video
	frames []*frame.Frame
}

func (r *replay) Video() media.Video { return r.video }

func (r *replay) Read() (*frame.Frame, error) {
	if len(r.frames) == 0 {
		return nil, io.EOF
	}
	f := r.frames[0].Retain()
	r.frames = r.frames[1:]
	return f, nil
}

// timedSink is a pipeline.Sink that counts frames and drops them.
type timedSink struct {
	frames   int
	progress func()
}

func (*timedSink) NewFrame(like *frame.Frame) (*frame.Frame, error) { return pixel.NewFrame(like) }

func (s *timedSink) WriteFrame(*frame.Frame, *big.Rat, *big.Rat) error {
	s.frames++
	s.progress()
	return nil
}

func (e *evaluation) tryAll(ctx context.Context) error {
	return e.each(ctx, func(method) error {
		t := &trial{e: e, method: len(e.scores)}
		if err := t.run(ctx); err != nil {
			return err
		}
		e.scores, e.records = append(e.scores, t.scores), append(e.records, t.records)
		if t.method == 0 {
			e.gallery.settle()
		}
		return nil
	})
}

// trial is one method's pass over the clip. As a pipeline.Sink, it compares the frames
// that the method makes with the truth.
type trial struct {
	e       *evaluation
	method  int
	reading *reading
	scores  []Score
	records []pipeline.Record
}

func (t *trial) run(ctx context.Context) (err error) {
	if t.reading, err = t.e.clip.read(ctx); err != nil {
		return err
	}
	defer t.reading.close()
	held := len(t.e.clip.held)
	if err := t.e.methods[t.method].maker.make(ctx, t.reading, t, t.e.clip.stamps(held)); err != nil {
		return err
	}
	if len(t.scores) != held {
		return fmt.Errorf("made %d of %d frames", len(t.scores), held)
	}
	return nil
}

// NewFrame returns a frame for a method to fill in.
func (*trial) NewFrame(like *frame.Frame) (*frame.Frame, error) { return pixel.NewFrame(like) }

// WriteFrame compares a made frame with the next held-out frame.
func (t *trial) WriteFrame(made *frame.Frame, _, _ *big.Rat) error {
	h, err := t.reading.take()
	if err != nil {
		return err
	}
	defer h.release()
	score, err := t.e.meter.score(h.truth, made)
	if err != nil {
		return err
	}
	if err := t.show(h, made, score); err != nil {
		return err
	}
	t.scores = append(t.scores, score)
	t.e.progress()
	return nil
}

// record keeps the record of the last frame.
func (t *trial) record(r pipeline.Record) { t.records = append(t.records, r) }

// show draws the frame if it is among the worst of the first method.
func (t *trial) show(h heldOut, made *frame.Frame, score Score) error {
	g, k := t.e.gallery, len(t.scores)
	var x *exhibit
	if t.method == 0 {
		if !g.wants(k, score.MSEY) {
			return nil
		}
		truth, err := g.painter.jpeg(h.truth)
		if err != nil {
			return err
		}
		x = &exhibit{held: k, mse: score.MSEY, truth: truth}
		g.hang(x)
	} else if x = g.find(k); x == nil {
		return nil
	}
	v, err := g.painter.view(h, made, t.e.methods[t.method].flow)
	if err != nil {
		return err
	}
	x.views = append(x.views, v)
	return nil
}
