package segment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/timeline/curve"
	"retime/testdata/posix"
)

// fill sets v to a value that is neither zero nor the value of another setting.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch p := v.Addr().Interface().(type) {
	case *frame.Image[uint8]:
		*p = frame.Image[uint8]{Width: 2, Height: 3, Stride: 2, Pix: []byte{0, 1, 2, 3, 4, 255}}
		return
	case **big.Rat:
		*p = big.NewRat(30000, 1001)
		return
	case *curve.Shape:
		*p = curve.Smooth
		return
	case *json.Number:
		*p = "172.8"
		return
	case *pipeline.Method:
		*p = pipeline.Blended
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint8:
		v.SetUint(3)
	case reflect.Float64:
		v.SetFloat(1. / 3)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0))
		fill(t, v.Index(1))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("no value for a %v", v.Type())
	}
}

// Every option is in a plan and comes back from it unchanged, or is in local.
func TestEveryOptionIsPlannedOrLocal(t *testing.T) {
	seen := map[string]bool{}
	whole := reflect.TypeFor[pipeline.Options]()
	for g := range whole.NumField() {
		group := whole.Field(g)
		if !group.IsExported() {
			continue
		}
		if local[group.Name] != "" {
			seen[group.Name] = true
			continue
		}
		for f := range group.Type.NumField() {
			name := group.Name + "." + group.Type.Field(f).Name
			seen[name] = true
			var o pipeline.Options
			field := reflect.ValueOf(&o).Elem().Field(g).Field(f)
			fill(t, field)
			if name == "Synthesis.Matte" { // a plan has the absolute name of a file
				field.SetString(absolute("text"))
			}
			stored := store(&o)
			text, err := json.Marshal(stored)
			if err != nil {
				t.Fatal(err)
			}
			var read settings
			if err := json.Unmarshal(text, &read); err != nil {
				t.Fatal(err)
			}
			back, _ := read.options("") // these values make no sense
			got := reflect.ValueOf(&back).Elem().Field(g).Field(f)
			if same := reflect.DeepEqual(got.Interface(), field.Interface()); same == (local[name] != "") {
				t.Errorf("%s comes back from a plan: %v. Have settings write and read its type, or add it to the options that are local, with the reason", name, same)
			}
			none := store(new(pipeline.Options))
			if changed := differences(&none, &stored); (len(changed) == 1 && strings.HasPrefix(changed[0], name+" ")) == (local[name] != "") {
				t.Errorf("%s: the differences are %q", name, changed)
			}
		}
	}
	for name := range local {
		if !seen[name] {
			t.Errorf("there is no option %s", name)
		}
	}
}

// All fields of an Outline are in a plan, too.
func TestTheWholeOutlineIsPlanned(t *testing.T) {
	var p Plan
	fill(t, reflect.ValueOf(&p.Whole).Elem())
	if whole := p.file().Whole.outline(); !reflect.DeepEqual(whole, p.Whole) {
		t.Errorf("%+v comes back as %+v", p.Whole, whole)
	}
}

// A plan names files of flow so that they are found from any directory.
func TestPlannedFlowFiles(t *testing.T) {
	o := pipeline.Options{Synthesis: pipeline.Synthesis{Flow: "files=flow/%d.flo"}}
	here, err := filepath.Abs("flow/%d.flo")
	if err != nil {
		t.Fatal(err)
	}
	if got := store(&o).Synthesis.Flow; string(got) != "files="+here {
		t.Errorf("%s", got)
	}
}

// inFile is a path that is absolute on this system.
var inFile = map[bool]string{true: "C:/in.mp4", false: "/in.mp4"}[filepath.Separator == '\\']

// full returns a plan with every field set.
func full(t testing.TB) *Plan {
	t.Helper()
	third := big.NewRat(1, 3)
	p := &Plan{
		Program: "test",
		Input:   Input{inFile, 7, time.Unix(1e9, 5).UTC(), strings.Repeat("0f", 32)},
		Settings: pipeline.Options{
			Input: pipeline.Input{File: inFile, Format: "mov", Rate: big.NewRat(24, 1), SequenceGaps: true, Map: []string{"0:v"}, Deinterlace: pipeline.IgnoreFields, HWDec: media.HWNone, Rotation: pipeline.KeepRotation},
			Timing: pipeline.Timing{
				Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}, Shutter: third, Audio: media.DropAudio,
				Curve: []curve.Keyframe{{Source: new(big.Rat), Speed: big.NewRat(1, 7), Shape: curve.Hold}, {Speed: big.NewRat(2, 1), Shape: curve.Linear}},
			},
			Synthesis: pipeline.Synthesis{
				Mode: "splat", Flow: pipeline.Farneback, Preset: pipeline.Best, Order: new(1), Kernel: "zp", SceneThreshold: new(math.Inf(1)), Scenes: []*big.Rat{third},
				BlendBelow: new(0.1), NearestBelow: new(1. / 3), Duplicates: pipeline.KeepDuplicates, Static: pipeline.StaticOff,
				StaticMask: frame.Image[uint8]{Width: 3, Height: 2, Stride: 3, Pix: []byte{0, 255, 1, 2, 3, 4}},
			},
			Output: pipeline.Output{
				File: "out.mp4", Format: "mp4", StartNumber: new(7), VideoCodec: "libx264", CRF: new(20), VideoOptions: map[string]string{"preset": "fast"}, PixelFormat: "gray",
				AudioOptions: map[string]string{}, MuxOptions: map[string]string{"movflags": "+faststart"},
			},
		},
		Whole: Outline{
			Frames: 20, Rate: big.NewRat(60000, 1001), Scenes: []int64{3, 9},
			Parameters: media.Parameters{Encoder: "libx264", Width: 3, Height: 2, PixelFormat: "gray", TimeBase: [2]int{1001, 60000}, Header: []byte{1, 2}},
		},
		Ranges: []Range{{First: 0, End: 9, Start: new(int64(-9))}, {First: 9, End: 20, Start: new(int64(-3))}},
	}
	return p
}

// text returns the content of a plan's file.
func text(t testing.TB, p *Plan) string {
	t.Helper()
	b, err := json.Marshal(p.file())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWholePlanIsReadBack(t *testing.T) {
	p := full(t)
	q, err := parsePlan([]byte(text(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	if p.ID() != q.ID() {
		t.Errorf("read %+v\nwrote %+v", q, p)
	}
	p.Settings.Synthesis.Scenes = []*big.Rat{} // no scenes, while nil asks to find them
	p.Settings.Synthesis.StaticMask.Stride, p.Settings.Synthesis.StaticMask.Pix = 4, []byte{0, 255, 1, 99, 2, 3, 4, 99}
	q, err = parsePlan([]byte(text(t, p)))
	if err != nil || q.Settings.Synthesis.Scenes == nil || !bytes.Equal(q.Settings.Synthesis.StaticMask.Pix, []byte{0, 255, 1, 2, 3, 4}) {
		t.Errorf("read %+v, %v", q.Settings.Synthesis, err)
	}
}

// ReadPlan refuses a plan that no program wrote, and names the field.
func TestHostilePlans(t *testing.T) {
	good := text(t, full(t))
	for _, c := range []struct{ old, new, says string }{
		{`"retime plan 4"`, `"retime plan 2"`, `its format is "retime plan 2", and this version reads "retime plan 4"; plan again`},
		{`"path":"` + inFile + `"`, `"path":"in.mp4"`, "not absolute"},
		{`"size":7`, `"size":-7`, "size is -7"},
		{`0f0f`, `0f`, "SHA-256"},
		{`"data":"AP8BAgME"`, `"data":"AP8B"`, "3 samples are not 3 x 2"},
		{`"static_mask":{"width":3,"height":2`, `"static_mask":{"width":-3,"height":-2`, "-3 x -2"},
		{`"static_mask":{"width":3,"height":2`, `"static_mask":{"width":4294967299,"height":4294967298`, "samples are not"},
		{`"shutter":"1/3"`, `"shutter":"1/0"`, `"1/0"`},
		{`"shutter":"1/3"`, `"shutter":"1e999999999"`, `"1e999999999"`},
		{`"shutter":"1/3"`, `"shutter":"4/3"`, "Timing.Shutter"},
		{`"rate":"24"`, `"rate":"-24"`, "input.rate -24"},
		{`"value":"2"`, `"value":"20000"`, "timing.rate 20000"},
		{`"scenes":["1/3"]`, `"scenes":[null]`, "scene 1 is missing"},
		{`"shape":"hold"`, `"shape":"round"`, "keyframe 1"},
		{`"speed":"1/7"`, `"speed":null`, "keyframe 1"},
		{`{"source":"0","output":null,"speed":"1/7","shape":"hold"},`, ``, "1 keyframes"},
		{`"decisions":null`, `"decisions":[{"frame":1,"method":"magic"}]`, `"magic"`},
		{`"decisions":null`, `"decisions":[{"frame":-1}]`, "no frame -1"},
		{`"nearest_below":"0.3333333333333333"`, `"nearest_below":"NaN"`, "NaN"},
		{`"nearest_below":"0.3333333333333333"`, `"nearest_below":"7"`, "Synthesis.NearestBelow"},
		{`"mode":"splat"`, `"mode":"magic"`, "Synthesis.Mode magic"},
		{`"order":1`, `"order":12`, "Synthesis.Order 12"},
		{`"crf":20`, `"crf":-20`, "Output.CRF"},
		{`"file":"out.mp4"`, `"file":"../out.mp4"`, "is a path"},
		{`"rate":"60000/1001"`, `"rate":"0"`, "no rate"},
		{`"scenes":[3,9]`, `"scenes":[9,3]`, "rising order"},
		{`"scenes":[3,9]`, `"scenes":[3,20]`, "rising order"},
		{`"stream":{"encoder":"libx264","width":3`, `"stream":{"encoder":"libx264","width":0`, "0x2"},
		{`"time_base":[1001,60000]`, `"time_base":[1001,0]`, "1001/0"},
		{`"ranges":[{"first":0,"end":9,`, `"ranges":[{"first":0,"end":8,`, "does not follow 8"},
		{`"frames":20`, `"frames":21`, "20 frames of 21"},
		{`"start":-3`, `"start":-10`, "the one before it from -9"},
		{`"ranges":[{"first":0,"end":9,"start":-9},{"first":9,"end":20,"start":-3}]`, `"ranges":[]`, "0 ranges"},
		{`"flow":"farneback"`, `"flow":"farneback","threads":3`, "threads"},
		{`"static_mask":{"width":3,"height":2`, `"static_mask":{"width":2,"height":3`, "its mask is of 2x3, its pictures of 3x2"},
		{`"data":"AP8BAgME"`, `"data":null`, "0 samples are not 3 x 2"},
		{`"file":"out.mp4"`, `"file":".."`, "is a path"},
		{`"hwdec":"none"`, `"hwdec":"magic"`, "input.hwdec"},
		{`"slow":null`, `"slow":"1001"`, "timing.slow 1001"},
		{`"fit":null`, `"fit":"9000000000000"`, "timing.fit 9e+12"},
		{`"from":null`, `"from":"-9000000000000"`, "timing.from -9e+12"},
		{`"to":null`, `"to":"9000000000000"`, "timing.to 9e+12"},
		{`"source":"0"`, `"source":"-1"`, "keyframe 1: source -1"},
		{`"output":null`, `"output":"9000000000000"`, "keyframe 1: output 9e+12"},
		{`"speed":"1/7"`, `"speed":"-1001"`, "keyframe 1: speed -1001"},
		{`"scenes":["1/3"]`, `"scenes":["` + strings.Repeat("9", 400) + `"]`, "scene 1 +Inf"},
		{`"rate":"60000/1001"`, `"rate":"4294967296"`, "more than 31 bits"},
		{`"frames":20`, `"frames":1099511627777`, "1099511627777 frames"},
		{`"time_base":[1001,60000]`, `"time_base":[1001,2147483648]`, "1001/2147483648"},
		{`"map":["0:v"]`, `"map":["0:v"` + strings.Repeat(`,""`, maxValues) + `]`, "values"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Fatalf("the plan has no %s:\n%s", c.old, good)
		}
		if _, err := parsePlan([]byte(bad)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.new, err, c.says)
		}
	}
}

// A pipe in place of a segment's manifest or packets is no segment, and keeps nobody
// waiting.
func TestPipesAreNoSegments(t *testing.T) {
	p, dir := full(t), t.TempDir()
	pipe := func(name string) {
		t.Helper()
		if err := posix.Mkfifo(t, filepath.Join(dir, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pipe("000000.json")
	m := Manifest{Plan: p.ID(), Index: 1, First: 9, SHA256: Sum(), Digest: Sum()}
	m.File = packetsName(1, m.SHA256)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifestName(dir, 1), b, 0o666); err != nil {
		t.Fatal(err)
	}
	pipe(m.File)
	for i := range p.Ranges {
		if _, err := p.check(dir, p.ID(), i, true); err == nil || !strings.Contains(err.Error(), "is a pipe") {
			t.Errorf("segment %d: %v", i, err)
		}
	}
}

func FuzzPlan(f *testing.F) {
	good := text(f, full(f))
	f.Add([]byte(good))
	f.Add([]byte(`{"format":"retime plan 1","whole":{"frames":2,"rate":"25"},"ranges":[{"first":0,"end":2}]}`))
	f.Add([]byte(`{"format":"retime plan 4"}`))
	for _, field := range []string{`"width":3`, `"height":2`, `"frames":20`, `"end":9`, `"order":1`} {
		name, _, _ := strings.Cut(field, ":")
		for _, value := range []string{"-1", "0", "9223372036854775807", "null", "{}"} {
			f.Add([]byte(strings.ReplaceAll(good, field, fmt.Sprint(name, ":", value))))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePlan(b)
		if err != nil {
			return
		}
		if p.rangeOf(p.Whole.Frames-1) != len(p.Ranges)-1 {
			t.Errorf("the last frame is in range %d of %d", p.rangeOf(p.Whole.Frames-1), len(p.Ranges))
		}
		m := p.Settings.Synthesis.StaticMask
		for y := range m.Height {
			_ = m.Row(y)
		}
		again, err := parsePlan([]byte(text(t, p)))
		if err != nil || again.ID() != p.ID() {
			t.Errorf("a plan that was read cannot be read again: %v", err)
		}
	})
}

// differences names options, with both values in the form of flags.
func TestDifferences(t *testing.T) {
	a, b := store(&full(t).Settings), store(&full(t).Settings)
	if got := differences(&a, &b); got != nil {
		t.Errorf("%q", got)
	}
	o := full(t).Settings
	o.Input.Map = []string{"0:v", "-0:s"}
	o.Timing.Rate, o.Timing.Slow, o.Timing.From, o.Timing.Shutter = pipeline.Rate{Value: big.NewRat(60000, 1001)}, big.NewRat(5, 2), big.NewRat(3, 1), nil
	o.Timing.Curve, o.Timing.KeepTimestamps = nil, true
	o.Synthesis.Preset, o.Synthesis.SceneThreshold = pipeline.Fast, new(0.5)
	o.Synthesis.StaticMask = frame.Image[uint8]{Width: 1, Height: 1, Stride: 1, Pix: []byte{0}}
	o.Output.CRF, o.Output.AudioCodec = new(21), "aac"
	o.Output.VideoOptions = map[string]string{"tune": "grain", "preset": "fast"}
	b = store(&o)
	want := []string{
		"Input.Map 0:v, now 0:v -0:s",
		"Timing.Rate 2x, now 60000/1001", "Timing.Slow none, now 5/2", "Timing.From none, now 3", "Timing.Curve given, now none",
		"Timing.KeepTimestamps false, now true", "Timing.Shutter 120, now none",
		"Synthesis.Preset best, now fast", "Synthesis.SceneThreshold +Inf, now 0.5", "Synthesis.StaticMask given, now another",
		"Output.CRF 20, now 21", "Output.VideoOptions preset=fast, now preset=fast tune=grain", "Output.AudioCodec none, now aac",
	}
	if got := differences(&a, &b); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
