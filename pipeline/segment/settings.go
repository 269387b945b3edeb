package segment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/motion"
	"retime/pipeline/timeline/curve"
)

// settings are the options that decide the frames, in the form of a plan: an object for each group of
// pipeline.Options, and in it each option but those that are local, by its name with _ between the words.
type settings pipeline.Options

// local lists the options that are not in a plan, with the reason.
var local = map[string]string{
	"Input.File":             "stands beside the settings, with its hash",
	"Synthesis.FlowCache":    "does not change what is made",
	"Output.Channels":        "concerns sequences of OpenEXR, which are not joined from parts",
	"Output.LenientChannels": "concerns sequences of OpenEXR, which are not joined from parts",
	"Output.Overwrite":       "concerns the joined file, which is named later",
	"Output.Keep":            "concerns the joined file, which is named later",
	"Output.NoVerify":        "concerns the joined file, which is named later",
	"Compute":                "is each worker's own",
	"Hooks":                  "are functions",
}

// later lists the options that older plans lack. If they are not set, no plan has them.
var later = []string{"Input.Tune", "Synthesis.Kernel", "Synthesis.Matte", "Timing.Light", "Timing.ShutterPhase", "Timing.ShutterSamples"}

// setting is an option of a plan.
type setting struct {
	group, name string
	value       reflect.Value
}

// list returns the options of a plan, group by group.
func (s *settings) list() (all []setting) {
	groups := reflect.ValueOf(s).Elem()
	for g := range groups.NumField() {
		group := groups.Type().Field(g)
		if !group.IsExported() || local[group.Name] != "" {
			continue
		}
		for f := range group.Type.NumField() {
			if name := group.Type.Field(f).Name; local[group.Name+"."+name] == "" {
				all = append(all, setting{group.Name, name, groups.Field(g).Field(f)})
			}
		}
	}
	return all
}

// MarshalJSON returns the options of s.
func (s settings) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	group := ""
	for _, o := range s.list() {
		if o.value.IsZero() && slices.Contains(later, o.group+"."+o.name) {
			continue
		}
		text, err := json.Marshal(o.plain())
		if err != nil {
			return nil, err
		}
		switch {
		case group == "":
			fmt.Fprintf(&b, "{%q:{", key(o.group))
		case o.group != group:
			fmt.Fprintf(&b, "},%q:{", key(o.group))
		default:
			b.WriteByte(',')
		}
		group = o.group
		fmt.Fprintf(&b, "%q:%s", key(o.name), text)
	}
	b.WriteString("}}")
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes. Options that are missing stay as they are.
func (s *settings) UnmarshalJSON(text []byte) error {
	groups, err := strictly[map[string]map[string]json.RawMessage](text)
	if err != nil {
		return err
	}
	for _, o := range s.list() {
		group := groups[key(o.group)]
		if text, ok := group[key(o.name)]; ok {
			if err := o.read(text); err != nil {
				return fmt.Errorf("%s.%s: %w", key(o.group), key(o.name), err)
			}
			delete(group, key(o.name))
		}
	}
	for group, left := range groups {
		for name := range left {
			return fmt.Errorf("there is no setting %.40q", group+"."+name)
		}
	}
	return nil
}

// key returns the name of an option in a plan.
func key(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// strictly reads a value in which nothing is unknown.
func strictly[T any](text []byte) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&v)
	return v, err
}

// plain returns the value of s in the form that JSON has.
func (s *setting) plain() any {
	switch v := s.value.Interface().(type) {
	case *big.Rat:
		return (*rational)(v)
	case *float64:
		return (*number)(v)
	case []*big.Rat:
		return each(v, func(t *big.Rat) *rational { return (*rational)(t) })
	case pipeline.Rate:
		return rate{(*rational)(v.Value), v.Multiple}
	case []curve.Keyframe:
		return each(v, func(k curve.Keyframe) keyframe {
			return keyframe{(*rational)(k.Source), (*rational)(k.Output), (*rational)(k.Speed), k.Shape}
		})
	case []pipeline.Decision:
		return each(v, func(d pipeline.Decision) decision {
			return decision{d.Frame, (*number)(d.Time), d.Method, d.Cut, d.Preset, d.Shutter, d.Regions, d.Line}
		})
	case frame.Image[uint8]:
		if v.Width <= 0 || v.Height <= 0 {
			return nil
		}
		rows := &mask{Width: v.Width, Height: v.Height}
		for y := range v.Height {
			rows.Data = append(rows.Data, v.Row(y)...)
		}
		return rows
	default:
		return v
	}
}

// read sets s to a value in the form that JSON has.
func (s *setting) read(text []byte) (err error) {
	switch to := s.value.Addr().Interface().(type) {
	case **big.Rat:
		*to, err = convert(text, func(r *rational) *big.Rat { return (*big.Rat)(r) })
	case **float64:
		*to, err = convert(text, func(n *number) *float64 { return (*float64)(n) })
	case *[]*big.Rat:
		*to, err = convert(text, func(list []*rational) []*big.Rat {
			return each(list, func(r *rational) *big.Rat { return (*big.Rat)(r) })
		})
	case *pipeline.Rate:
		*to, err = convert(text, func(r rate) pipeline.Rate { return pipeline.Rate{Value: (*big.Rat)(r.Value), Multiple: r.Multiple} })
	case *[]curve.Keyframe:
		*to, err = convert(text, func(list []keyframe) []curve.Keyframe {
			return each(list, func(k keyframe) curve.Keyframe {
				return curve.Keyframe{Source: (*big.Rat)(k.Source), Output: (*big.Rat)(k.Output), Speed: (*big.Rat)(k.Speed), Shape: k.Shape}
			})
		})
	case *[]pipeline.Decision:
		*to, err = convert(text, func(list []decision) []pipeline.Decision { return each(list, decision.plain) })
	case *frame.Image[uint8]:
		*to, err = convert(text, func(m mask) frame.Image[uint8] {
			return frame.Image[uint8]{Width: m.Width, Height: m.Height, Stride: m.Width, Pix: m.Data}
		})
	default:
		return json.Unmarshal(text, to)
	}
	return err
}

// convert reads a value and returns what an option has for it.
func convert[A, B any](text []byte, plain func(A) B) (v B, err error) {
	stored, err := strictly[A](text)
	if err != nil {
		return v, err
	}
	return plain(stored), nil
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

// store returns the form of o in a plan.
func store(o *pipeline.Options) settings {
	s := settings(*o)
	s.Synthesis.Flow = anywhere(s.Synthesis.Flow)
	s.Synthesis.Matte = absolute(s.Synthesis.Matte)
	if s.Output.File != "" {
		s.Output.File = filepath.Base(s.Output.File) // from which the container follows
	}
	return s
}

// anywhere returns m with the absolute name of its files, which workers find from any
// directory.
func anywhere(m pipeline.FlowMethod) pipeline.FlowMethod {
	if pattern, files := m.Files(); files {
		return motion.FromFiles + pipeline.FlowMethod(absolute(pattern))
	}
	return m
}

// absolute returns the absolute name of a file, "" for none.
func absolute(name string) string {
	if path, err := filepath.Abs(name); err == nil && name != "" {
		return path
	}
	return name
}

// options returns the options in s, for an input at path.
func (s *settings) options(path string) (pipeline.Options, error) {
	o := pipeline.Options(*s)
	o.Input.File = path
	if err := s.check(); err != nil {
		return o, err
	}
	named := o
	if named.Output.File == "" {
		named.Output.File = "output" // Check requires a name
	}
	return o, named.Check()
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
