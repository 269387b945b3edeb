package pipeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"

	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/warp"
)

// Decision is what a line of an edited sidecar says of an output frame.
type Decision struct {
	Frame  int64    `json:"frame"`
	Time   *float64 `json:"time"`   // as in Record; nil to leave it unchecked
	Method Method   `json:"method"` // empty for no wish
	// Cut says whether the two source frames around belong to different scenes; nil
	// for no wish.
	Cut *bool `json:"cut"`
	// Regions are parts of the frame that are made in ways of their own, a later one over
	// an earlier one.
	Regions []Region `json:"regions"`
	Line    int      `json:"-"` // in the file, from 1
}

// maxDecision is the longest line that is read, in bytes; maxDecisions is the largest number
// of decisions.
const (
	maxDecision  = 1 << 20
	maxDecisions = 1 << 22
)

// ReadDecisions reads a sidecar, edited or not: a JSON object with the keys of
// Record a line, of which frame is needed, time is checked, and method, cut and
// regions are obeyed. Other keys and blank lines are passed over. Errors name the line.
func ReadDecisions(r io.Reader) ([]Decision, error) {
	var list []Decision
	known := map[int64]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxDecision)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		d := Decision{Frame: -1, Line: n}
		var mistyped *json.UnmarshalTypeError
		if err := json.Unmarshal(text, &d); errors.As(err, &mistyped) && mistyped.Field != "" {
			return nil, fault.New(fault.BadData, "line %d: %q cannot be a %s", n, mistyped.Field, mistyped.Value)
		} else if err != nil {
			return nil, fault.New(fault.BadData, "line %d: want a JSON object as a sidecar has it: %w", n, fault.Plain(err))
		}
		if err := d.Check(); err != nil {
			return nil, fault.New(fault.BadData, "line %d: %w", n, err)
		}
		if other, ok := known[d.Frame]; ok {
			return nil, fault.New(fault.BadData, "line %d: frame %d stands in line %d already", n, d.Frame, other)
		}
		if len(list) == maxDecisions {
			return nil, fault.New(fault.BadData, "line %d: more than %d decisions", n, maxDecisions)
		}
		known[d.Frame] = n
		list = append(list, d)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fault.New(fault.BadData, "line %d: longer than %d bytes", n+1, maxDecision)
	} else if err != nil {
		return nil, fault.New(fault.NoInput, "line %d: %w", n+1, err)
	}
	if len(list) == 0 {
		return nil, fault.New(fault.BadData, "holds no decision")
	}
	return list, nil
}

// decisions are looked up by the frame's number.
type decisions struct {
	of   map[int64]Decision
	used int
}

func newDecisions(list []Decision) decisions {
	d := decisions{of: make(map[int64]Decision, len(list))}
	for _, v := range list {
		d.of[v.Frame] = v
	}
	return d
}

// checkDecisions refuses decisions about frames behind the output's end. The plan's total
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

// slack is how far a decision's time may lie off its frame's, in seconds.
const slack = 1e-3

// settle applies what is decided on v, in which cut says whether a cut was found.
// A line that says what would happen anyway says nothing, so that a changed cut is
// not held up by the methods beside it.
func (d *decisions) settle(v *Interval, layout timeline.Layout, mode warp.Mode) error {
	found := v.cut
	for _, t := range v.Targets {
		line, ok := d.of[t.Index]
		if !ok {
			continue
		}
		d.used++
		at, _ := layout.Shown(t.Slot).Float64()
		if line.Time != nil && !(math.Abs(*line.Time-at) <= slack) {
			return fault.New(fault.Usage, "Synthesis.Decisions: line %d: frame %d is shown at %.6f s here, not at %.6f s; give the options that the sidecar was written with",
				line.Line, t.Index, at, *line.Time)
		}
		if line.Cut != nil && *line.Cut != found && v.B != nil {
			v.cut = *line.Cut
		}
	}
	edited := v.cut != found
	for _, t := range v.Targets {
		line := d.of[t.Index]
		t.wish = line.Method
		makes := t.wish == Interpolated || t.wish == Blended
		if edited && (v.cut && makes || !v.cut && t.wish == Nearest) {
			t.wish, makes = "", false
		}
		if t.Phase != 0 && (makes && (v.Gap || mode == warp.Nearest) || t.wish == Interpolated && mode == warp.Blend) {
			return fault.New(fault.Usage, "Synthesis.Decisions: line %d: frame %d cannot be %s: no motion is estimated there", line.Line, t.Index, t.wish)
		}
	}
	return nil
}

// warn says how many decisions were about frames that the output does not have.
func (d *decisions) warn(log *slog.Logger) {
	if n := len(d.of) - d.used; n > 0 {
		log.Warn("Synthesis.Decisions has lines for frames that the output does not have", "lines", n)
	}
}
