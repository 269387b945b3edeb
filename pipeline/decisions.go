package pipeline

import (
	"math/big"

	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// ways returns the presets and shutters that the decisions choose. Errors are fault.Usage.
func (o *Options) ways() (*decision.Ways, error) {
	return decision.NewWays(o.way(), o.Synthesis.Decisions)
}

// way returns the way of frames for which decisions choose no other.
func (o *Options) way() decision.Way {
	open := new(big.Rat)
	if o.Timing.Shutter != nil {
		open = o.Timing.Shutter
	}
	return decision.Way{Preset: o.Synthesis.Preset, Shutter: open.RatString()}
}

// checkWays refuses decisions that do not go with each other, or with other options.
func (o *Options) checkWays() error {
	w, err := o.ways()
	if err != nil {
		return err
	}
	for i := range o.Synthesis.Decisions {
		d := &o.Synthesis.Decisions[i]
		blurs := w.Of(d.Frame).Blurs()
		switch {
		case d.Shutter != "" && o.Timing.KeepTimestamps:
			return fault.New(fault.Usage, "Synthesis.Decisions: line %d: frame %d has a shutter, which needs frames of one length; leave out Timing.KeepTimestamps", d.Line, d.Frame)
		case blurs && (d.Method != "" || len(d.Regions) > 0):
			return fault.New(fault.Usage, "Synthesis.Decisions: line %d: frame %d has a method or regions, which are about a single moment, and an open shutter; leave out one of them, or set the frame's shutter to 0", d.Line, d.Frame)
		case blurs && o.Hooks.ConfidenceMap != nil:
			return fault.New(fault.Usage, "Synthesis.Decisions: line %d: frame %d has a shutter; Hooks.ConfidenceMap is about single moments", d.Line, d.Frame)
		}
	}
	return nil
}

// checkDecisions refuses decisions about frames after the output's end. The plan's total
// follows from the stated duration, so that a second's frames more may come.
func (o *Options) checkDecisions(p *timeline.Plan) error {
	if p.Total == 0 {
		return nil
	}
	end := p.Total + timeline.Ceil(p.Rate)
	for _, d := range o.Synthesis.Decisions {
		if d.Frame >= end {
			return fault.New(fault.Usage, "Synthesis.Decisions: line %d: frame %d: the output has %d frames; give the options that the sidecar was written with", d.Line, d.Frame, p.Total)
		}
	}
	return nil
}
