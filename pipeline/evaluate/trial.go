package evaluate

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/evaluate/measure"
	"retime/pipeline/media/pixel"
)

func (e *evaluation) tryAll(ctx context.Context) error {
	return e.each(ctx, func(method) error {
		t := &trial{e: e, method: len(e.scores)}
		if err := t.run(ctx); err != nil {
			return err
		}
		e.scores, e.records = append(e.scores, t.scores), append(e.records, t.records)
		if t.method == 0 {
			e.gallery.Settle()
			e.regions.Settle()
		}
		return nil
	})
}

// score compares a made frame with the truth.
type score struct {
	measure.Score
	// change is the mean squared error of the change since the previous held-out frame; NaN for the
	// first one of a shot.
	change float64
	detail float64 // share of the source frames' detail that is kept
	// divergent is the mean squared error where the motion diverges; NaN if it does so nowhere.
	divergent float64
}

// trial is one method's pass over the clip. As a pipeline.Sink, it compares the frames
// that the method makes with the truth.
type trial struct {
	ctx     context.Context // of run
	e       *evaluation
	method  int
	reading *reading
	last    measure.Pair // the last held-out frame; its zero value before the first
	scores  []score
	records []pipeline.Record
}

func (t *trial) run(ctx context.Context) (err error) {
	t.ctx = ctx
	if t.reading, err = t.e.clip.read(ctx); err != nil {
		return err
	}
	defer t.reading.close()
	defer t.keep(measure.Pair{})
	held := len(t.e.clip.held)
	if _, err := t.e.methods[t.method].maker.make(ctx, job{t.e.clip, t.reading, t, t.e.clip.stamps(held)}); err != nil {
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
	s, err := t.score(h, made)
	if err != nil {
		return err
	}
	if err := t.show(h, made, s); err != nil {
		return err
	}
	t.keep(measure.Pair{Truth: h.Truth.Retain(), Made: made.Retain()})
	t.scores = append(t.scores, s)
	t.e.progress()
	return nil
}

func (t *trial) score(h heldOut, made *frame.Frame) (s score, err error) {
	s.change, s.detail = math.NaN(), t.e.meter.Detail(h.Before, h.After, made)
	if s.Score, err = t.e.meter.Score(h.Truth, made); err != nil {
		return s, err
	}
	if s.divergent, err = t.e.meter.DivergentMSE(h.Truth, made, h.After); err != nil {
		return s, err
	}
	c, k := t.e.clip, len(t.scores)
	if k > 0 && c.frames[c.held[k-1]].shot == c.frames[c.held[k]].shot {
		s.change = t.e.meter.ChangeMSE(t.last, measure.Pair{Truth: h.Truth, Made: made})
	}
	return s, nil
}

// keep replaces the last frame and takes over p.
func (t *trial) keep(p measure.Pair) {
	if t.last.Truth != nil {
		t.last.Truth.Release()
		t.last.Made.Release()
	}
	t.last = p
}

// record keeps the record of the last frame.
func (t *trial) record(r pipeline.Record) { t.records = append(t.records, r) }

// show draws the frame if it is among the first method's worst, and does the same for its regions.
func (t *trial) show(h heldOut, made *frame.Frame, s score) error {
	k, flow := len(t.scores), t.e.methods[t.method].flow
	if t.method > 0 {
		if err := t.e.gallery.Next(t.ctx, k, h.Scene, made, flow); err != nil {
			return err
		}
		return t.e.regions.Next(k, h.Scene, made)
	}
	if err := t.e.gallery.First(t.ctx, k, h.Scene, made, s.MSEY, flow); err != nil || t.e.clip.acrossCut(h.index) {
		return err
	}
	return t.e.regions.First(k, h.Scene, made, t.e.meter.Blocks())
}
