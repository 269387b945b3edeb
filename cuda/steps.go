package cuda

import (
	"fmt"

	"retime/warp"
)

// step is a part of the work on an interval or on a frame. A caller may queue it more
// than once.
type step struct {
	name string
	// bytes is the least number of bytes that the step must read and write, with each
	// value counted once, or 0 if that depends on the picture.
	bytes int
	queue func() error
}

// These are the sizes in bytes of values on the guides' grid.
const (
	vectorBytes = 8
	weightBytes = 2 // weights and errors
)

// prepare queues the work that all phases of the interval share.
func (s *Synthesizer) prepare() error {
	if s.ready {
		return nil
	}
	in := &s.in
	images, beyond := s.images(in)
	var list []*image
	var err error
	if s.a, s.b, list, err = s.residents.begin(s.work, in, images); err != nil {
		return err
	}
	if s.params.Mode == warp.Project {
		for _, f := range []*source{s.a, s.b} {
			if f.filtered {
				continue
			}
			if err := s.loader.prefilter(s.work, f); err != nil {
				return err
			}
			f.filtered = true
		}
	}
	if s.params.Mode != warp.Blend {
		if err := s.guides.load(s.work, in, beyond, images, list); err != nil {
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

// images lists the images that an interval needs, and says whether they include the
// outer guides and flows.
func (s *Synthesizer) images(in *warp.Interval) (list []rows, beyond bool) {
	if s.params.Mode == warp.Blend {
		return nil, false
	}
	project := s.params.Mode == warp.Project
	beyond = project && in.Before != nil && in.After != nil
	return imagesOf(in, project && s.params.Overlays, beyond), beyond
}

// preparation returns the steps of the work on an interval's guides and flows.
func (s *Synthesizer) preparation() []step {
	if s.params.Mode == warp.Blend {
		return nil
	}
	g := &s.guides
	pixels, pictures, n := g.width*g.height, 2, g.inner
	if g.beyond {
		pictures, n = pictures+2, n+2
	}
	bytes := pixels * (pictures + n*(vectorBytes+2*weightBytes))
	list := []step{{"errors along the flows", bytes, func() error { return g.measure(s.work) }}}
	if s.params.Mode == warp.Project && s.params.Overlays {
		list = append(list, step{"overlays", pixels * (maxPictures + 1), func() error { return g.findOverlays(s.work) }})
	}
	if s.bending() {
		bytes = pixels * 4 * (vectorBytes + weightBytes)
		list = append(list, step{"accelerations", bytes, func() error { return s.bend.prepare(s.work, g) }})
	}
	return list
}

// bending reports whether the interval shows how the motion changes.
func (s *Synthesizer) bending() bool { return s.params.Acceleration && s.guides.beyond }

// steps returns the steps of the work on a frame.
func (s *Synthesizer) steps(dst *planes, phase warp.Phase) []step {
	switch s.params.Mode {
	case warp.Project:
		return s.project(dst, phase)
	case warp.Splat:
		return s.splat(dst, phase)
	}
	var list []step
	for _, g := range s.layout.groups[:s.layout.count] {
		list = append(list, step{"cross-fade of " + g.String(), 3 * g.bytes(dst.format), func() error {
			return s.colours.crossFade(s.work, g, dst, &s.a.planes, &s.b.planes, phase, Arg{})
		}})
	}
	return list
}

// project returns the steps that sample both neighbours along the motion at the frame's
// time.
func (s *Synthesizer) project(dst *planes, phase warp.Phase) []step {
	a, b := s.a, s.b
	s.shares.begin(&s.guides)
	pixels, inner := s.guides.width*s.guides.height, s.guides.projected()
	var bends Arg
	list := []step{{"projection of the flows", pixels * inner * (2*vectorBytes + weightBytes), func() error {
		if err := s.counters.Clear(s.work); err != nil {
			return err
		}
		return s.projection.make(s.work, &s.guides, phase, s.counters.part(holesCounter, maxProjected).Arg())
	}}}
	if s.bending() {
		bends = s.bend.field.Arg()
		list = append(list, step{"bend", pixels * vectorBytes, func() error { return s.bend.make(s.work, &s.guides, phase) }})
	}
	// read is the part of the motions that the costs and the samples read, besides the
	// weights.
	read := pixels * inner * vectorBytes
	if s.bending() {
		read += pixels * vectorBytes
	}
	weights := pixels * s.shares.n * weightBytes
	list = append(list, step{"costs and shares", 2*pixels + read + weights, func() error {
		return s.shares.make(s.work, &s.guides, &s.projection, bends, phase, s.counters.part(costCounter, 1).Arg())
	}})
	for i, g := range s.layout.groups[:s.layout.count] {
		h := &s.holes[i]
		list = append(list, step{"samples of " + g.String(), read + weights + 2*g.samples()*coefficientBytes + g.bytes(dst.format), func() error {
			if err := h.clear(s.work); err != nil {
				return err
			}
			return s.renderer.make(s.work, g, dst, a, b, &s.guides, &s.projection, &s.shares, bends, phase, h)
		}}, step{"inpainting of " + g.String(), 0, func() error {
			return s.inpainter.fill(s.work, dst, g, h)
		}})
	}
	return list
}

// splat returns the steps that move both neighbours' colours forward.
func (s *Synthesizer) splat(dst *planes, phase warp.Phase) []step {
	a, b := &s.a.planes, &s.b.planes
	var list []step
	for i, g := range s.layout.groups[:s.layout.count] {
		h := &s.holes[i]
		list = append(list, step{"warping of " + g.String(), 2*s.guides.width*s.guides.height*(vectorBytes+weightBytes) + 3*g.bytes(dst.format), func() error {
			if err := h.clear(s.work); err != nil {
				return err
			}
			return s.colours.make(s.work, i, g, dst, a, b, &s.guides, phase, h)
		}}, step{"inpainting of " + g.String(), 0, func() error {
			if err := s.inpainter.fill(s.work, dst, g, h); err != nil {
				return err
			}
			// If nothing arrived at all, a cross-fade is the best guess left.
			return s.colours.crossFade(s.work, g, dst, a, b, phase, h.count)
		}})
	}
	return list
}

// coefficientBytes is the size of a coefficient in bytes.
const coefficientBytes = 4

// Profile calls measure for each step of making the interval's frame at the phase, and
// for all steps of the frame together under the name "frame". queue queues the step on
// stream; measure may call it any number of times. bytes is the least number of bytes
// that the step must read and write, with each value counted once, or 0 if that depends
// on the picture.
func (s *Synthesizer) Profile(phase warp.Phase, measure func(name string, bytes int, stream *Stream, queue func() error) error) error {
	return s.device.Do(func() error {
		if err := s.fit(); err != nil {
			return err
		}
		t, err := s.take(true)
		if err != nil {
			return err
		}
		defer s.give(t)
		if err := s.prepare(); err != nil {
			return err
		}
		var list []step
		if s.params.Mode == warp.Project {
			bytes := 0
			for _, g := range s.layout.groups[:s.layout.count] {
				bytes += g.bytes(s.layout.format) + g.samples()*coefficientBytes
			}
			list = append(list, step{"prefilter of a source frame", bytes, func() error {
				return s.loader.prefilter(s.work, s.a)
			}})
		}
		list = append(list, s.preparation()...)
		frame := s.steps(&t.planes, phase)
		list = append(list, frame...)
		bytes := 0
		for _, f := range frame {
			bytes += f.bytes
		}
		list = append(list, step{"frame", bytes, func() error {
			for _, f := range frame {
				if err := f.queue(); err != nil {
					return err
				}
			}
			return nil
		}})
		for _, m := range list {
			if err := measure(m.name, m.bytes, s.work, m.queue); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		return s.work.Synchronize()
	})
}
