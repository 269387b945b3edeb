package cuda

import (
	"fmt"

	"retime/pipeline/frame"
	"retime/warp"
)

// step is a part of the work on an interval or on a frame. It may be queued again.
type step struct {
	name  string
	queue func() error
}

// prepare queues what all phases of the interval share.
func (s *Synthesizer) prepare() error {
	if s.ready {
		return nil
	}
	in := &s.in
	if s.sources[1].of == in.A {
		s.sources[0], s.sources[1] = s.sources[1], s.sources[0]
	}
	for i, f := range []*frame.Frame{in.A, in.B} {
		if err := s.loader.load(s.work, &s.sources[i], f); err != nil {
			return err
		}
		if s.params.Mode != warp.Project || s.sources[i].filtered {
			continue
		}
		if err := s.loader.prefilter(s.work, &s.sources[i]); err != nil {
			return err
		}
		s.sources[i].filtered = true
	}
	if s.params.Mode != warp.Blend {
		if err := s.guides.load(s.work, in, s.params.Acceleration && s.params.Mode == warp.Project); err != nil {
			return err
		}
	}
	for _, p := range s.preparation() {
		if err := p.queue(); err != nil {
			return err
		}
	}
	s.ready = true
	return nil
}

// preparation is the work on an interval's guides and flows.
func (s *Synthesizer) preparation() []step {
	if s.params.Mode == warp.Blend {
		return nil
	}
	list := []step{{"errors along the flows", func() error { return s.guides.measure(s.work) }}}
	if s.guides.beyond {
		list = append(list, step{"accelerations", func() error { return s.bend.prepare(s.work, &s.guides) }})
	}
	return list
}

// steps are the work on a frame.
func (s *Synthesizer) steps(dst *planes, phase warp.Phase) []step {
	switch s.params.Mode {
	case warp.Project:
		return s.project(dst, phase)
	case warp.Splat:
		return s.splat(dst, phase)
	}
	var list []step
	for _, g := range s.layout.groups[:s.layout.count] {
		list = append(list, step{"cross-fade of " + g.String(), func() error {
			return s.colours.crossFade(s.work, g, dst, &s.sources[0].planes, &s.sources[1].planes, phase, Arg{})
		}})
	}
	return list
}

// project samples both neighbours along the motion at the frame's time.
func (s *Synthesizer) project(dst *planes, phase warp.Phase) []step {
	a, b := &s.sources[0], &s.sources[1]
	var bends Arg
	list := []step{{"projection of the flows", func() error {
		if err := s.counters.Clear(s.work); err != nil {
			return err
		}
		return s.projection.make(s.work, &s.guides, phase, s.counters.part(holesCounter, maxFlows).Arg())
	}}}
	if s.guides.beyond {
		bends = s.bend.field.Arg()
		list = append(list, step{"bend", func() error { return s.bend.make(s.work, &s.guides, phase) }})
	}
	list = append(list, step{"costs and shares", func() error {
		return s.shares.make(s.work, &s.guides, &s.projection, bends, phase, s.counters.part(costCounter, 1).Arg())
	}})
	for i, g := range s.layout.groups[:s.layout.count] {
		h := &s.holes[i]
		list = append(list, step{"samples of " + g.String(), func() error {
			if err := h.clear(s.work); err != nil {
				return err
			}
			return s.renderer.make(s.work, g, dst, a, b, &s.guides, &s.projection, &s.shares, bends, phase, h)
		}}, step{"inpainting of " + g.String(), func() error {
			return s.inpainter.fill(s.work, dst, g, h)
		}})
	}
	return list
}

// splat moves both neighbours' colours forward.
func (s *Synthesizer) splat(dst *planes, phase warp.Phase) []step {
	a, b := &s.sources[0].planes, &s.sources[1].planes
	var list []step
	for i, g := range s.layout.groups[:s.layout.count] {
		h := &s.holes[i]
		list = append(list, step{"warping of " + g.String(), func() error {
			if err := h.clear(s.work); err != nil {
				return err
			}
			return s.colours.make(s.work, i, g, dst, a, b, &s.guides, phase, h)
		}}, step{"inpainting of " + g.String(), func() error {
			if err := s.inpainter.fill(s.work, dst, g, h); err != nil {
				return err
			}
			// Where nothing arrived at all a cross-fade is the best guess left.
			return s.colours.crossFade(s.work, g, dst, a, b, phase, h.count)
		}})
	}
	return list
}

// Profile calls measure for each step of making the frame of the interval at the
// phase, and for all of them together as "frame": queue queues it on the stream,
// as often as it is called. The names say what the steps do.
func (s *Synthesizer) Profile(phase warp.Phase, measure func(name string, stream *Stream, queue func() error) error) error {
	return s.device.Do(func() error {
		if err := s.fit(); err != nil {
			return err
		}
		t, err := s.take()
		if err != nil {
			return err
		}
		defer s.give(t)
		if err := s.prepare(); err != nil {
			return err
		}
		var list []step
		if s.params.Mode == warp.Project {
			list = append(list, step{"prefilter of a source frame", func() error {
				return s.loader.prefilter(s.work, &s.sources[0])
			}})
		}
		list = append(list, s.preparation()...)
		frame := s.steps(&t.planes, phase)
		list = append(list, frame...)
		list = append(list, step{"frame", func() error {
			for _, f := range frame {
				if err := f.queue(); err != nil {
					return err
				}
			}
			return nil
		}})
		for _, m := range list {
			if err := measure(m.name, s.work, m.queue); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		return s.work.Synchronize()
	})
}
