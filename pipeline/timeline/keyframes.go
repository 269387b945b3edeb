package timeline

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/timeline/curve"
)

// ParseKeyframes reads a speed curve: a line that names its columns, "source
// output" or "source speed", and a line for each keyframe:
//
//	source  speed
//	0       100%
//	2.5     10%   smooth
//	end     100%
//
// ParseTime says how times are written; a keyframe at "end", the source's end, has a Source of
// nil. Speeds are per cent, or factors such as 2x, and negative for backward. The third column is
// the shape to the next keyframe, linear unless given. A # starts a comment. Errors are
// fault.Usage, and name the line that is wrong.
func ParseKeyframes(r io.Reader) ([]curve.Keyframe, error) {
	var keys []curve.Keyframe
	column := ""
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		var err error
		switch {
		case len(fields) == 0:
			continue
		case column == "":
			column, err = readColumns(fields)
		case len(keys) == curve.MaxKeyframes:
			err = fmt.Errorf("more than %d keyframes", curve.MaxKeyframes)
		default:
			var k curve.Keyframe
			k, err = readKeyframe(fields, column)
			keys = append(keys, k)
		}
		if err != nil {
			return nil, fault.New(fault.Usage, "line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fault.New(fault.Usage, "%w", fault.Plain(err))
	}
	if len(keys) < 2 {
		return nil, fault.New(fault.Usage, "%d keyframes: want at least two", len(keys))
	}
	return keys, nil
}

func readColumns(fields []string) (string, error) {
	if len(fields) == 2 && fields[0] == "source" && (fields[1] == "output" || fields[1] == "speed") {
		return fields[1], nil
	}
	return "", fmt.Errorf("%q: the first line names the columns, \"source output\" or \"source speed\"", strings.Join(fields, " "))
}

func readKeyframe(fields []string, column string) (k curve.Keyframe, err error) {
	if len(fields) < 2 || len(fields) > 3 {
		return k, fmt.Errorf("%q: want source, %s and perhaps a shape", strings.Join(fields, " "), column)
	}
	if fields[0] != "end" {
		if k.Source, err = ParseTime(fields[0]); err != nil {
			return k, err
		}
	}
	if column == "output" {
		k.Output, err = ParseTime(fields[1])
	} else {
		k.Speed, err = parseFactor(fields[1])
	}
	if err != nil {
		return k, err
	}
	k.Shape = curve.Linear
	if len(fields) == 3 {
		k.Shape = curve.Shape(fields[2])
	}
	return k, nil
}

// parseFactor reads a speed as "50%", "-100%" or "2x".
func parseFactor(s string) (*big.Rat, error) {
	bad := fmt.Errorf("speed %q: want per cent as 50%%, or a factor as 2x, at most %d times", s, MaxSlow)
	text, negative := strings.CutPrefix(s, "-")
	text, percent := strings.CutSuffix(text, "%")
	if !percent {
		var factor bool
		if text, factor = strings.CutSuffix(text, "x"); !factor {
			return nil, bad
		}
	}
	v, err := parseRational(text)
	if err != nil {
		return nil, bad
	}
	if percent {
		v.Quo(v, big.NewRat(100, 1))
	}
	if v.Cmp(big.NewRat(MaxSlow, 1)) > 0 || v.Sign() > 0 && v.Cmp(big.NewRat(1, MaxSlow)) < 0 {
		return nil, bad
	}
	if negative {
		v.Neg(v)
	}
	return v, nil
}
