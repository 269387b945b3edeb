package frames

import (
	"math/big"
	"slices"

	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/timeline"
	"retime/warp"
)

// viewOptions returns the options of a view that a conversion can make, for frames of a way.
// Such a frame is that of a whole conversion in its way, so that no decision chooses the way.
func (s *setup) viewOptions(v View, way decision.Way) pipeline.Settled {
	o := s.options
	o.Timing.Shutter, o.Synthesis.Preset = way.Open(), way.Preset
	o.Synthesis.Decisions = slices.Clone(o.Synthesis.Decisions)
	for i := range o.Synthesis.Decisions {
		d := &o.Synthesis.Decisions[i]
		if d.Preset, d.Shutter = "", ""; o.Timing.Shutter.Sign() > 0 { // then methods are of other frames
			d.Method, d.Regions = "", nil
		}
	}
	switch v {
	case Fast, Balanced, Best:
		o.Synthesis.Preset = pipeline.Preset(v)
	case Blend:
		o.Synthesis.Mode, o.Synthesis.Decisions = warp.Blend, nil
	case Source:
		o.Synthesis.Mode, o.Synthesis.Decisions = warp.Nearest, nil
	}
	return o
}

// Pass returns the pass of the plan in which a frame lies.
func Pass(p *timeline.Plan, k int64) *timeline.Pass {
	pass := &p.Passes[0]
	for i := range p.Passes {
		l := p.Passes[i].Layout
		if l.First() > k*l.Subframes() {
			break
		}
		pass = &p.Passes[i]
	}
	return pass
}

// pass returns the pass in which frame k lies, laid out as the frame's way is.
func (s *setup) pass(k int64) (*timeline.Pass, error) {
	return s.ways.Pass(s.ways.Number(k), s.plan, Pass(s.plan, k))
}

// Way returns the way in which frame k is made, and of how many moments it is the mean.
func (m *Maker) Way(k int64) (way decision.Way, moments int64) {
	s := m.setup()
	p, err := s.pass(k)
	if err != nil {
		return s.ways.Of(k), 1
	}
	return s.ways.Of(k), p.Layout.Subframes()
}

// Moment returns the time on the source's clock that a frame shows.
func Moment(p *timeline.Plan, k int64) *big.Rat {
	pass := Pass(p, k)
	each := pass.Layout.Subframes()
	return pass.Moment(new(big.Rat).Set(pass.Layout.Moment(k*each + each/2)))
}
