package cuda

import "retime/warp"

// step is a part of the work on an interval or on a frame. A caller may queue it more
// than once.
type step struct {
	name string
	// bytes is the minimum number of bytes that the step must read and write, with each value
	// counted once, or 0 if that depends on the picture.
	bytes int
	queue func() error
}

// The sizes in bytes of values on the guides' grid.
const (
	vectorBytes = 8
	weightBytes = 2 // weights and errors
)

// images lists the images that an interval needs, and reports whether they include the outer guides
// and flows.
func (s *Synthesizer) images(in *warp.Interval) (list []rows, beyond bool) {
	if !s.program.guided {
		return nil, false
	}
	sampled := s.program.sampled
	beyond = sampled && in.Before != nil && in.After != nil
	return imagesOf(in, sampled && s.params.Overlays, beyond), beyond
}

// prepareNothing is the preparation of frames that need no motion.
func (s *Synthesizer) prepareNothing(*prepared) []step { return nil }

// prepareSplat returns the steps of the work on an interval's flows.
func (s *Synthesizer) prepareSplat(w *prepared) []step {
	g := &w.guides
	pixels, pictures, n := g.width*g.height, 2, g.inner
	if g.beyond {
		pictures, n = pictures+2, n+2
	}
	bytes := pixels * (pictures + n*(vectorBytes+2*weightBytes))
	return []step{{"errors along the flows", bytes, func() error { return g.measure(s.work) }}}
}

// prepareProject also returns those of the work on its guides.
func (s *Synthesizer) prepareProject(w *prepared) []step {
	g := &w.guides
	pixels, pictures := g.width*g.height, 2
	if g.beyond {
		pictures += 2
	}
	list := append(s.prepareSplat(w), step{"quads", pixels * pictures * 5, func() error { return g.findQuads(s.work) }})
	if s.params.Overlays {
		list = append(list, step{"overlays", pixels * (maxPictures + 1), func() error { return g.findOverlays(s.work) }})
	}
	if s.bending(g) {
		bytes := pixels * 4 * (vectorBytes + weightBytes)
		list = append(list, step{"accelerations", bytes, func() error { return w.accelerations.measure(s.work, g) }})
	}
	return list
}

// bending reports whether the guides show how the motion changes.
func (s *Synthesizer) bending(g *guides) bool { return s.params.Acceleration && g.beyond }

// crossFade returns the steps that blend both neighbours.
func (s *Synthesizer) crossFade(l *lane, w *prepared, dst *planes, phase warp.Phase) []step {
	var list []step
	for _, g := range s.layout.groups[:s.layout.count] {
		list = append(list, step{"cross-fade of " + g.String(), 3 * g.bytes(dst.format), func() error {
			return l.fader.make(l.stream, g, dst, &w.a.planes, &w.b.planes, phase, Arg{})
		}})
	}
	return list
}

// project returns the steps that sample both neighbours along the motion at the frame's
// time.
func (s *Synthesizer) project(l *lane, w *prepared, dst *planes, phase warp.Phase) []step {
	guides := &w.guides
	l.shares.begin(guides)
	pixels, inner := guides.width*guides.height, guides.projected()
	var bends Arg
	list := []step{{"projection of the flows", pixels * inner * (2*vectorBytes + weightBytes), func() error {
		if err := l.counters.Clear(l.stream); err != nil {
			return err
		}
		return l.projection.make(l.stream, guides, phase, l.counters.part(holesCounter, maxProjected).Arg())
	}}}
	if s.bending(guides) {
		bends = l.bend.field.Arg()
		list = append(list, step{"bend", pixels * vectorBytes, func() error {
			return l.bend.make(l.stream, guides, &w.accelerations, phase)
		}})
	}
	// A pixel has at least one guess.
	motions, bent, listed := pixels*inner*vectorBytes, 0, pixels*(guessBytes+1)
	if s.bending(guides) {
		bent = pixels * vectorBytes
	}
	weights := pixels * l.shares.n * weightBytes
	list = append(list, step{"costs and shares", 2*pixels + motions + bent + weights, func() error {
		return l.shares.make(l.stream, guides, &l.projection, bends, phase, l.counters.part(costCounter, 1).Arg())
	}})
	list = append(list, step{"motions that count", motions + weights + listed, func() error {
		return l.guesses.make(l.stream, guides, &l.projection, &l.shares)
	}})
	columns, lines := l.calm.columns, l.calm.lines
	list = append(list, step{"strengths of the blur", columns * lines * (guessBytes + 1 + vectorBytes + weightBytes), func() error {
		return l.calm.find(l.stream, guides, &l.guesses, bends, phase)
	}})
	how := rendered{dst: &l.calm.made, a: w.a, b: w.b, guides: guides, guesses: &l.guesses, bends: bends, phase: phase, light: &s.loader.light}
	var inpainting []step
	for i := 0; i < s.layout.count; i += together {
		end := min(i+together, s.layout.count)
		groups, h := s.layout.groups[i:end], l.gaps.holes[i:end]
		bytes, names := listed+bent, ""
		for j, g := range groups {
			bytes += 2*g.samples()*coefficientBytes + g.bytes(dst.format)
			if j > 0 {
				names += ", "
			}
			names += g.String()
		}
		list = append(list, step{"samples of " + names, bytes, func() error {
			if err := l.counters.part(groupCounter+i, end-i).Clear(l.stream); err != nil {
				return err
			}
			return l.renderer.make(l.stream, &how, groups, h)
		}})
		inpainting = append(inpainting, step{"inpainting of " + names, 0, func() error {
			return l.inpainter.fill(l.stream, dst, groups, h)
		}})
	}
	blurred := columns * lines * weightBytes
	for _, g := range s.layout.groups[:s.layout.count] {
		blurred += 2 * g.bytes(dst.format)
	}
	list = append(list, step{"blur", blurred, func() error { return l.calm.blur(l.stream, dst, guides) }})
	return append(list, inpainting...)
}

// splat returns the steps that move both neighbours' colours forward.
func (s *Synthesizer) splat(l *lane, w *prepared, dst *planes, phase warp.Phase) []step {
	guides, a, b := &w.guides, &w.a.planes, &w.b.planes
	var list []step
	for i, g := range s.layout.groups[:s.layout.count] {
		h := &l.gaps.holes[i]
		list = append(list, step{"warping of " + g.String(), 2*guides.width*guides.height*(vectorBytes+weightBytes) + 3*g.bytes(dst.format), func() error {
			if err := h.clear(l.stream); err != nil {
				return err
			}
			return l.colours.make(l.stream, i, g, dst, a, b, guides, phase, h)
		}}, step{"inpainting of " + g.String(), 0, func() error {
			if err := l.inpainter.fill(l.stream, dst, s.layout.groups[i:i+1], l.gaps.holes[i:i+1]); err != nil {
				return err
			}
			// If nothing arrived at all, a cross-fade is the best remaining guess.
			return l.fader.make(l.stream, g, dst, a, b, phase, h.count)
		}})
	}
	return list
}

// coefficientBytes is the size of a coefficient in bytes.
const coefficientBytes = 4
