package restore

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// ListHeader explains the columns of a list to its editor.
const ListHeader = `# frames    kind         score  time      and perhaps region=x,y,w,h (or several), method=M or insert=N
# Delete a line to leave its frames as they are; add lines for others. Only the
# first column is needed: a number from 0, a time, a timecode, or two of them with a dash,
# each with .t or .b behind it for the top or the bottom field alone.
# Nothing is inserted after a jump unless the # before insert= is deleted.
`

// WriteList writes findings, one per line, in the format that ParseList reads.
func WriteList(w io.Writer, findings []Finding) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, ListHeader) // Flush returns the first error
	for _, f := range findings {
		fmt.Fprintln(b, f)
	}
	return b.Flush()
}

// maxFindings bounds the number of findings in a list.
const maxFindings = 1 << 20

// ParseList reads a list of damage:
//
//	# frames   kind      score  time      options
//	120        black     0.980  5.000000
//	133-135    repeated
//	0:06.25    garbled                    region=10,20,100,50
//	200        gap       1.000  8.333333  insert=2
//	210        black     1.000  8.750000  method=nearest
//
// The first column names a frame, or the first and the last of several, by number from 0, time or
// timecode, or one field of them, as ParsePlace reads it; the others are optional. Score and time only inform the reader. With insert, frames are
// inserted after the named one, which stays; several regions are parts of one finding. Gaps and jumps without insert are not repaired. Blank
// lines and comments after # are skipped. Errors are of kind fault.BadData and name the line.
func ParseList(r io.Reader) ([]Finding, error) {
	var all []Finding
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		f, err := parseLine(fields)
		if err != nil {
			return nil, fault.New(fault.BadData, "line %d: %w", n, err)
		}
		if len(all) == maxFindings {
			return nil, fault.New(fault.BadData, "line %d: more than %d entries", n, maxFindings)
		}
		all = append(all, f)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.New(fault.BadData, "%w", fault.Plain(err))
	}
	return all, nil
}

func parseLine(fields []string) (f Finding, err error) {
	f = Finding{Kind: Listed, Score: 1}
	if f.First, f.Last, err = parseSpan(fields[0]); err != nil {
		return f, err
	}
	column := 0
	for _, text := range fields[1:] {
		if key, value, ok := strings.Cut(text, "="); ok {
			if err = f.set(key, value); err != nil {
				return f, err
			}
			continue
		}
		switch column++; column {
		case 1:
			if f.Kind = Kind(text); !knownKind(f.Kind) {
				return f, fmt.Errorf("kind %q: choose from %s", text, kindList(kinds))
			}
		case 2:
			if f.Score, err = parseNumber("score", text, 1); err != nil {
				return f, err
			}
		case 3:
			if f.Time, err = parseNumber("time", text, maxNumber); err != nil {
				return f, err
			}
		default:
			return f, fmt.Errorf("%q: want frames, kind, score, time, and region=, method= or insert=", text)
		}
	}
	if f.Insert > 0 && f.First.Field != BothFields {
		return f, fmt.Errorf("insert=%d: only whole frames are inserted", f.Insert)
	}
	if f.Insert > 0 && len(f.Regions) > 0 {
		return f, fmt.Errorf("insert=%d: an inserted frame has no region", f.Insert)
	}
	return f, nil
}

// methods are the ways to make a frame that a list may choose.
var methods = []pipeline.Method{pipeline.Interpolated, pipeline.Blended, pipeline.Nearest, pipeline.FromSource}

// Kinds returns the kinds of damage that a list may name.
func Kinds() []Kind { return slices.Clone(kinds) }

func (f *Finding) set(key, value string) (err error) {
	switch key {
	case "region":
		var r *Region
		if r, err = parseRectangle(value); err == nil {
			f.Regions = append(f.Regions, r)
		}
	case "method":
		if f.Method = pipeline.Method(value); !slices.Contains(methods, f.Method) {
			err = fmt.Errorf("method %q: choose from interpolated, blend, nearest, source", value)
		}
	case "insert":
		f.Insert, err = parseCount(value)
	default:
		err = fmt.Errorf("%q: want region=, method= or insert=", key)
	}
	return err
}

func parseNumber(name, text string, limit float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= limit) {
		return 0, fmt.Errorf("%s %q: want a number from 0 to %.0f", name, text, limit)
	}
	return v, nil
}
