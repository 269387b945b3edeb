package pipeline

import (
	"sync"

	"retime/frame"
	"retime/warp"
)

// The confidences at which frames step down the ladder: from motion all over the
// picture to a cross-fade where motion cannot be trusted, and to the nearer source
// frame. docs/quality.md has the figures.
const (
	DefaultBlendBelow   = 0.3
	DefaultNearestBelow = 0.03
)

// ladder says how frames are made by how far they can be trusted.
type ladder struct {
	blend, nearest float64
}

func newLadder(o *Options) ladder {
	l := ladder{DefaultBlendBelow, DefaultNearestBelow}
	if o.Synthesis.BlendBelow != nil {
		l.blend = *o.Synthesis.BlendBelow
	}
	if o.Synthesis.NearestBelow != nil {
		l.nearest = *o.Synthesis.NearestBelow
	}
	return l
}

func (l ladder) method(confidence float64) Method {
	switch {
	case confidence < l.nearest:
		return Nearest
	case confidence < l.blend:
		return Blended
	}
	return Interpolated
}

// assessor shares a warp.Assessor among the goroutines that finish frames.
type assessor struct {
	warp.Assessor
	sync.Mutex
}

func (a *assessor) confidence(in warp.Interval, phase warp.Phase) frame.Image[uint8] {
	a.Lock()
	defer a.Unlock()
	a.Begin(in)
	return a.Confidence(phase)
}

// result is a frame that is there.
type result struct {
	Record
	confidence frame.Image[uint8] // of its pixels; empty unless it was asked for
}

// settle decides what becomes of a frame that was made in v, and does it.
func (c *conversion) settle(v *interval, s slot, f *frame.Frame, made warp.Made) result {
	at := c.plan.shown(s)
	if c.o.Synthesis.Mode == warp.Blend {
		return result{Record: v.record(s, at, Blended, made)}
	}
	method := s.wish
	if method == "" {
		method = c.ladder.method(confidence(made, v.change))
	}
	out := result{Record: v.record(s, at, method, made)}
	if c.o.Hooks.ConfidenceMap != nil || method == Blended {
		in := warp.Interval{
			A: v.a.Frame, B: v.b.Frame, GuideA: v.a.guide(), GuideB: v.b.guide(), Level: c.level,
			Flows: v.flows,
		}
		out.confidence = c.assess.confidence(in, s.phase)
	}
	switch method {
	case Blended:
		warp.MaskedBlend(c.o.workers(), f, v.a.Frame, v.b.Frame, s.phase, out.confidence, c.level)
	case Nearest:
		frame.Copy(f, v.nearest(s).Frame)
		out.confidence = frame.Image[uint8]{}
	}
	return out
}

// nearest is the source frame that stands in for the frame of slot s.
func (v *interval) nearest(s slot) picture {
	if s.phase >= v.hold {
		return v.b
	}
	return v.a
}
