package stages

import (
	"context"
	"sync"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/warp"
)

// finishedAtOnce returns how many frames are finished at once: those that cannot be trusted, or are rated, are
// looked at on the CPU, which does several at once better than one by all workers.
func (r *run) finishedAtOnce() int {
	const most, mostPixels = 8, 8 * 1920 * 1080
	return max(1, min(r.params.Workers.Count(), most, mostPixels/max(1, r.pixels())))
}

// finish passes on the frames that were started, in order, while several of them are finished.
func (r *run) finish(from <-chan *Target) stage[*Target] {
	return func(_ context.Context, emit func(*Target) error) error {
		for t := range from {
			t.begin()
			if err := emit(t); err != nil {
				return err
			}
		}
		return nil
	}
}

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
	t.frame, t.wait, t.finish = p.Frame.Retain(), there, asItIs
	t.show(p)
}

// show takes note of the picture that t shows.
func (t *Target) show(p *Picture) {
	if p.Remade == nil {
		t.taken = sourceFrame(p.Number + 1)
		t.shows = t.taken
	}
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
	var made warp.Made
	t.wait = func() (err error) {
		made, err = finish()
		return err
	}
	t.finish = func(err error) error {
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
	t.frame = f
	t.finish = func(err error) error {
		err = finish(err)
		t.shows = nothing
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
	t.frame, t.wait, t.finish = f, there, asItIs
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

// assessor shares Assessors among the goroutines that finish frames.
type assessor struct {
	workers frame.Workers
	mu      sync.Mutex
	idle    []*warp.Assessor
}

// assess returns the confidence in f, made in an interval at a phase, and if rated is set the errors that are
// expected of it.
func (a *assessor) assess(in warp.Interval, phase warp.Phase, f *frame.Frame, rated bool) (confidence frame.Image[uint8], errors frame.Image[uint32]) {
	s := a.take()
	defer a.put(s)
	s.Begin(in)
	confidence = s.Confidence(phase)
	if rated {
		view := frame.Wrap(f.Format, f.Width, f.Height, f.Planes, nil)
		view.Transfer, view.FullRange = in.A.Transfer, in.A.FullRange // made frames have none
		made := warp.Luma(view)
		for range in.Level {
			made = warp.Halve(made)
		}
		errors = s.Errors(phase, made)
	}
	return confidence, errors
}

func (a *assessor) take() *warp.Assessor {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.idle) - 1
	if n < 0 {
		return &warp.Assessor{Workers: a.workers}
	}
	s := a.idle[n]
	a.idle = a.idle[:n]
	return s
}

func (a *assessor) put(s *warp.Assessor) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle = append(a.idle, s)
}

// fadesLight reports whether cross-fades are of light.
func (r *run) fadesLight() bool {
	l := r.video.Light
	return l.Curve() != nil && (r.params.Light == LinearLight || r.params.Light == UsualLight && l.Floats)
}

// lightFades is the synth.Job of an interval whose frames are cross-fades of light, which no synthesizer makes.
type lightFades struct {
	*run
	*Interval
}

// Start implements synth.Job.
func (j lightFades) Start(_ context.Context, dst *frame.Frame, phase warp.Phase) (finish func() (warp.Made, error), err error) {
	return func() (warp.Made, error) {
		defer j.times.synthesis.start()()
		fade(dst, j.A.Frame, j.B.Frame, phase, j.video.Light, j.params.Workers)
		return warp.Made{}, nil
	}, nil
}

// Close implements synth.Job.
func (lightFades) Close() {}

// maskedBlend cross-fades the pictures of v into f where mask, on the guides' grid, is low.
func (r *run) maskedBlend(f *frame.Frame, v *Interval, phase warp.Phase, mask frame.Image[uint8]) error {
	a, b, workers, level := v.A.Frame, v.B.Frame, r.params.Workers, r.scale.Level
	if !r.fadesLight() {
		warp.MaskedBlend(workers, f, a, b, phase, mask, level)
		return nil
	}
	faded, err := r.sink.NewFrame(a)
	if err != nil {
		return err
	}
	defer faded.Release()
	fade(faded, a, b, phase, r.video.Light, workers)
	warp.MaskedCopy(workers, f, faded, mask, level)
	return nil
}

// resolve decides what becomes of a frame that was made in v, and does it.
func (r *run) resolve(v *Interval, t *Target, f *frame.Frame, made warp.Made) error {
	rec, trust := &t.record, confidence(made, v.found.change)
	rec.rate(made, trust)
	if r.params.Mode == warp.Blend {
		rec.Method = decision.Blended
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
		if v.jumps != nil && t.wish != decision.Blended {
			r.showDoubted(v, t, f)
		} else if err := r.maskedBlend(f, v, t.Phase, t.confidence); err != nil {
			return err
		}
	case decision.Nearest:
		rec.Holes, rec.Error, rec.Confidence, rec.Worst = 0, 0, 0, nil
		p := v.nearest(t.Phase)
		frame.Copy(f, p.Frame)
		t.show(p)
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
