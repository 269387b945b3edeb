package stages

import (
	"context"
	"sync"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/warp"
)

// synthesize starts the intervals' frames in order.
func (r *run) synthesize(from <-chan *Interval) stage[*Target] {
	return func(ctx context.Context, emit func(*Target) error) error {
		for v := range from {
			err := r.startAll(ctx, v, emit)
			v.Release()
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func (r *run) startAll(ctx context.Context, v *Interval, emit func(*Target) error) error {
	for _, t := range v.Targets {
		if err := r.startTarget(ctx, v, t, r.sink.NewFrame); err != nil {
			return err
		}
		t.scene = v.scene
		if v.cut && t.Phase >= v.Hold {
			t.scene++
		}
		t.interval = v
		v.retain()
		if err := emit(t); err != nil {
			return err
		}
	}
	return nil
}

// newFrame returns the frame to be filled, which is like another.
type newFrame func(like *frame.Frame) (*frame.Frame, error)

// startTarget begins to make the frame of t, or takes it from v's pictures.
func (r *run) startTarget(ctx context.Context, v *Interval, t *Target, to newFrame) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.record = v.record(t, r.pass.Layout.Shown(t.Slot))
	switch t.method {
	case decision.Extrapolated:
		err = r.extrapolate(v, t, to)
	case decision.FromSource:
		t.take(v.A)
	case decision.Nearest:
		t.take(v.nearest(t.Phase))
	default:
		err = r.startMade(ctx, v, t, to)
	}
	if err == nil && t.Compose != nil {
		err = r.compose(t, to)
	}
	return err
}

// take shows a picture that is there.
func (t *Target) take(p *Picture) {
	t.frame, t.shows, t.finish = p.Frame.Retain(), sourceFrame(p.Number+1), func() error { return nil }
}

// startMade has the synthesizer begin to make the frame.
func (r *run) startMade(ctx context.Context, v *Interval, t *Target, to newFrame) error {
	f, err := to(v.A.Frame)
	if err != nil {
		return err
	}
	finish, err := v.job.Start(ctx, f, t.Phase)
	if err != nil {
		f.Release()
		return err
	}
	t.frame = f
	t.finish = func() error {
		made, err := finish()
		if err == nil {
			defer r.times.synthesis.start()()
			err = r.resolve(v, t, f, made)
		}
		return err
	}
	return nil
}

// compose replaces t's frame by the one that Compose makes from it.
func (r *run) compose(t *Target, to newFrame) error {
	made, finish := t.frame, t.finish
	f, err := to(made)
	if err != nil {
		_ = t.complete()
		made.Release()
		return err
	}
	t.frame, t.shows = f, nothing
	t.finish = func() error {
		err := finish()
		if err == nil {
			defer r.times.synthesis.start()()
			err = t.Compose(f, made)
		}
		made.Release()
		return err
	}
	return nil
}

// extrapolate makes the frame of t, beyond the clip's end.
func (r *run) extrapolate(v *Interval, t *Target, to newFrame) error {
	defer r.times.synthesis.start()()
	f, err := to(v.A.Frame)
	if err != nil {
		return err
	}
	warp.Extrapolate(r.params.Workers, f, v.A.Frame, v.found.continued.Forward, r.scale.Level, t.Beyond)
	t.frame, t.finish = f, func() error { return nil }
	return nil
}

// method describes how a frame is made that can be trusted so far.
func (f Fallback) method(confidence float64) decision.Method {
	switch {
	case confidence < f.NearestBelow:
		return decision.Nearest
	case confidence < f.BlendBelow:
		return decision.Blended
	}
	return decision.Interpolated
}

// assessor shares a warp.Assessor among the goroutines that finish frames.
type assessor struct {
	warp.Assessor
	sync.Mutex
}

// assess returns the confidence in f, made in an interval at a phase, and if rated is set the errors that are
// expected of it.
func (a *assessor) assess(in warp.Interval, phase warp.Phase, f *frame.Frame, rated bool) (confidence frame.Image[uint8], errors frame.Image[uint32]) {
	a.Lock()
	defer a.Unlock()
	a.Begin(in)
	confidence = a.Confidence(phase)
	if rated {
		view := frame.Wrap(f.Format, f.Width, f.Height, f.Planes, nil)
		view.Transfer, view.FullRange = in.A.Transfer, in.A.FullRange // made frames have none
		made := warp.Luma(view)
		for range in.Level {
			made = warp.Halve(made)
		}
		errors = a.Errors(phase, made)
	}
	return confidence, errors
}

// fadesLight reports whether cross-fades are of light.
func (r *run) fadesLight() bool {
	l := r.video.Light
	return l.Curve() != nil && (r.params.Light == LinearLight || r.params.Light == UsualLight && l.Floats)
}

// maskedBlend cross-fades the pictures of v into f where there is little confidence.
func (r *run) maskedBlend(v *Interval, t *Target, f *frame.Frame) error {
	a, b := v.A.Frame, v.B.Frame
	if r.fadesLight() {
		faded, err := r.sink.NewFrame(a)
		if err != nil {
			return err
		}
		defer faded.Release()
		fade(faded, a, b, t.Phase, r.video.Light, r.params.Workers)
		a, b = faded, faded
	}
	warp.MaskedBlend(r.params.Workers, f, a, b, t.Phase, t.confidence, r.scale.Level)
	return nil
}

// resolve decides what becomes of a frame that was made in v, and does it.
func (r *run) resolve(v *Interval, t *Target, f *frame.Frame, made warp.Made) error {
	rec, trust := &t.record, confidence(made, v.found.change)
	rec.Holes, rec.Error, rec.Confidence = rounded(100*made.Holes), rounded(made.Residual), rounded(trust)
	if r.params.Mode == warp.Blend {
		rec.Method = decision.Blended
		if r.fadesLight() {
			fade(f, v.A.Frame, v.B.Frame, t.Phase, r.video.Light, r.params.Workers)
		}
		return nil
	}
	if rec.Method = t.wish; rec.Method == "" {
		rec.Method = r.params.Fallback.method(trust)
	}
	if h := &r.params.Hooks; h.ConfidenceMap != nil || h.Rate || rec.Method == decision.Blended {
		in, err := v.seen.Host()
		if err != nil {
			return err
		}
		var errors frame.Image[uint32]
		if t.confidence, errors = r.assessor.assess(in, t.Phase, f, h.Rate); h.Rate {
			r.undecided(t, errors)
			rec.Worst = worst(errors, f, r.scale.Level)
		}
	}
	switch rec.Method {
	case decision.Blended:
		if v.jumps != nil {
			r.showDoubted(v, t, f)
		} else if err := r.maskedBlend(v, t, f); err != nil {
			return err
		}
	case decision.Nearest:
		rec.Holes, rec.Error, rec.Confidence, rec.Worst = 0, 0, 0, nil
		p := v.nearest(t.Phase)
		frame.Copy(f, p.Frame)
		t.shows = sourceFrame(p.Number + 1)
		t.confidence = frame.Image[uint8]{}
	}
	if v.jumps != nil && rec.Method != decision.Nearest {
		if err := r.showJumps(v, t, f); err != nil {
			return err
		}
	}
	if l := v.found.layers; l != nil && (rec.Method == decision.Interpolated || rec.Method == decision.Blended && t.wish == "") {
		return warp.Composite(r.params.Workers, f, v.A.Frame, v.B.Frame, r.scale.Level, t.Phase, l)
	}
	return nil
}
