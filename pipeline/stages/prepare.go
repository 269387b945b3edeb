package stages

import (
	"context"
	"slices"
	"sync"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/motion"
	"retime/warp"
)

// prepare settles in order what is shown in the intervals, and how each frame is made,
// and announces to the synthesizer what its frames are made from. It holds three
// intervals at a time: motion that is not straight shows in the neighbouring ones.
func (r *run) prepare(from <-chan *estimate) stage[*Interval] {
	return func(ctx context.Context, emit func(*Interval) error) error {
		cuts := newCuts(&r.params)
		var w window
		defer w.release()
		scene, began := 0, 0 // of the latest picture, and of the interval's first
		next := func(v *Interval) error {
			w.push(v)
			if w.now == nil {
				return nil
			}
			if err := r.announce(ctx, &w); err != nil {
				return err
			}
			w.now.retain()
			return emit(w.now)
		}
		for e := range from {
			v := e.Interval
			if err := e.wait(ctx); err != nil {
				v.Release()
				return err
			}
			if !v.again {
				began = scene
			}
			v.scene = began
			v.cut = v.B != nil && cuts.within(v, r.pass.Backward)
			err := r.settle(v)
			if err == nil {
				err = r.composeRegions(v)
			}
			if err != nil {
				v.Release()
				return err
			}
			if v.cut && !v.again {
				scene++
				_, at := v.span(r.pass.Backward)
				r.cuts = append(r.cuts, at)
			}
			if err := next(v); err != nil {
				return err
			}
		}
		return next(nil)
	}
}

// announce decides how the targets of the window's middle interval are made, and
// prepares the interval if the synthesizer makes any of them.
func (r *run) announce(ctx context.Context, w *window) (err error) {
	v := w.now
	v.Targets = slices.DeleteFunc(v.Targets, func(t *Target) bool { return !r.holds(t.Index) })
	made := 0
	for _, t := range v.Targets {
		if t.method = r.method(v, t); t.method == decision.Interpolated {
			made++
		}
	}
	if made == 0 {
		return nil
	}
	v.work, err = r.begin(ctx, w, made)
	return err
}

// begin announces the window's middle interval, of which a number of frames are made, to the
// synthesizer.
func (r *run) begin(ctx context.Context, w *window, frames int) (b work, err error) {
	b.seen = r.describe(w)
	if r.params.Mode == warp.Blend && r.fadesLight() {
		b.job = lightFades{r, w.now}
		return b, nil
	}
	if r.params.Animation && b.seen.guided {
		b.jumps = sync.OnceValues(func() (frame.Image[uint8], error) { return r.findJumps(b.seen) })
	}
	b.job, err = r.synth.Prepare(ctx, w.now.assigned, b.seen, frames)
	return b, err
}

// method reports how to produce a target: reuse a source frame (FromSource, Nearest), extrapolate it,
// or interpolate it.
func (r *run) method(v *Interval, t *Target) decision.Method {
	stands := r.params.Mode == warp.Nearest || v.cut || v.Gap // in whose place nothing is made
	switch {
	case t.Beyond != 0 && v.found.continued != nil:
		return decision.Extrapolated
	case t.Phase == 0, t.wish == decision.FromSource:
		return decision.FromSource
	case t.wish == decision.Nearest, t.wish == "" && stands:
		return decision.Nearest
	}
	return decision.Interpolated
}

// describe returns what the synthesis of the window's middle interval sees, and keeps it.
func (r *run) describe(w *window) *material {
	v := w.now
	in := r.between(v)
	if !in.guided {
		return in
	}
	if len(v.Around) > 0 {
		in.outer = v.found.outward
		return in
	}
	if b := w.before; b != nil && b.explained() && b.meets(v) && asLong(b, v) {
		in.outer[0] = v.beside(b.A, b.found.flows[0])
		in.outer[0].back = true
	}
	if a := w.after; a != nil && a.explained() && v.meets(a) && asLong(a, v) {
		in.outer[1] = v.beside(a.B, a.found.flows[0])
	}
	return in
}

// beside returns a picture of a neighbouring interval, with that interval's flow, and keeps
// both for v.
func (v *Interval) beside(p *Picture, f motion.Flow) *outer {
	v.Keep(p)
	return &outer{guide: p.Guide, frame: p.Frame, flow: v.keepFlow(f.Retain())}
}

// between returns what v's own pictures tell the synthesis.
func (r *run) between(v *Interval) *material {
	m := &material{a: v.A, b: v.B, level: r.scale.Level, guided: r.params.Mode.UsesFlow(), flows: v.found.flows}
	if r.params.Mode == warp.Project {
		m.static = r.still
	}
	return m
}

// window is an interval between its neighbours, any of which may be nil, with a
// reference to each.
type window struct{ before, now, after *Interval }

func (w *window) push(v *Interval) {
	if w.before != nil {
		w.before.Release()
	}
	w.before, w.now, w.after = w.now, w.after, v
}

func (w *window) release() {
	for range 3 {
		w.push(nil)
	}
}
