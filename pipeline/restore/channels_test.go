//go:build openexr

package restore

import (
	"bytes"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media/exr"
)

// renders are pictures 1001 to 1007 of a renderer, some of which are missing.
type renders struct {
	cliptest.Render
	pattern string
}

func writeRenders(t *testing.T, missing ...int) renders {
	t.Helper()
	r := renders{cliptest.Render{Display: image.Rect(0, 0, 160, 64), Window: image.Rect(-8, -4, 168, 68), Step: 3}, filepath.Join(t.TempDir(), "p.%04d.exr")}
	for n := range 7 {
		r.Write(t, fmt.Sprintf(r.pattern, 1001+n), n)
	}
	for _, n := range missing {
		if err := os.Remove(fmt.Sprintf(r.pattern, n)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// mend restores r, and returns the pattern of what was written, and what was logged.
func (r renders) mend(t *testing.T, change func(*Options)) (pattern, said string) {
	t.Helper()
	o := options(t, r.pattern)
	o.Convert.Output.File, o.Convert.Output.VideoCodec = filepath.Join(t.TempDir(), "q.%04d.exr"), ""
	o.Convert.Synthesis.Preset = pipeline.Balanced
	var log bytes.Buffer
	o.Convert.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
	change(&o)
	mustRun(t, o)
	return o.Convert.Output.File, log.String()
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func part(t *testing.T, name string) *exr.Part {
	t.Helper()
	parts, err := exr.Decode(read(t, name), 0)
	if err != nil {
		t.Fatal(err)
	}
	return &parts[0]
}

// timeCode returns the time code of a picture, of which Render writes one a number.
func timeCode(t *testing.T, name string) string {
	t.Helper()
	said := cliptest.Program(t, "exrheader", name)
	_, after, ok := strings.Cut(said, "timeCode (type timecode):")
	if !ok || !strings.Contains(said, "framesPerSecond (type rational): 24/1") || !strings.Contains(said, "ab_010") {
		t.Fatalf("%s has other attributes:\n%s", name, said)
	}
	code, _, _ := strings.Cut(strings.TrimSpace(after), "\n")
	return code
}

// What stays of a sequence of OpenEXR files are the files that they were, and what is made has all channels and
// the header of the picture in whose place it stands or, if there is none, of the nearer one.
func TestChannels(t *testing.T) {
	for _, c := range []struct {
		name    string
		missing []int
		change  func(*Options)
		made    map[int]float64 // number of a made file: the time in pictures
		header  map[int]int     // and that of the picture with its header
		numbers int             // files that are written
	}{
		{"a picture", nil, func(o *Options) { o.Damage = frames(t, "3") }, map[int]float64{1004: 3}, map[int]int{1004: 1004}, 7},
		{"missing", []int{1003, 1004}, func(o *Options) { o.MissingFromNumbering = true }, map[int]float64{1003: 2, 1004: 3}, map[int]int{1003: 1002, 1004: 1005}, 7},
		{"the ends", nil, func(o *Options) { o.Damage = frames(t, "0,6") }, map[int]float64{1001: 0, 1007: 6}, map[int]int{1001: 1001, 1007: 1007}, 7},
		{"put in", []int{1004}, func(o *Options) { o.Damage, _ = ParseInsert("2:1") }, map[int]float64{1004: 3}, map[int]int{1004: 1005}, 7},
	} {
		r := writeRenders(t, c.missing...)
		if c.name == "put in" { // under its own number, beside a number that is not missed
			if err := os.Rename(fmt.Sprintf(r.pattern, 1005), fmt.Sprintf(r.pattern, 1004)); err != nil {
				t.Fatal(err)
			}
			for n := 1006; n <= 1007; n++ {
				if err := os.Rename(fmt.Sprintf(r.pattern, n), fmt.Sprintf(r.pattern, n-1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		var written []string
		for _, smart := range []bool{false, c.name != "put in"} { // between whose numbers there is no time
			pattern, said := r.mend(t, func(o *Options) { c.change(o); o.SmartCopy = smart })
			if got := len(names(t, pattern)); got != c.numbers || strings.Contains(said, "lost") {
				t.Fatalf("%s: %d files; %s", c.name, got, said)
			}
			written = append(written, pattern)
		}
		for n := 1001; n < 1001+c.numbers; n++ {
			out, copied := fmt.Sprintf(written[0], n), fmt.Sprintf(written[1], n)
			if !bytes.Equal(read(t, out), read(t, copied)) {
				t.Errorf("%s: file %d is another one by smart copy", c.name, n)
			}
			if at, ok := c.made[n]; ok {
				r.Check(t, part(t, out), at, 1.5)
				if c.name == "put in" {
					continue
				}
				if got, want := timeCode(t, out), timeCode(t, fmt.Sprintf(r.pattern, c.header[n])); got != want {
					t.Errorf("%s: file %d has time code %s, want %s", c.name, n, got, want)
				}
			} else if c.name != "put in" && !bytes.Equal(read(t, out), read(t, fmt.Sprintf(r.pattern, n))) {
				t.Errorf("%s: file %d is another one", c.name, n)
			}
		}
	}
}

// Of a picture of which a part is replaced, the rest stays in all channels.
func TestChannelsOfRegions(t *testing.T) {
	r := writeRenders(t)
	damaged := fmt.Sprintf(r.pattern, 1004)
	file := read(t, damaged)
	whole, err := exr.Decode(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	region := image.Rect(60, 20, 100, 44)
	p := &whole[0]
	for k := range p.Planes {
		for y := region.Min.Y; y < region.Max.Y; y++ {
			for x := region.Min.X; x < region.Max.X; x++ {
				p.Planes[k].Bits[(y-p.Window.Min.Y)*p.Window.Dx()+x-p.Window.Min.X] = 0
			}
		}
	}
	if file, err = exr.Encode(file, whole, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, file, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, smart := range []bool{false, true} {
		pattern, said := r.mend(t, func(o *Options) {
			o.Damage, o.SmartCopy = frames(t, "3"), smart
			o.Damage[0].Regions = []*Region{{X: region.Min.X, Y: region.Min.Y, Width: region.Dx(), Height: region.Dy()}}
		})
		got := part(t, fmt.Sprintf(pattern, 1004))
		r.Check(t, got, 3, 1)
		around := region.Inset(-seam)
		for k := range got.Planes {
			for i, bits := range got.Planes[k].Bits {
				at := image.Pt(i%p.Window.Dx(), i/p.Window.Dx()).Add(p.Window.Min)
				if old := p.Planes[k].Bits[i]; bits != old && !at.In(around) {
					t.Fatalf("channel %s has %x at %v, and had %x; %s", got.Planes[k].Name, bits, at, old, said)
				}
			}
		}
		if a, b := timeCode(t, fmt.Sprintf(pattern, 1004)), timeCode(t, damaged); a != b {
			t.Errorf("time code %s, and %s before", a, b)
		}
		if !bytes.Equal(read(t, fmt.Sprintf(pattern, 1003)), read(t, fmt.Sprintf(r.pattern, 1003))) {
			t.Error("another picture is changed")
		}
	}
	// Without the damaged picture's own channels there is nothing to stay.
	if err := os.WriteFile(damaged, file[:len(file)*3/4], 0o600); err != nil {
		t.Fatal(err)
	}
	pattern, said := r.mend(t, func(o *Options) {
		o.Damage = frames(t, "3")
		o.Damage[0].Regions = []*Region{{Mask: frame.NewImage[uint8](160, 64)}}
	})
	if got := part(t, fmt.Sprintf(pattern, 1004)); len(got.Planes) != 6 || !strings.Contains(said, "no part of the further channels stays") {
		t.Errorf("of a damaged picture: %d channels; %s", len(got.Planes), said)
	}
	pattern, _ = r.mend(t, func(o *Options) { o.Damage = frames(t, "3") })
	if a, b := timeCode(t, fmt.Sprintf(pattern, 1004)), timeCode(t, fmt.Sprintf(r.pattern, 1005)); a != b {
		t.Errorf("in place of a damaged picture: time code %s, and %s of the nearer one", a, b)
	}
}

// Pictures that are made of fields have colour alone, with smart copy as without.
func TestChannelsOfFields(t *testing.T) {
	r := writeRenders(t)
	for _, smart := range []bool{false, true} {
		o := options(t, r.pattern)
		o.Convert.Output.File, o.Convert.Output.VideoCodec = filepath.Join(t.TempDir(), "q.%04d.exr"), ""
		o.Damage, o.SmartCopy, o.FieldOrder = frames(t, "1.b,3.t"), smart, TopField
		mustRun(t, o)
		for _, n := range []int{1002, 1004} {
			if made := part(t, fmt.Sprintf(o.Convert.Output.File, n)); len(made.Planes) > 4 {
				t.Errorf("smart copy %v: picture %d has %d channels", smart, n, len(made.Planes))
			}
		}
		o.Convert.Output.Channels, o.Convert.Output.Overwrite = []string{"Z=mix"}, true
		if _, err := Run(t.Context(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "fields are restored in colour alone") {
			t.Errorf("smart copy %v: rules for channels: %v", smart, err)
		}
	}
}
