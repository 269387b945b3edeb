//go:build openexr

package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"log/slog"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/media/exr"
	"retime/warp"
)

// convertWhole converts pictures 1001 on, and returns the files that were written, and what was logged.
func convertWhole(t *testing.T, dir string, change func(o *pipeline.Options)) (files []string, said string) {
	t.Helper()
	out := t.TempDir()
	var log bytes.Buffer
	o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(dir, "p.####.exr"), Rate: big.NewRat(25, 1)}, Output: pipeline.Output{File: filepath.Join(out, "q.####.exr")}}
	o.Timing.Rate = pipeline.Rate{Value: big.NewRat(50, 1)}
	o.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
	change(&o)
	if _, err := pipeline.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(out, "q.*.exr"))
	if err != nil {
		t.Fatal(err)
	}
	return files, log.String()
}

func decodeEXR(t *testing.T, name string) (parts []exr.Part, file []byte) {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if parts, err = exr.Decode(file, 0); err != nil {
		t.Fatal(err)
	}
	return parts, file
}

// Shot frames are the files that they were, and made ones have all channels, moved with the picture, and
// the nearer frame's header.
func TestChannels(t *testing.T) {
	dir := t.TempDir()
	s := cliptest.Render{Display: image.Rect(0, 0, 160, 64), Window: image.Rect(-8, -4, 168, 68), Step: 6}
	for n := range 5 {
		s.Write(t, filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+n)), n)
	}
	files, said := convertWhole(t, dir, func(*pipeline.Options) {})
	if len(files) != 10 || strings.Contains(said, "OpenEXR") {
		t.Fatalf("%d files; %s", len(files), said)
	}
	shot := func(n int) []byte {
		file, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+n)))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	for k := 0; k < 10; k += 2 {
		want := shot(k / 2)
		exr.SetRate(want, big.NewRat(50, 1))
		if _, got := decodeEXR(t, files[k]); !bytes.Equal(got, want) {
			t.Errorf("shot frame %d is another file", k/2)
		}
	}
	for k := 1; k < 8; k += 2 {
		parts, _ := decodeEXR(t, files[k])
		s.Check(t, &parts[0], float64(k)/2, 1)
		said := cliptest.Program(t, "exrheader", files[k])
		for _, want := range []string{"shot (type string): \"ab_010\"", "framesPerSecond (type rational): 50/1", "dataWindow (type box2i): (-8 -4) - (167 67)",
			"displayWindow (type box2i): (0 0) - (159 63)", "zip, multi-scanline", "R, 16-bit floating-point", "id, 32-bit unsigned integer"} {
			if !strings.Contains(said, want) {
				t.Errorf("frame %d: exrheader does not say %q:\n%s", k, want, said)
			}
		}
		a, err := os.ReadFile(files[k+1])
		b, e := os.ReadFile(files[k])
		code := []byte("timeCode\x00timecode\x00\x08\x00\x00\x00")
		if i, j := bytes.Index(a, code), bytes.Index(b, code); err != nil || e != nil || i < 0 || j < 0 || !bytes.Equal(a[i:i+len(code)+8], b[j:j+len(code)+8]) {
			t.Errorf("frame %d has not the time code of frame %d", k, k+1)
		}
	}
	back, _ := convertWhole(t, dir, func(o *pipeline.Options) {
		o.Timing.Curve = mustParse(t, "source output\n0.16 0\n0 0.16")
	})
	for k, n := range []float64{4, 3.5, 3, 2.5} {
		if parts, _ := decodeEXR(t, back[k]); k%2 == 1 {
			s.Check(t, &parts[0], n, 1)
		} else if want, _ := decodeEXR(t, filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+int(n)))); !reflect.DeepEqual(parts, want) {
			t.Errorf("backward: frame %d is not picture %v", k, n)
		}
	}
	faded, _ := convertWhole(t, dir, func(o *pipeline.Options) { o.Synthesis.Mode = warp.Blend })
	parts, _ := decodeEXR(t, faded[1])
	for i := range parts[0].Planes {
		p := &parts[0].Planes[i]
		if at := 30*parts[0].Window.Dx() + 20; p.Name == "diffuse.R" {
			want := (s.Shade(0, 12, 26) + s.Shade(1, 12, 26)) / 4
			if got := p.Value(at); math.Abs(float64(got-want)) > 0.001 {
				t.Errorf("cross-faded: %v, want %v", got, want)
			}
		}
	}
	exposed, said := convertWhole(t, dir, func(o *pipeline.Options) {
		o.Timing.Rate, o.Timing.Shutter, o.Synthesis.Mode = pipeline.Rate{Value: big.NewRat(25, 1)}, big.NewRat(1, 2), warp.Blend
	})
	if parts, _ := decodeEXR(t, exposed[1]); len(parts[0].Planes) != 6 || !strings.Contains(said, "further channels are of the middle") {
		t.Errorf("by a shutter: %d channels; %s", len(parts[0].Planes), said)
	}
	closed, said := convertWhole(t, dir, func(o *pipeline.Options) { o.Timing.Shutter = new(big.Rat) })
	for k, name := range files {
		want, e := os.ReadFile(name)
		if got, err := os.ReadFile(closed[k]); err != nil || e != nil || !bytes.Equal(got, want) || strings.Contains(said, "blurred") {
			t.Errorf("by a closed shutter, frame %d is another; %s", k, said)
		}
	}
}

// A frame of which a part is decided otherwise is no shot one, though the rest shows one.
func TestChannelsAroundRegions(t *testing.T) {
	dir := t.TempDir()
	s := cliptest.Render{Display: image.Rect(0, 0, 160, 64), Window: image.Rect(0, 0, 160, 64), Step: 6}
	for n := range 2 {
		s.Write(t, filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+n)), n)
	}
	region := []decision.Region{{Method: decision.Blended, Outline: [][2]float64{{20, 16}, {60, 16}, {60, 48}, {20, 48}}}}
	all := 1.
	for _, wish := range []decision.Method{"", decision.Nearest} {
		files, _ := convertWhole(t, dir, func(o *pipeline.Options) {
			o.Synthesis.NearestBelow, o.Synthesis.Decisions = &all, []pipeline.Decision{{Frame: 1, Method: wish, Regions: region}}
		})
		made, _ := decodeEXR(t, files[1])
		shot, _ := decodeEXR(t, files[2])
		for k, p := range made[0].Planes {
			q, within := shot[0].Planes[k], 32*160+40
			switch {
			case p.Name == "R" && p.Bits[within] == q.Bits[within]:
				t.Errorf("%q: the region shows what was shot", wish)
			case p.Name == "diffuse.R" && !slices.Equal(p.Bits, q.Bits):
				t.Errorf("%q: the further channels are not those of the picture that is shown", wish)
			}
		}
	}
}

// Rules say which channels are mixed, attributes of Cryptomatte name layers whose channels are not, and a rule for
// nothing is an error.
func TestRulesForChannels(t *testing.T) {
	dir := t.TempDir()
	s := cliptest.Render{Display: image.Rect(0, 0, 160, 64), Window: image.Rect(0, 0, 160, 64), Step: 6}
	for n := range 2 {
		name := filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+n))
		s.Write(t, name+".plain", n)
		cliptest.Program(t, "exrstdattr", "-string", "cryptomatte/1234567/name", "diffuse", name+".plain", name)
	}
	shot := map[float32]bool{}
	for n := range 2 {
		parts, _ := decodeEXR(t, filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+n)))
		for _, p := range parts[0].Planes {
			for i := range p.Bits {
				shot[p.Value(i)] = true
			}
		}
	}
	for _, c := range []struct {
		rules []string
		mixed string // channels with values that were not shot
		says  string // an error
	}{
		{nil, "B G R", ""},
		{[]string{"Z=mix", "R=nearest"}, "B G Z", ""},
		{[]string{"*=nearest", "*=mix"}, "B G R Z diffuse.R", ""},
		{[]string{"diffuse.G=mix"}, "", "Output.Channels \"diffuse.G=mix\": the first picture has no such channel; it has B, G, R, Z, diffuse.R, id"},
		{[]string{"id=mix"}, "", "whole numbers"},
		{[]string{"id"}, "", "want a channel's name"},
	} {
		out := filepath.Join(t.TempDir(), "q.####.exr")
		o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(dir, "p.####.exr")}, Output: pipeline.Output{File: out, Channels: c.rules}}
		o.Timing.Rate = pipeline.Rate{Value: big.NewRat(50, 1)}
		_, foretold := pipeline.NewPreview(context.Background(), o)
		if _, err := pipeline.Run(context.Background(), o); c.says != "" {
			for _, err := range []error{err, foretold} {
				if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%q: %v", c.rules, err)
				}
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		made, _ := decodeEXR(t, filepath.Join(filepath.Dir(out), "q.1002.exr"))
		var mixed []string
		for _, p := range made[0].Planes {
			for i := range p.Bits {
				if !shot[p.Value(i)] {
					mixed = append(mixed, p.Name)
					break
				}
			}
		}
		if got := strings.Join(mixed, " "); got != c.mixed {
			t.Errorf("%q: %s are mixed, want %s", c.rules, got, c.mixed)
		}
	}
	clip := cliptest.WriteScene(t, 64, 48, 2, 25, 1)
	for _, c := range []struct {
		change func(*pipeline.Options)
		says   string // an error, and if rules may be for nothing, a warning
		warns  bool
	}{
		{func(o *pipeline.Options) { o.Output.File = filepath.Join(t.TempDir(), "o.mkv") }, "only a sequence of OpenEXR has further channels", false},
		{func(o *pipeline.Options) { o.Input.File = clip }, "colour and alpha alone: input", false},
		{func(o *pipeline.Options) { o.Output.VideoOptions = map[string]string{"compression": "rle"} }, "alone: Output.VideoOptions has FFmpeg write it", false},
		{func(o *pipeline.Options) { o.Output.Channels = []string{"diffuse.G=mix", "Z=mix"} }, "has no such channel", true},
	} {
		var log bytes.Buffer
		o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(dir, "p.####.exr")}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "q.####.exr"), Channels: []string{"Z=mix"}}}
		o.Timing.Rate = pipeline.Rate{Value: big.NewRat(50, 1)}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.change(&o)
		if _, err := pipeline.Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "Output.Channels") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", o.Output.File, err, c.says)
		}
		log.Reset()
		o.Output.LenientChannels = true
		if _, err := pipeline.Run(context.Background(), o); err != nil || strings.Contains(log.String(), c.says) != c.warns {
			t.Errorf("%s: %v; %s", o.Output.File, err, log.String())
		}
	}
}

// OpenImageIO reads what is written as what it wrote itself, whatever the compression, and in tiles.
func TestOpenImageIO(t *testing.T) {
	dir := t.TempDir()
	s := cliptest.Render{Display: image.Rect(0, 0, 160, 64), Window: image.Rect(-8, -4, 168, 68), Step: 6}
	for n := range 2 {
		name := filepath.Join(dir, fmt.Sprintf("p.%d.exr", 1001+n))
		s.Write(t, name+".exr", n)
		cliptest.Program(t, "oiiotool", name+".exr", "--attrib", "Copyright", "ours", "--tile", "32", "32", "--compression", "piz", "-o", name)
	}
	files, _ := convertWhole(t, dir, func(*pipeline.Options) {})
	said := cliptest.Program(t, "oiiotool", "--info", "-v", files[1])
	for _, want := range []string{
		"channel list: R, G, B, Z, id, diffuse.R", "pixel data origin: x=-8, y=-4", "full/display size: 160 x 64", `compression: "piz"`,
		"framesPerSecond: 50/1", `Copyright: "ours"`, `shot: "ab_010"`, "smpte:TimeCode: 00:00:01:01",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("oiiotool does not say %q:\n%s", want, said)
		}
	}
	again := filepath.Join(t.TempDir(), "again.exr")
	cliptest.Program(t, "oiiotool", files[1], "-o", again)
	cliptest.Program(t, "oiiotool", "--fail", "0", "--warn", "0", "--diff", files[1], again)
	cliptest.Program(t, "oiiotool", "--fail", "0", "--warn", "0", "--diff", filepath.Join(dir, "p.1002.exr"), files[2])
}
