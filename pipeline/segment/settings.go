package segment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/motion"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
	"retime/warp"
)

// settings is the form in a plan of the options that decide the frames. Groups and
// fields have their names in pipeline.Options.
type settings struct {
	Input     inputSettings     `json:"input"`
	Timing    timingSettings    `json:"timing"`
	Synthesis synthesisSettings `json:"synthesis"`
	Output    outputSettings    `json:"output"`
}

type inputSettings struct {
	Format       string               `json:"format"`
	Rate         *rational            `json:"rate"`
	SequenceGaps bool                 `json:"sequence_gaps"`
	Map          []string             `json:"map"`
	Deinterlace  pipeline.Deinterlace `json:"deinterlace"`
	HWDec        media.HWDec          `json:"hwdec"`
	Rotation     pipeline.Rotation    `json:"rotation"`
}

type timingSettings struct {
	Rate           rate        `json:"rate"`
	Slow           *rational   `json:"slow"`
	Fit            *rational   `json:"fit"`
	From           *rational   `json:"from"`
	To             *rational   `json:"to"`
	Curve          []keyframe  `json:"curve"`
	KeepTimestamps bool        `json:"keep_timestamps"`
	Shutter        *share      `json:"shutter"`
	Audio          media.Audio `json:"audio"`
}

type rate struct {
	Value    *rational `json:"value"`
	Multiple bool      `json:"multiple"`
}

type keyframe struct {
	Source *rational   `json:"source"`
	Output *rational   `json:"output"`
	Speed  *rational   `json:"speed"`
	Shape  curve.Shape `json:"shape"`
}

type synthesisSettings struct {
	Mode           warp.Mode           `json:"mode"`
	Flow           pipeline.FlowMethod `json:"flow"`
	Preset         pipeline.Preset     `json:"preset"`
	Order          *int                `json:"order"`
	Kernel         warp.Kernel         `json:"kernel,omitempty"`
	SceneThreshold *number             `json:"scene_threshold"`
	Scenes         []*rational         `json:"scenes"`
	BlendBelow     *number             `json:"blend_below"`
	NearestBelow   *number             `json:"nearest_below"`
	Decisions      []decision          `json:"decisions"`
	Duplicates     pipeline.Duplicates `json:"duplicates"`
	Static         pipeline.Static     `json:"static"`
	StaticMask     *mask               `json:"static_mask"`
}

type decision struct {
	Frame  int64           `json:"frame"`
	Time   *number         `json:"time"`
	Method pipeline.Method `json:"method"`
	Cut    *bool           `json:"cut"`
	Preset pipeline.Preset `json:"preset,omitempty"`
	// Shutter is an angle in degrees.
	Shutter json.Number `json:"shutter,omitempty"`
	// Regions are written as a decisions file has them.
	Regions []pipeline.Region `json:"regions,omitempty"`
	Line    int               `json:"line"`
}

// plain returns d as options have it.
func (d decision) plain() pipeline.Decision {
	return pipeline.Decision{
		Frame: d.Frame, Time: (*float64)(d.Time), Method: d.Method, Cut: d.Cut, Preset: d.Preset, Shutter: d.Shutter, Regions: d.Regions, Line: d.Line,
	}
}

// mask is a picture with a byte for each sample, row by row.
type mask struct {
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Data   []byte `json:"data"`
}

type outputSettings struct {
	File         string            `json:"file"` // the name, from which the container follows
	Format       string            `json:"format"`
	StartNumber  *int              `json:"start_number"`
	MuxOptions   map[string]string `json:"mux_options"`
	VideoCodec   string            `json:"video_codec"`
	CRF          *int              `json:"crf"`
	VideoOptions map[string]string `json:"video_options"`
	PixelFormat  string            `json:"pixel_format"`
	AudioCodec   string            `json:"audio_codec"`
	AudioOptions map[string]string `json:"audio_options"`
}

// store returns the form of o in a plan.
func store(o *pipeline.Options) settings {
	in, t, s, out := &o.Input, &o.Timing, &o.Synthesis, &o.Output
	stored := settings{
		Input: inputSettings{in.Format, (*rational)(in.Rate), in.SequenceGaps, in.Map, in.Deinterlace, in.HWDec, in.Rotation},
		Timing: timingSettings{
			Rate: rate{(*rational)(t.Rate.Value), t.Rate.Multiple}, Slow: (*rational)(t.Slow), Fit: (*rational)(t.Fit),
			From: (*rational)(t.From), To: (*rational)(t.To), KeepTimestamps: t.KeepTimestamps, Shutter: (*share)(t.Shutter), Audio: t.Audio,
			Curve: each(t.Curve, func(k curve.Keyframe) keyframe {
				return keyframe{(*rational)(k.Source), (*rational)(k.Output), (*rational)(k.Speed), k.Shape}
			}),
		},
		Synthesis: synthesisSettings{
			Mode: s.Mode, Flow: anywhere(s.Flow), Preset: s.Preset, Order: s.Order, Kernel: s.Kernel, SceneThreshold: (*number)(s.SceneThreshold),
			Scenes:     each(s.Scenes, func(t *big.Rat) *rational { return (*rational)(t) }),
			BlendBelow: (*number)(s.BlendBelow), NearestBelow: (*number)(s.NearestBelow), Duplicates: s.Duplicates, Static: s.Static,
			Decisions: each(s.Decisions, func(d pipeline.Decision) decision {
				return decision{d.Frame, (*number)(d.Time), d.Method, d.Cut, d.Preset, d.Shutter, d.Regions, d.Line}
			}),
		},
		Output: outputSettings{out.File, out.Format, out.StartNumber, out.MuxOptions, out.VideoCodec, out.CRF, out.VideoOptions, out.PixelFormat, out.AudioCodec, out.AudioOptions},
	}
	if out.File != "" {
		stored.Output.File = filepath.Base(out.File)
	}
	if m := s.StaticMask; m.Width > 0 && m.Height > 0 {
		rows := &mask{Width: m.Width, Height: m.Height}
		for y := range m.Height {
			rows.Data = append(rows.Data, m.Row(y)...)
		}
		stored.Synthesis.StaticMask = rows
	}
	return stored
}

// anywhere returns m with the absolute name of its files, which workers find from any
// directory.
func anywhere(m pipeline.FlowMethod) pipeline.FlowMethod {
	if pattern, files := m.Files(); files {
		if path, err := filepath.Abs(pattern); err == nil {
			return motion.FromFiles + pipeline.FlowMethod(path)
		}
	}
	return m
}

// options returns the options in s, for an input at path.
func (s *settings) options(path string) (pipeline.Options, error) {
	in, t, y, out := &s.Input, &s.Timing, &s.Synthesis, &s.Output
	o := pipeline.Options{
		Input: pipeline.Input{
			File: path, Format: in.Format, Rate: (*big.Rat)(in.Rate), SequenceGaps: in.SequenceGaps, Map: in.Map, Deinterlace: in.Deinterlace, HWDec: in.HWDec, Rotation: in.Rotation,
		},
		Timing: pipeline.Timing{
			Rate: pipeline.Rate{Value: (*big.Rat)(t.Rate.Value), Multiple: t.Rate.Multiple}, Slow: (*big.Rat)(t.Slow), Fit: (*big.Rat)(t.Fit),
			From: (*big.Rat)(t.From), To: (*big.Rat)(t.To), KeepTimestamps: t.KeepTimestamps, Shutter: (*big.Rat)(t.Shutter), Audio: t.Audio,
			Curve: each(t.Curve, func(k keyframe) curve.Keyframe {
				return curve.Keyframe{Source: (*big.Rat)(k.Source), Output: (*big.Rat)(k.Output), Speed: (*big.Rat)(k.Speed), Shape: k.Shape}
			}),
		},
		Synthesis: pipeline.Synthesis{
			Mode: y.Mode, Flow: y.Flow, Preset: y.Preset, Order: y.Order, Kernel: y.Kernel, SceneThreshold: (*float64)(y.SceneThreshold),
			Scenes:     each(y.Scenes, func(t *rational) *big.Rat { return (*big.Rat)(t) }),
			BlendBelow: (*float64)(y.BlendBelow), NearestBelow: (*float64)(y.NearestBelow), Duplicates: y.Duplicates, Static: y.Static,
			Decisions: each(y.Decisions, decision.plain),
		},
		Output: pipeline.Output{
			File: out.File, Format: out.Format, StartNumber: out.StartNumber, MuxOptions: out.MuxOptions, VideoCodec: out.VideoCodec, CRF: out.CRF, VideoOptions: out.VideoOptions,
			PixelFormat: out.PixelFormat, AudioCodec: out.AudioCodec, AudioOptions: out.AudioOptions,
		},
	}
	if m := y.StaticMask; m != nil {
		o.Synthesis.StaticMask = frame.Image[uint8]{Width: m.Width, Height: m.Height, Stride: m.Width, Pix: m.Data}
	}
	if err := s.check(); err != nil {
		return o, err
	}
	named := o
	if named.Output.File == "" {
		named.Output.File = "output" // Check requires a name
	}
	return o, named.Check()
}

// check makes the checks that Options.Check leaves out.
func (s *settings) check() error {
	if f := s.Output.File; f != "" && (filepath.Base(f) != f || f == "." || f == ".." || f == "/") {
		return fmt.Errorf("the output's name %q is a path", f)
	}
	for _, r := range []struct {
		name  string
		value *rational
	}{{"input.rate", s.Input.Rate}, {"timing.rate", s.Timing.Rate.Value}} {
		if v := (*big.Rat)(r.value); v != nil && !timeline.IsRate(v) {
			return fmt.Errorf("%s %s: want 1/%d to %d", r.name, v.RatString(), timeline.MaxPeriod, timeline.MaxRate)
		}
	}
	if n := len(s.Timing.Curve); s.Timing.Curve != nil && (n < 2 || n > curve.MaxKeyframes) {
		return fmt.Errorf("timing.curve has %d keyframes; want 2 to %d", n, curve.MaxKeyframes)
	}
	if err := s.checkTimes(); err != nil {
		return err
	}
	switch s.Input.HWDec {
	case "", media.HWNone, media.HWAuto, media.HWCUDA, media.HWVAAPI:
	default:
		return fmt.Errorf("input.hwdec %.40q: there is no such device", s.Input.HWDec)
	}
	for i, k := range s.Timing.Curve {
		if (k.Output == nil) == (k.Speed == nil) || k.Shape != curve.Linear && k.Shape != curve.Smooth && k.Shape != curve.Hold {
			return fmt.Errorf("timing.curve: keyframe %d wants an output time or a speed, and the shape %s, %s or %s", i+1, curve.Linear, curve.Smooth, curve.Hold)
		}
	}
	for i, t := range s.Synthesis.Scenes {
		if t == nil {
			return fmt.Errorf("synthesis.scenes: the time of scene %d is missing", i+1)
		}
	}
	for _, d := range s.Synthesis.Decisions {
		if d.Frame < 0 {
			return fmt.Errorf("synthesis.decisions: there is no frame %d", d.Frame)
		}
		plain := d.plain()
		if err := plain.Check(); err != nil {
			return fmt.Errorf("synthesis.decisions: frame %d: %w", d.Frame, err)
		}
	}
	if m := s.Synthesis.StaticMask; m != nil {
		side := func(n int) bool { return n >= 1 && n <= media.MaxSide }
		if !side(m.Width) || !side(m.Height) || m.Width*m.Height != len(m.Data) {
			return fmt.Errorf("synthesis.static_mask: %d samples are not %d x %d", len(m.Data), m.Width, m.Height)
		}
	}
	return nil
}

// maxTime bounds times in a plan, in seconds, so that int64 holds their microseconds.
const maxTime = 1e12

// checkTimes refuses times, speeds and slow-downs beyond all that options mean.
func (s *settings) checkTimes() error {
	t := &s.Timing
	type bounded struct {
		name  string
		value *rational
		low   float64
		high  float64
	}
	list := []bounded{
		{"timing.slow", t.Slow, 1. / timeline.MaxSlow, timeline.MaxSlow}, {"timing.fit", t.Fit, 0, maxTime},
		{"timing.from", t.From, -maxTime, maxTime}, {"timing.to", t.To, -maxTime, maxTime},
	}
	for i, k := range t.Curve {
		name := fmt.Sprintf("timing.curve: keyframe %d: ", i+1)
		list = append(list, bounded{name + "source", k.Source, 0, maxTime}, bounded{name + "output", k.Output, 0, maxTime},
			bounded{name + "speed", k.Speed, -timeline.MaxSlow, timeline.MaxSlow})
	}
	for i, scene := range s.Synthesis.Scenes {
		list = append(list, bounded{fmt.Sprintf("synthesis.scenes: scene %d", i+1), scene, -maxTime, maxTime})
	}
	for _, b := range list {
		if b.value == nil {
			continue
		}
		if v, _ := (*big.Rat)(b.value).Float64(); v < b.low || v > b.high {
			return fmt.Errorf("%s %g: want %g to %g", b.name, v, b.low, b.high)
		}
	}
	return nil
}

// differences names the options in which a and b differ, with both values.
func differences(a, b *settings) (names []string) {
	va, vb := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for g := range va.NumField() {
		group := va.Type().Field(g)
		for f := range group.Type.NumField() {
			was, errA := json.Marshal(va.Field(g).Field(f).Interface())
			is, errB := json.Marshal(vb.Field(g).Field(f).Interface())
			if err := errors.Join(errA, errB); err != nil {
				panic(err) // settings have JSON
			}
			if !bytes.Equal(was, is) {
				before, now := shown(va.Field(g).Field(f).Interface(), was), shown(vb.Field(g).Field(f).Interface(), is)
				if before == now {
					now = "another"
				}
				names = append(names, fmt.Sprintf("%s.%s %s, now %s", group.Name, group.Type.Field(f).Name, before, now))
			}
		}
	}
	return names
}

// shown formats a setting, whose JSON is text, as its flag is written: "none" if it is not set, and
// "given" for a list that no flag takes or that is too long for a message.
func shown(setting any, text []byte) string {
	const most = 60 // bytes
	switch s := setting.(type) {
	case rate:
		if s.Value == nil {
			return "none"
		}
		text := (*big.Rat)(s.Value).RatString()
		if s.Multiple {
			text += "x"
		}
		return text
	case *share:
		if s == nil {
			return "none"
		}
		return new(big.Rat).Mul((*big.Rat)(s), big.NewRat(timeline.MaxAngle, 1)).RatString()
	case map[string]string:
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(s)) {
			pairs = append(pairs, key+"="+s[key])
		}
		return shown(pairs, nil)
	case []string:
		all := strings.Join(s, " ")
		if len(all) > most {
			return "given"
		}
		return cmp.Or(all, "none")
	}
	var plain string
	switch err := json.Unmarshal(text, &plain); { // null leaves it empty
	case err == nil:
		return cmp.Or(plain, "none")
	case text[0] == '[' || text[0] == '{':
		return "given"
	}
	return string(text)
}

// each converts a list; it returns nil for nil.
func each[A, B any](list []A, convert func(A) B) []B {
	if list == nil {
		return nil
	}
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = convert(v)
	}
	return out
}

// rational is a big.Rat that JSON has as "3" or "60000/1001".
type rational big.Rat

// rationals matches the texts that UnmarshalText reads. It excludes exponents, whose
// values may be of any size.
var rationals = regexp.MustCompile(`^-?[0-9]{1,500}(/[0-9]{1,500})?$`)

// MarshalText returns r exactly.
func (r *rational) MarshalText() ([]byte, error) { return []byte((*big.Rat)(r).RatString()), nil }

// UnmarshalText reads a text of MarshalText.
func (r *rational) UnmarshalText(text []byte) error {
	if rationals.Match(text) {
		if _, ok := (*big.Rat)(r).SetString(string(text)); ok {
			return nil
		}
	}
	return fmt.Errorf("%.40q is no number such as 3 or 60000/1001", text)
}

// share is a rational, of a circle.
type share rational

// MarshalText returns s exactly.
func (s *share) MarshalText() ([]byte, error) { return (*rational)(s).MarshalText() }

// UnmarshalText reads a text of MarshalText.
func (s *share) UnmarshalText(text []byte) error { return (*rational)(s).UnmarshalText(text) }

// number is a float64 that JSON has exactly, as text, even if it is infinite.
type number float64

// MarshalText returns n exactly.
func (n number) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 64), nil
}

// UnmarshalText reads a text of MarshalText.
func (n *number) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(v) {
		return fmt.Errorf("%.40q is no number", text)
	}
	*n = number(v)
	return nil
}
