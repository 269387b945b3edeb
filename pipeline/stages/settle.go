package stages

import (
	"log/slog"
	"math"

	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/warp"
)

// decisions are looked up by the frame's number.
type decisions struct {
	of   map[int64]decision.Decision
	used int
}

func newDecisions(list []decision.Decision) decisions {
	d := decisions{of: make(map[int64]decision.Decision, len(list))}
	for _, v := range list {
		d.of[v.Frame] = v
	}
	return d
}

// slack is how far a decision's time may lie off its frame's, in seconds.
const slack = 1e-3

// settle applies what is decided on v, whose cut field reports whether a cut was found.
// A line that says what would happen anyway says nothing, so that a changed cut is
// not held up by the methods beside it.
func (r *run) settle(v *Interval) error {
	found := v.cut
	last := int64(-1)
	for _, t := range v.Targets {
		k := r.frame(t.Index)
		line, ok := r.wishes.of[k]
		if !ok || k == last {
			continue
		}
		last = k
		at, _ := r.pass.Layout.Shown(t.Slot).Float64()
		if line.Time != nil && !(math.Abs(*line.Time-at) <= slack) {
			return fault.New(fault.Usage, "Synthesis.Decisions: line %d: frame %d is shown at %.6f s here, not at %.6f s; give the options that the sidecar was written with",
				line.Line, k, at, *line.Time)
		}
		if line.Cut != nil && *line.Cut != found && r.around(v, k) {
			v.cut = *line.Cut
		}
	}
	edited := v.cut != found
	for _, t := range v.Targets {
		if !r.owns(t.Index) {
			continue // another run makes it
		}
		line := r.wishes.of[r.frame(t.Index)]
		if err := r.wish(v, t, line, edited); err != nil {
			return err
		}
	}
	return nil
}

// wish sets how t is wanted made. edited reports whether a decision has changed v's cut.
func (r *run) wish(v *Interval, t *Target, line decision.Decision, edited bool) error {
	t.wish = line.Method
	makes := t.wish == decision.Interpolated || t.wish == decision.Blended
	if edited && (v.cut && makes || !v.cut && t.wish == decision.Nearest) {
		t.wish, makes = "", false
	}
	mode := r.params.Mode
	if t.Phase != 0 && (makes && (v.Gap || mode == warp.Nearest) || t.wish == decision.Interpolated && mode == warp.Blend) {
		return fault.New(fault.Usage, "Synthesis.Decisions: line %d: frame %d cannot be %s: no motion is estimated there", line.Line, t.Index, t.wish)
	}
	return nil
}

// around reports whether v is the interval around frame k, one of whose slots lies in it: while a
// shutter is open, an exposure may reach into the neighbours.
func (r *run) around(v *Interval, k int64) bool {
	if v.B == nil {
		return false
	}
	if r.pass.Layout.Subframes() == 1 {
		return true
	}
	m := r.pass.Layout.Middle(k)
	return m.Cmp(v.A.At) >= 0 && m.Cmp(v.B.At) < 0
}

// warn warns how many decisions were about frames that the output does not have.
func (d *decisions) warn(log *slog.Logger) {
	if n := len(d.of) - d.used; n > 0 {
		log.Warn("Synthesis.Decisions has lines for frames that the output does not have", "lines", n)
	}
}
