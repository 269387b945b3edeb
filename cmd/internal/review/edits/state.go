// Package edits holds what a person decides about a clip: decisions about frames, a mask of
// still overlays, a speed curve. It keeps them in the files that the command line reads, and
// remembers how to undo every step.
package edits

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"slices"
	"strings"
	"sync"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
)

// State is all that is decided. It does not change: methods return the state after an edit.
type State struct {
	// Mask is 255 where nothing moves; empty for no mask.
	Mask frame.Image[uint8]
	// Curve is the text of a curve file; empty for no curve.
	Curve string
	// Preset and Shutter, an angle in degrees as text, are of the whole clip; empty for what
	// the command line says.
	Preset  pipeline.Preset
	Shutter string

	lines map[int64]line
	read  func() []pipeline.Decision // what lines say, read once for all copies of the state
}

// line has the fields of a line of a decisions file, by name; those that say nothing to a
// conversion stay as they were.
type line map[string]json.RawMessage

// The fields that an edit may set.
const (
	frameField   = "frame"
	timeField    = "time"
	methodField  = "method"
	cutField     = "cut"
	presetField  = "preset"
	shutterField = "shutter"
	regionsField = "regions"
)

// with returns s with other lines, which are not to change any more.
func (s State) with(lines map[int64]line) State {
	s.lines = lines
	s.read = sync.OnceValue(func() []pipeline.Decision {
		list, err := decision.Read(bytes.NewReader(State{lines: lines}.decisionsFile()))
		if err != nil {
			panic(err) // every edit is checked
		}
		return list
	})
	return s
}

// Decided returns how many frames there are decisions about.
func (s State) Decided() int { return len(s.lines) }

// Decisions returns the decisions in the order of their frames, nil for none. They are not to be
// changed.
func (s State) Decisions() []pipeline.Decision {
	if len(s.lines) == 0 {
		return nil
	}
	return s.read()
}

// decisionsFile returns the content of the file, nil for none.
func (s State) decisionsFile() []byte {
	var b bytes.Buffer
	for _, k := range slices.Sorted(maps.Keys(s.lines)) {
		l, sep := s.lines[k], byte('{')
		write := func(name string) {
			if v, ok := l[name]; ok {
				b.WriteByte(sep)
				fmt.Fprintf(&b, "%s:%s", text(name), v)
				sep = ','
			}
		}
		first := []string{frameField, timeField, methodField, cutField, presetField, shutterField, regionsField}
		for _, name := range first {
			write(name)
		}
		for _, name := range slices.Sorted(maps.Keys(l)) {
			if !slices.Contains(first, name) {
				write(name)
			}
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// readLines reads the content of a decisions file.
func readLines(content []byte) (map[int64]line, error) {
	list, err := decision.Read(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	texts := bytes.Split(content, []byte("\n"))
	lines := make(map[int64]line, len(list))
	for _, d := range list {
		var l line
		if err := json.Unmarshal(texts[d.Line-1], &l); err != nil {
			return nil, fault.New(fault.BadData, "line %d: %w", d.Line, err)
		}
		lines[d.Frame] = l
	}
	return lines, nil
}

// set returns s with fields of the frames from first to last set; a nil value removes a field,
// and lines that say nothing are removed.
func (s State) set(first, last int64, at func(int64) float64, edit func(line) error) (State, error) {
	lines := maps.Clone(s.lines)
	if lines == nil {
		lines = map[int64]line{}
	}
	for k := first; k <= last; k++ {
		l := maps.Clone(lines[k])
		if l == nil {
			l = line{frameField: text(k), timeField: text(at(k))}
		}
		if err := edit(l); err != nil {
			return s, err
		}
		said := false
		for name := range l {
			said = said || name != frameField && name != timeField
		}
		if !said {
			delete(lines, k)
			continue
		}
		lines[k] = l
		if _, err := decision.Read(bytes.NewReader(State{lines: map[int64]line{k: l}}.decisionsFile())); err != nil {
			return s, fault.New(fault.Usage, "frame %d: %w", k, err)
		}
	}
	return s.with(lines), nil
}

func text(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and names have JSON
	}
	return b
}

// word returns the JSON of a name, nothing for "".
func word[T ~string](name T) json.RawMessage {
	if name == "" {
		return nil
	}
	return text(name)
}

// field returns an edit that gives a field its value, or takes it out if value is empty.
func field(name string, value json.RawMessage) func(line) error {
	return func(l line) error {
		if delete(l, name); len(value) > 0 {
			l[name] = value
		}
		return nil
	}
}

// SetMethod decides how the frames from first to last are made; "" leaves it to the
// conversion. at tells when a frame is shown, in seconds.
func (s State) SetMethod(first, last int64, m pipeline.Method, at func(int64) float64) (State, error) {
	return s.decide(first, last, at, pipeline.Decision{Method: m}, methodField, word(m))
}

// SetPresetOf chooses the preset of the frames from first to last; "" leaves it to the clip's.
func (s State) SetPresetOf(first, last int64, p pipeline.Preset, at func(int64) float64) (State, error) {
	return s.decide(first, last, at, pipeline.Decision{Preset: p}, presetField, word(p))
}

// SetShutterOf chooses the shutter of the frames from first to last by its angle in degrees; ""
// leaves it to the clip's.
func (s State) SetShutterOf(first, last int64, angle string, at func(int64) float64) (State, error) {
	return s.decide(first, last, at, pipeline.Decision{Shutter: json.Number(angle)}, shutterField, json.RawMessage(angle))
}

// decide gives a field of the frames from first to last the value that d has.
func (s State) decide(first, last int64, at func(int64) float64, d pipeline.Decision, name string, value json.RawMessage) (State, error) {
	if err := d.Check(); err != nil {
		return s, err
	}
	return s.set(first, last, at, field(name, value))
}

// SetCut decides whether a scene begins in the interval around a frame; nil leaves it to the
// conversion.
func (s State) SetCut(k int64, cut *bool, at func(int64) float64) (State, error) {
	var value json.RawMessage
	if cut != nil {
		value = text(*cut)
	}
	return s.set(k, k, at, field(cutField, value))
}

// SetRegion adds a region to the frames from first to last, or takes the place of the region that has its
// outline there; a drawn motion takes that of the drawn motion that it lies over. An empty method removes that one.
func (s State) SetRegion(first, last int64, r pipeline.Region, at func(int64) float64) (State, error) {
	return s.set(first, last, at, func(l line) error {
		d := pipeline.Decision{}
		if old := l[regionsField]; old != nil {
			if err := json.Unmarshal(old, &d.Regions); err != nil {
				return err
			}
		}
		i := slices.IndexFunc(d.Regions, func(o pipeline.Region) bool {
			return slices.Equal(o.Outline, r.Outline) || r.Method == pipeline.DrawnMotion && o.Method == r.Method && sameThing(o.Outline, r.Outline, 0.5)
		})
		switch {
		case i >= 0 && r.Method == "":
			d.Regions = slices.Delete(d.Regions, i, i+1)
		case i >= 0:
			d.Regions[i] = r
		case r.Method != "":
			d.Regions = append(d.Regions, r)
		}
		if err := d.Check(); err != nil {
			return err
		}
		if delete(l, regionsField); len(d.Regions) > 0 {
			l[regionsField] = text(d.Regions)
		}
		return nil
	})
}

// Clear removes all decisions about the frames from first to last.
func (s State) Clear(first, last int64) State {
	lines := maps.Clone(s.lines)
	maps.DeleteFunc(lines, func(k int64, _ line) bool { return k >= first && k <= last })
	return s.with(lines)
}

// PaintMask returns s with what lies in a polygon marked as still, or not.
func (s State) PaintMask(width, height int, outline [][2]float64, still bool) (State, error) {
	if err := (&pipeline.Decision{Regions: []pipeline.Region{{Method: pipeline.Nearest, Outline: outline}}}).Check(); err != nil {
		return s, err
	}
	m := frame.NewImage[uint8](width, height)
	if old := s.Mask; old.Width == width && old.Height == height {
		m = old.Clone()
	}
	value := uint8(0)
	if still {
		value = 255
	}
	frame.FillPolygon(m, outline, value)
	s.Mask = m
	if !slices.ContainsFunc(m.Pix, func(v uint8) bool { return v != 0 }) {
		s.Mask = frame.Image[uint8]{}
	}
	return s, nil
}

func (s State) maskFile() ([]byte, error) {
	m := s.Mask
	if m.Width == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	err := png.Encode(&b, &image.Gray{Pix: m.Pix, Stride: m.Stride, Rect: image.Rect(0, 0, m.Width, m.Height)})
	return b.Bytes(), err
}

// Keyframe is a line of a curve file of source times and speeds, as text.
type Keyframe struct {
	Source string `json:"source"`
	Speed  string `json:"speed"`
	Shape  string `json:"shape"`
}

// SetCurve replaces the curve; no keyframe removes it.
func (s State) SetCurve(keys []Keyframe) (State, error) {
	s.Curve = ""
	if len(keys) == 0 {
		return s, nil
	}
	if len(keys) > curve.MaxKeyframes {
		return s, fault.New(fault.Usage, "%d keyframes; want at most %d", len(keys), curve.MaxKeyframes)
	}
	var b strings.Builder
	b.WriteString("source\tspeed\n")
	for _, k := range keys {
		for _, field := range []string{k.Source, k.Speed, k.Shape} {
			if strings.ContainsAny(field, " \t\r\n#") || len(field) > 40 {
				return s, fault.New(fault.Usage, "%.40q is no field of a curve", field)
			}
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\n", k.Source, k.Speed, k.Shape)
	}
	if _, err := timeline.ParseKeyframes(strings.NewReader(b.String())); err != nil {
		return s, err
	}
	s.Curve = b.String()
	return s, nil
}

// SetPreset chooses the preset of the whole clip.
func (s State) SetPreset(p pipeline.Preset) (State, error) {
	switch p {
	case pipeline.Fast, pipeline.Balanced, pipeline.Best:
		s.Preset = p
		return s, nil
	}
	return s, fault.New(fault.Usage, "there is no preset %.40q", p)
}

// SetShutter chooses the shutter of the whole clip by its angle in degrees.
func (s State) SetShutter(angle string) (State, error) {
	if _, err := timeline.ParseShutter(angle); err != nil {
		return s, err
	}
	s.Shutter = angle
	return s, nil
}

// Apply sets what s decides in o. A curve takes the place of a constant speed.
func (s State) Apply(o *pipeline.Options) error {
	o.Synthesis.Decisions, o.Synthesis.StaticMask = s.Decisions(), s.Mask
	if s.Preset != "" {
		o.Synthesis.Preset = s.Preset
	}
	if s.Shutter != "" {
		open, err := timeline.ParseShutter(s.Shutter)
		if err != nil {
			return err
		}
		o.Timing.Shutter = open
	}
	if o.Timing.Curve = nil; s.Curve != "" {
		keys, err := timeline.ParseKeyframes(strings.NewReader(s.Curve))
		if err != nil {
			return err
		}
		o.Timing.Curve, o.Timing.Slow = keys, nil
	}
	return nil
}

// Differs says of which frames s and t make other samples: of all, if they show other moments. A
// changed cut counts for reach frames of the output on both sides.
func (s State) Differs(t State, reach int64) func(int64) bool {
	if s.Preset != t.Preset || s.Curve != t.Curve || s.Shutter != t.Shutter || s.Mask.Width != t.Mask.Width || !slices.Equal(s.Mask.Pix, t.Mask.Pix) {
		return func(int64) bool { return true }
	}
	own, around := map[int64]bool{}, []int64{}
	for _, pair := range [][2]map[int64]line{{s.lines, t.lines}, {t.lines, s.lines}} {
		for k, l := range pair[0] {
			other := pair[1][k]
			if !maps.EqualFunc(l, other, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				own[k] = true
			}
			if string(l[cutField]) != string(other[cutField]) {
				around = append(around, k)
			}
		}
	}
	return func(k int64) bool {
		return own[k] || slices.ContainsFunc(around, func(c int64) bool { return k >= c-reach && k <= c+reach })
	}
}
