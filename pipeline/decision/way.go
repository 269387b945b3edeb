package decision

import (
	"cmp"
	"math/big"
	"slices"

	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/timeline"
)

// Way is what decisions choose for a frame besides its method. A frame of a way is, bit for
// bit, the frame of a whole conversion in that way.
type Way struct {
	Preset  motion.Preset
	Shutter string // share of a frame's time, from 0 to 1, as big.Rat.RatString writes it
}

// Open returns the share of a frame's time for which the shutter is open.
func (w Way) Open() *big.Rat {
	v, ok := new(big.Rat).SetString(w.Shutter)
	if !ok {
		return new(big.Rat)
	}
	return v
}

// Blurs reports whether the shutter is open for longer than a moment.
func (w Way) Blurs() bool { return w.Open().Sign() > 0 }

// decided returns the way that a decision chooses instead of w.
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

// maxWays bounds the ways beside a conversion's own, each of which has a synthesizer.
const maxWays = 8

// Ways tell the way of each frame.
type Ways struct {
	List []Way // all ways, the conversion's own first

	of     map[int64]int // by frame, the number in List of those that have not the conversion's own
	bounds [][2]int64    // by number, the first frame and the one after the last
}

// NewWays returns the ways that decisions choose beside a conversion's own. Errors are fault.Usage.
func NewWays(own Way, list []Decision) (*Ways, error) {
	w := &Ways{List: []Way{own}, of: map[int64]int{}, bounds: [][2]int64{{0, timeline.Endless}}}
	numbers := map[Way]int{own: 0}
	for i := range list {
		d := &list[i]
		v, err := own.decided(d)
		if err != nil {
			return nil, err
		}
		n, ok := numbers[v]
		if !ok {
			n = len(w.List)
			numbers[v] = n
			w.List, w.bounds = append(w.List, v), append(w.bounds, [2]int64{d.Frame, d.Frame})
		}
		if n > 0 {
			w.of[d.Frame] = n
			b := &w.bounds[n]
			b[0], b[1] = min(b[0], d.Frame), max(b[1], d.Frame+1)
		}
	}
	if n := len(w.List) - 1; n > maxWays {
		return nil, fault.New(fault.Usage, "Synthesis.Decisions has %d different pairs of a preset and a shutter; at most %d can be made together", n, maxWays)
	}
	return w, nil
}

// Own returns the conversion's own way.
func (w *Ways) Own() Way { return w.List[0] }

// Of returns the way of a frame.
func (w *Ways) Of(frame int64) Way { return w.List[w.of[frame]] }

// Number returns the number in List of a frame's way.
func (w *Ways) Number(frame int64) int { return w.of[frame] }

// Pass returns a pass of a plan, which is laid out for the conversion's own way, as way n lays it
// out. Errors are fault.Usage.
func (w *Ways) Pass(n int, plan *timeline.Plan, pass *timeline.Pass) (*timeline.Pass, error) {
	way := w.List[n]
	if way.Shutter == w.Own().Shutter {
		return pass, nil
	}
	laid, ok := plan.WithShutter(pass, way.Open())
	if !ok {
		return nil, fault.New(fault.Usage, "Synthesis.Decisions choose shutters, and the output's frames have no constant rate")
	}
	return laid, nil
}

// Bounds returns the first frame of way n, and the one after the last.
func (w *Ways) Bounds(n int) (first, end int64) { return w.bounds[n][0], w.bounds[n][1] }

// From returns the frames from one on that have not the conversion's own way, in order.
func (w *Ways) From(frame int64) (list []int64) {
	for k := range w.of {
		if k >= frame {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}
