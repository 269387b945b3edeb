package cuda

import (
	"retime/warp"
)

// prepared holds what the frames of an interval share on the device. A synthesizer has several, so
// that it can prepare the next interval while lanes still make frames of earlier ones.
type prepared struct {
	a, b          *source
	guides        guides
	accelerations accelerations
	ready         *Event // happens when the work that does not depend on the phase is done
	over          *Event // happens when all frames of the previous interval are made

	parts parts // that the program needs
}

func newPrepared(s *Stream, program *program, p *warp.Params) (w *prepared, err error) {
	w = new(prepared)
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.ready, err = s.device.NewEvent(); err != nil {
		return w, err
	}
	if w.over, err = s.device.NewEvent(); err != nil {
		return w, err
	}
	w.parts = program.interval(w, p)
	return w, w.parts.open(s, p)
}

// close frees all memory. No work may be queued.
func (w *prepared) close() {
	// If the device has failed, there is nothing left to do about errors.
	for _, e := range []*Event{w.ready, w.over} {
		if e != nil {
			_ = e.Close()
		}
	}
	w.parts.free()
}

// beginInterval queues the work that all phases of the interval share, unless it has already.
func (s *Synthesizer) beginInterval() error {
	if s.begun {
		return nil
	}
	// The memory of earlier intervals is free once all work queued so far is done.
	for _, l := range s.lanes {
		if err := s.joined.WaitFor(l.last); err != nil {
			return err
		}
	}
	if err := s.joined.WaitFor(s.now().ready); err != nil {
		return err
	}
	if err := s.joined.Record(s.now().over); err != nil {
		return err
	}
	s.intervals++
	w := s.now()
	if err := s.work.WaitFor(w.over); err != nil {
		return err
	}
	in := &s.in
	images, beyond := s.images(in)
	var list []*image
	var err error
	if w.a, w.b, list, err = s.residents.begin(s.work, s.joined, in, images); err != nil {
		return err
	}
	if s.program.sampled {
		for _, f := range []*source{w.a, w.b} {
			if f.filtered {
				continue
			}
			if err := s.loader.prefilter(s.work, f); err != nil {
				return err
			}
			f.filtered = true
		}
	}
	if s.program.guided {
		if err := w.guides.load(s.work, in, beyond, images, list); err != nil {
			return err
		}
	}
	for _, p := range s.program.preparation(s, w) {
		if err := p.queue(); err != nil {
			return err
		}
	}
	if err := s.work.Record(w.ready); err != nil {
		return err
	}
	s.begun = true
	return nil
}

// now returns what the frames of the current interval share.
func (s *Synthesizer) now() *prepared { return s.prepared[s.intervals%len(s.prepared)] }
