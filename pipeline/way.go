package pipeline

import (
	"cmp"
	"math/big"

	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// Way is what decisions choose for a frame besides its method. A frame of a way is, bit for
// bit, the frame of a whole conversion in that way.
type Way struct {
	Preset  Preset
	Shutter string // share of a frame's time, as big.Rat.RatString writes it
}

// maxWays bounds the ways beside the conversion's own, each of which has a synthesizer.
const maxWays = 8

// Ways tell the way of each frame.
type Ways struct {
	list []Way         // the conversion's own first
	of   map[int64]int // by frame, the number in list of those that have not the conversion's own
	ends []Range       // by number, frames between which all of the way lie
}

// NewWays returns the ways that the decisions of o choose; o is settled. Errors are fault.Usage.
func NewWays(o *Options) (*Ways, error) {
	open := new(big.Rat)
	if o.Timing.Shutter != nil {
		open = o.Timing.Shutter
	}
	own := Way{o.Synthesis.Preset, open.RatString()}
	w := &Ways{list: []Way{own}, of: map[int64]int{}, ends: []Range{Whole()}}
	numbers := map[Way]int{own: 0}
	for i := range o.Synthesis.Decisions {
		d := &o.Synthesis.Decisions[i]
		v, err := own.decided(d)
		if err != nil {
			return nil, err
		}
		n, ok := numbers[v]
		if !ok {
			n = len(w.list)
			numbers[v] = n
			w.list, w.ends = append(w.list, v), append(w.ends, Range{First: d.Frame})
		}
		if n > 0 {
			w.of[d.Frame] = n
			w.ends[n].First, w.ends[n].End = min(w.ends[n].First, d.Frame), max(w.ends[n].End, d.Frame+1)
		}
	}
	if n := len(w.list) - 1; n > maxWays {
		return nil, fault.New(fault.Usage, "Synthesis.Decisions has %d different pairs of a preset and a shutter; at most %d can be made together", n, maxWays)
	}
	return w, nil
}

// decided returns the way that a decision chooses.
func (w Way) decided(d *Decision) (Way, error) {
	w.Preset = cmp.Or(d.Preset, w.Preset)
	if d.Shutter != "" {
		open, err := timeline.ParseShutter(d.Shutter.String())
		if err != nil {
			return w, err
		}
		w.Shutter = open.RatString()
	}
	return w, nil
}

// Open returns the share of a frame's time for which the shutter is open.
func (w Way) Open() *big.Rat {
	v, _ := new(big.Rat).SetString(w.Shutter)
	return v
}

// closed is the shutter of frames of one moment.
const closed = "0"

// checkWays refuses decisions that do not go with each other, or with other options.
func (o *Options) checkWays() error {
	w, err := NewWays(o)
	if err != nil {
		return err
	}
	for i := range o.Synthesis.Decisions {
		d := &o.Synthesis.Decisions[i]
		blurs := w.list[w.of[d.Frame]].Shutter != closed
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

// Own returns the conversion's own way.
func (w *Ways) Own() Way { return w.list[0] }

// Of returns the way of frame k.
func (w *Ways) Of(k int64) Way { return w.list[w.of[k]] }
