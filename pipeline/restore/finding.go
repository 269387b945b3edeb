package restore

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/restore/parts"
	"retime/pipeline/timeline"
	"retime/warp"
)

// Kind classifies damage.
type Kind string

// The kinds of damage.
const (
	Listed      Kind = "listed"       // named by the user
	Repeated    Kind = "repeated"     // equal to the frame before, in the midst of motion
	Black       Kind = "black"        // dark all over, between frames that are not
	White       Kind = "white"        // bright all over, between frames that are not
	Garbled     Kind = "garbled"      // unlike the frames on either side, which are alike
	Flash       Kind = "flash"        // much brighter or darker than the frames on either side
	DecodeError Kind = "decode-error" // decoded with errors
	Gap         Kind = "gap"          // lasts too long: frames are missing after it
	Jump        Kind = "jump"         // too much motion to the next frame: frames are missing
	// Kinds of damage to a part of the picture.
	Jitter  = Kind(parts.Jitter)
	Dropout = Kind(parts.Dropout)
	Streak  = Kind(parts.Streak)
	Block   = Kind(parts.Block)
	Dirt    = Kind(parts.Dirt)
)

// The kinds that can be looked for.
var (
	wholeKinds = []Kind{Repeated, Black, White, Garbled, Flash, DecodeError, Gap, Jump}
	partKinds  = []Kind{Jitter, Dropout, Streak, Block, Dirt}
)

var kinds = slices.Concat([]Kind{Listed}, wholeKinds, partKinds)

// ParseKinds reads a list of kinds of damage that can be looked for, such as "black,dropout". "whole" stands
// for all kinds of damage to whole pictures, and "parts" for all to parts of them. Errors are of kind
// fault.Usage.
func ParseKinds(s string) ([]Kind, error) {
	var all []Kind
	for part := range strings.SplitSeq(s, ",") {
		k := Kind(strings.TrimSpace(part))
		switch k {
		case "whole":
			all = append(all, wholeKinds...)
			continue
		case "parts":
			all = append(all, partKinds...)
			continue
		}
		if !knownKind(k) || k == Listed {
			return nil, fault.New(fault.Usage, "kind %q: choose from whole, parts, %s", k, kindList(kinds[1:]))
		}
		all = append(all, k)
	}
	return all, nil
}

// kindList returns names, separated by commas.
func kindList(of []Kind) string {
	var names []string
	for _, k := range of {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// Place names a frame by its number, from 0, by a time, in seconds, at which it is shown, or by a
// timecode.
type Place struct {
	Number   int64
	Time     *big.Rat  // nil for a number or a timecode
	Timecode *Timecode // nil for a number or a time
	Field    Field     // the part of an interlaced frame that is meant
}

// Field is one field of an interlaced frame, or both.
type Field string

// The fields. The top field holds line 0 and every second line from there.
const (
	BothFields  Field = ""
	TopField    Field = "top"
	BottomField Field = "bottom"
)

// fieldMarks are what follows a place that is a field.
var fieldMarks = map[string]Field{".t": TopField, ".b": BottomField}

// mark returns what follows the place of f.
func (f Field) mark() string {
	for mark, field := range fieldMarks {
		if field == f {
			return mark
		}
	}
	return ""
}

// ParsePlace reads a number, a time such as "12.5", "mm:ss.frac" or "hh:mm:ss.frac", or
// a timecode such as "hh:mm:ss:ff" or "hh:mm:ss;ff". Text with neither point nor colon
// is a number. A field of the frame has ".t", for the top field, or ".b" after it. Errors are of
// kind fault.Usage.
func ParsePlace(s string) (Place, error) {
	for mark, field := range fieldMarks {
		if frame, ok := strings.CutSuffix(s, mark); ok {
			p, err := parseFrame(frame)
			p.Field = field
			return p, err
		}
	}
	return parseFrame(s)
}

func parseFrame(s string) (Place, error) {
	if strings.Contains(s, ";") || strings.Count(s, ":") == 3 {
		t, err := ParseTimecode(s)
		return Place{Timecode: &t}, err
	}
	if strings.ContainsAny(s, ".:") {
		t, err := timeline.ParseTime(s)
		return Place{Time: t}, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > maxNumber || strings.HasPrefix(s, "+") {
		return Place{}, fault.New(fault.Usage, "frame %q: want a number from 0, a time such as 12.5 or mm:ss.frac, or a timecode such as hh:mm:ss:ff, with .t or .b for one field", s)
	}
	return Place{Number: n}, nil
}

// maxNumber bounds frame numbers, to a thousand years of video.
const maxNumber = 1 << 42

func (p Place) String() string {
	mark := p.Field.mark()
	if p.Timecode != nil {
		return p.Timecode.String() + mark
	}
	if p.Time != nil {
		return p.Time.FloatString(6) + mark
	}
	return strconv.FormatInt(p.Number, 10) + mark
}

// Finding is damage to one frame or to successive frames, or to the same field of each of them.
type Finding struct {
	First, Last Place
	Kind        Kind
	// Score is the certainty of the finding, from 0 to 1.
	Score float64
	// Time is the time of the first frame, in seconds after the file's start.
	Time float64
	// Regions are the damaged parts of the pictures; empty for the whole of them.
	Regions []*Region
	// Method is how the frames are made: pipeline.Interpolated, Blended, Nearest, or FromSource for the sound frame
	// before; empty to leave it to the restoration.
	Method pipeline.Method
	// Insert is the number of frames to insert after Last. If it is above 0, the
	// frames from First to Last are sound.
	Insert int
	// Missing is the number of frames that seem to be missing after Last although the
	// timestamps leave no time for them. Run inserts none unless Insert asks for them.
	Missing int
}

// madeBy reports whether a mode makes frames by the finding's method.
func (f *Finding) madeBy(mode warp.Mode) bool {
	return f.Method != pipeline.Interpolated && f.Method != pipeline.Blended || mode != warp.Nearest && (mode != warp.Blend || f.Method == pipeline.Blended)
}

// parseSpan reads "120" or "133-135", or the same with times or timecodes.
func parseSpan(s string) (first, last Place, err error) {
	a, b, several := strings.Cut(s, "-")
	if first, err = ParsePlace(a); err != nil || !several {
		return first, first, err
	}
	if last, err = ParsePlace(b); err != nil {
		return first, last, err
	}
	if (first.Time == nil) != (last.Time == nil) || (first.Timecode == nil) != (last.Timecode == nil) {
		return first, last, fault.New(fault.Usage, "%q: both ends are numbers, or times, or timecodes", s)
	}
	if first.Field != last.Field {
		return first, last, fault.New(fault.Usage, "%q: both ends are frames, or the same field: 20.t-24.t are five top fields", s)
	}
	if first.Number > last.Number || first.Time != nil && first.Time.Cmp(last.Time) > 0 {
		return first, last, fault.New(fault.Usage, "%q: the end comes before the beginning", s)
	}
	return first, last, nil
}

// ParseFrames reads a list of frames to replace, such as "120,133-135". Errors are of
// kind fault.Usage.
func ParseFrames(s string) ([]Finding, error) {
	var all []Finding
	for part := range strings.SplitSeq(s, ",") {
		first, last, err := parseSpan(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, Finding{First: first, Last: last, Kind: Listed, Score: 1})
	}
	return all, nil
}

// ParseInsert reads "120:2", which inserts two frames after frame 120, or a list of such entries.
// The frame may be given as a time. Errors are of kind fault.Usage.
func ParseInsert(s string) ([]Finding, error) {
	var all []Finding
	for part := range strings.SplitSeq(s, ",") {
		at := strings.LastIndex(part, ":")
		if at < 0 {
			return nil, fault.New(fault.Usage, "%q: want FRAME:COUNT, such as 120:2", part)
		}
		p, err := ParsePlace(strings.TrimSpace(part[:at]))
		if err != nil {
			return nil, err
		}
		if p.Field != BothFields {
			return nil, fault.New(fault.Usage, "%q: only whole frames are inserted", part)
		}
		n, err := parseCount(part[at+1:])
		if err != nil {
			return nil, err
		}
		all = append(all, Finding{First: p, Last: p, Kind: Gap, Score: 1, Insert: n})
	}
	return all, nil
}

// maxInsert bounds the frames to insert at one place.
const maxInsert = 10_000

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 || n > maxInsert {
		return 0, fault.New(fault.Usage, "%q frames: want a number from 1 to %d", s, maxInsert)
	}
	return n, nil
}

// ParseRegion reads "x,y,w,h@FRAMES": the damaged rectangle, in pixels, of one frame or
// of several. Errors are of kind fault.Usage.
func ParseRegion(s string) (Finding, error) {
	text, where, ok := strings.Cut(s, "@")
	if !ok {
		return Finding{}, fault.New(fault.Usage, "%q: want x,y,w,h@FRAME, such as 10,20,100,50@120", s)
	}
	r, err := parseRectangle(text)
	if err != nil {
		return Finding{}, err
	}
	first, last, err := parseSpan(where)
	return Finding{First: first, Last: last, Kind: Listed, Score: 1, Regions: []*Region{r}}, err
}

func parseRectangle(s string) (*Region, error) {
	bad := fault.New(fault.Usage, "region %q: want x,y,w,h in pixels, such as 10,20,100,50", s)
	var v [4]int
	parts := strings.Split(s, ",")
	if len(parts) != len(v) {
		return nil, bad
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 16)
		if err != nil {
			return nil, bad
		}
		v[i] = int(n)
	}
	if v[2] == 0 || v[3] == 0 {
		return nil, bad
	}
	return &Region{X: v[0], Y: v[1], Width: v[2], Height: v[3]}, nil
}

// String returns the finding's line in a list, without the newline.
func (f Finding) String() string {
	where := f.First.String()
	if f.Last != f.First {
		where += "-" + f.Last.String()
	}
	line := fmt.Sprintf("%-11s %-12s %.3f  %.6f", where, f.Kind, f.Score, f.Time)
	for _, r := range f.Regions {
		if r.Mask.Width == 0 {
			line += fmt.Sprintf("  region=%d,%d,%d,%d", r.X, r.Y, r.Width, r.Height)
		}
	}
	if f.Method != "" {
		line += "  method=" + string(f.Method)
	}
	if f.Insert > 0 {
		line += fmt.Sprintf("  insert=%d", f.Insert)
	} else if f.Missing > 0 {
		line += fmt.Sprintf("  # insert=%d", f.Missing)
	}
	return line
}

// Repaired reports whether Run makes frames for f.
func (f Finding) Repaired() bool { return f.Insert > 0 || f.Kind != Gap && f.Kind != Jump }

func knownKind(k Kind) bool { return slices.Contains(kinds, k) }
