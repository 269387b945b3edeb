package decision

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"retime/pipeline/fault"
)

// maxLine is the longest line that is read, in bytes; maxDecisions is the largest number
// of decisions.
const (
	maxLine      = 1 << 20
	maxDecisions = 1 << 22
)

// Read reads a sidecar, edited or not: a JSON object with the keys of pipeline.Record and
// Decision a line, of which frame is needed, time is checked, and method, cut, preset, shutter
// and regions are obeyed. Read passes over other keys and blank lines. Errors are fault.BadData,
// or fault.NoInput if r fails, and name the line.
func Read(r io.Reader) ([]Decision, error) {
	var list []Decision
	known := map[int64]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		d, err := parse(text)
		if err != nil {
			return nil, fault.New(fault.BadData, "line %d: %w", n, err)
		}
		if other, ok := known[d.Frame]; ok {
			return nil, fault.New(fault.BadData, "line %d: frame %d stands in line %d already", n, d.Frame, other)
		}
		if len(list) == maxDecisions {
			return nil, fault.New(fault.BadData, "line %d: more than %d decisions", n, maxDecisions)
		}
		d.Line = n
		known[d.Frame] = n
		list = append(list, d)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fault.New(fault.BadData, "line %d: longer than %d bytes", n+1, maxLine)
	} else if err != nil {
		return nil, fault.New(fault.NoInput, "line %d: %w", n+1, err)
	}
	if len(list) == 0 {
		return nil, fault.New(fault.BadData, "holds no decision")
	}
	return list, nil
}

// parse reads a line.
func parse(text []byte) (Decision, error) {
	d := Decision{Frame: -1}
	var mistyped *json.UnmarshalTypeError
	if err := json.Unmarshal(text, &d); errors.As(err, &mistyped) && mistyped.Field != "" {
		return d, fault.New(fault.BadData, "%q cannot be a %s", mistyped.Field, mistyped.Value)
	} else if err != nil {
		return d, fault.New(fault.BadData, "want a JSON object as in a sidecar: %w", fault.Plain(err))
	}
	if d.Method == Exposed || d.Method == Extrapolated {
		d.Method = "" // how the frame came about; nobody can ask for it
	}
	return d, d.Check()
}
