package timeline

import (
	"math/big"

	"retime/pipeline/timeline/curve"
)

// Plan is the arithmetic of one conversion.
type Plan struct {
	Clock *Clock
	Rate  *big.Rat     // of the output, in frames per second
	Curve *curve.Curve // from the output's time to the source's clock
	// Passes are the runs of the curve, in the output's order.
	Passes []Pass
	To     *big.Rat // where the part ends on the source's clock; nil for the end
	Total  int64    // frames expected; 0 if the source does not tell
	Gap    *big.Rat // no motion runs through longer intervals; nil for no limit
	Unit   *big.Rat // of the output's timestamps if the source's are kept, else nil
	Begin  *big.Rat // time of the curve that the output begins with

	source  *big.Rat // the source's rate, by which exposures are divided; nil for given times
	shutter Shutter
}

// Pass is a part of the source that is played in one direction.
type Pass struct {
	Layout   Layout
	Backward bool
	// From and To are the source's times at the beginning and the end of the pass; To is
	// nil if the pass lasts until the source ends.
	From, To *big.Rat
	// Stop is the moment from which on no picture is wanted; nil for the source's end.
	Stop *big.Rat
}

// Moment returns the moment of a time on the source's clock.
func (p *Pass) Moment(t *big.Rat) *big.Rat {
	if p.Backward {
		return t.Neg(t)
	}
	return t
}

// Constant returns the layout of the pass without exposures; ok is false if the frames have no constant rate.
func (p *Pass) Constant() (c *Constant, ok bool) {
	switch l := p.Layout.(type) {
	case *Constant:
		return l, true
	case *Exposed:
		return &l.Constant, true
	}
	return nil, false
}

// Spacing describes how output frames are laid.
type Spacing struct {
	// Origin is when the first frame stands on the source's clock, and End when the
	// source ends; nil if that is not known.
	Origin, End *big.Rat
	Shutter     Shutter
	Source      *big.Rat // the source's rate
	// Keep keeps the source's timestamps, whose unit is TimeBase.
	Keep     bool
	TimeBase *big.Rat
}

// WithShutter returns a pass of p with a layout of the same frames whose shutter is open for a
// share of a frame's time, from 0 to 1. It reports false if the frames have no constant rate, and
// so no length.
func (p *Plan) WithShutter(pass *Pass, share *big.Rat) (*Pass, bool) {
	if p.source == nil {
		return nil, false
	}
	c, ok := pass.Constant()
	if !ok {
		return nil, false
	}
	other := *pass
	other.Layout = p.exposed(c, share)
	return &other, true
}

// exposed returns c with frames whose shutter is open for a share of a frame's time; nil is 0.
func (p *Plan) exposed(c *Constant, share *big.Rat) Layout {
	if share == nil || share.Sign() == 0 {
		return c
	}
	open, shift := new(big.Rat).Quo(share, p.Rate), new(big.Rat)
	if phase := p.shutter.Phase; phase != nil {
		shift.Add(shift.Quo(phase, p.Rate), new(big.Rat).Mul(open, big.NewRat(1, 2)))
	}
	spent := open
	if slow := p.Curve.Line(); slow != nil {
		spent = new(big.Rat).Quo(open, slow)
	}
	each := p.shutter.Samples
	if each == 0 {
		each = Subframes(spent, p.source)
	}
	return &Exposed{Constant: *c, open: open, shift: shift, each: each}
}

// Lay sets the passes of p, whose clock, rate, curve and To are set, and its total.
func (p *Plan) Lay(s Spacing) {
	p.source, p.shutter = s.Source, s.Shutter
	var last *Constant
	first := int64(0)
	for _, run := range p.Curve.Runs() {
		c := Constant{run: run, first: first, step: new(big.Rat).Inv(p.Rate), frames: Endless}
		if run.End == nil {
			c.start = run.Output(s.Origin)
		} else {
			c.start = new(big.Rat) // a curve's frames count from its begin
			first = Ceil(new(big.Rat).Mul(run.End, p.Rate))
			c.frames, c.end = first, run.End
		}
		if p.To != nil {
			c.frames, c.end = c.Count(p.To), run.Output(p.To)
		}
		pass := Pass{Backward: run.Backward, From: run.From, To: run.To, Stop: p.To}
		if run.To != nil {
			pass.Stop = pass.Moment(new(big.Rat).Set(run.To))
		}
		last = &c
		if pass.Layout = p.exposed(&c, s.Shutter.Open); s.Keep {
			pass.Layout = &Kept{c, p.Curve.Line()}
		}
		p.Passes = append(p.Passes, pass)
		if p.Begin == nil {
			p.Begin = c.start
		}
	}
	if last.run.End != nil {
		p.Total = last.frames
	} else if s.End != nil {
		p.Total = min(last.Count(s.End), last.frames)
	}
	if s.Keep {
		p.Unit = timestampUnit(s.TimeBase, p.Curve.Line())
		p.Total = 0
		p.Begin = nil // the frames' times count from the output's 0
	}
}

// Reopens reports whether the source must be opened again for the passes: for all but one
// that plays on from the source's start.
func (p *Plan) Reopens() bool {
	first := &p.Passes[0]
	return len(p.Passes) > 1 || first.To != nil && (first.Backward || first.From.Sign() > 0)
}

// timestampUnit is a unit of time that scaled timestamps of the source are whole
// multiples of, and that is at most a 90000th of a second, if that can be had.
func timestampUnit(base, slow *big.Rat) *big.Rat {
	unit := base
	if slow != nil {
		unit = new(big.Rat).Mul(base, slow)
	}
	fine := new(big.Rat).Mul(unit, big.NewRat(90_000, 1))
	unit = new(big.Rat).Quo(unit, big.NewRat(max(Ceil(fine), 1), 1))
	if unit.Num().BitLen() > 31 || unit.Denom().BitLen() > 31 {
		return big.NewRat(1, 1_000_000)
	}
	return unit
}

// NewPlanAt returns the plan of frames at timestamps of the source, which ascend.
func NewPlanAt(v Video, timestamps []int64) *Plan {
	p := &Plan{Clock: NewClock(v), Total: int64(len(timestamps))}
	times := make(Given, len(timestamps))
	for i, t := range timestamps {
		times[i] = p.Clock.At(t)
	}
	p.Passes = []Pass{{Layout: times}}
	return p
}
