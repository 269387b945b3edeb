package stages

import "context"

// encode writes the frames.
func (r *run) encode(from <-chan *Target) func(context.Context) error {
	return func(context.Context) error {
		for t := range from {
			err := t.complete()
			if err == nil {
				err = r.tellVectors(t)
			}
			if err == nil {
				stop := r.times.encode.start()
				if hook := r.params.Hooks.Digest; hook != nil {
					hook(r.want.First/r.pass.Layout.Subframes()+r.result.Frames, digest(t.frame))
				}
				if hook := r.params.Hooks.Origin; hook != nil {
					hook(t.origin())
				}
				err = r.sink.WriteFrame(t.frame, t.From, t.To)
				stop()
			}
			if err == nil {
				err = r.count(t)
			}
			t.Release()
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// count counts a frame that is written, and calls the hooks.
func (r *run) count(t *Target) error {
	r.result.Frames++
	if _, decided := r.wishes.of[t.record.Frame]; decided {
		r.wishes.used++
	}
	if t.record.Method.Made() {
		r.result.Made++
	} else if t.shows != nothing && t.shows == r.shown {
		r.result.Held++
	}
	r.shown = t.shows
	r.lowest.add(t.record)
	h := &r.params.Hooks
	if h.Record != nil {
		h.Record(t.record)
	}
	if h.ConfidenceMap != nil && t.confidence.Width > 0 {
		if err := h.ConfidenceMap(t.record.Frame, t.confidence); err != nil {
			return err
		}
	}
	if h.Progress != nil {
		h.Progress(Progress{r.result.Frames, max(r.plan.Total, r.result.Frames)})
	}
	return nil
}
