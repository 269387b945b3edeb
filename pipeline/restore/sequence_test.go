package restore

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline/fault"
)

// writeSequence writes pictures of the scene, numbered from 37, and leaves some numbers out.
func writeSequence(t *testing.T, ext, format string, missing ...int) (pattern string) {
	t.Helper()
	pattern = filepath.Join(t.TempDir(), "f%04d."+ext)
	ffmpeg(t, "-i", writeScene(t, 96, 64, 12), "-pix_fmt", format, "-start_number", "37", pattern)
	for _, n := range missing {
		if err := os.Remove(fmt.Sprintf(pattern, n)); err != nil {
			t.Fatal(err)
		}
	}
	return pattern
}

func names(t *testing.T, pattern string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// Pictures with missing numbers are made under those numbers; all others stay unchanged, whatever
// their depth.
func TestMissingFromNumbering(t *testing.T) {
	for _, c := range []struct {
		ext, format string
		copies      bool
	}{
		{"png", "rgb48be", false}, {"png", "gray16be", false}, {"tiff", "rgb48le", false}, {"dpx", "gbrp10be", false}, {"exr", "gbrpf32le", false},
		{"png", "rgb48be", true},
	} {
		pattern := writeSequence(t, c.ext, c.format, 40, 44, 45)
		o := options(t, pattern)
		o.Convert.Output.File, o.Convert.Output.VideoCodec, o.Convert.Input.Rate = filepath.Join(t.TempDir(), "g%05d."+c.ext), "", big.NewRat(24, 1)
		o.MissingFromNumbering, o.Detect, o.SmartCopy = true, true, c.copies
		var log []Entry
		o.Log = func(e Entry) { log = append(log, e) }
		report := mustRun(t, o)
		if len(report.Findings) != 2 || report.Findings[1].Insert != 2 || report.Made != 3 || len(log) != 3 {
			t.Fatalf("%s: found %v, made %d", c.format, report.Findings, report.Made)
		}
		var want []string
		for n := 37; n < 49; n++ {
			want = append(want, fmt.Sprintf("g%05d.%s", n, c.ext))
		}
		if got := names(t, o.Convert.Output.File); !slices.Equal(got, want) {
			t.Fatalf("%s: wrote %q", c.format, got)
		}
		for n := 37; n < 49; n++ {
			in, out := fmt.Sprintf(pattern, n), fmt.Sprintf(o.Convert.Output.File, n)
			made, _ := readAll(t, out)
			if shot, err := os.Stat(in); err == nil {
				if source, _ := readAll(t, in); !frame.Equal(source[0], made[0]) {
					t.Errorf("%s: %s is changed", c.format, shot.Name())
				}
			}
		}
		if left, _ := filepath.Glob(filepath.Join(os.TempDir(), ".retime-sequence.*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}

// A file that holds no picture counts as missing, whatever it holds instead.
func TestFilesWithoutPictures(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(file string) error
		opens  bool // and is not decoded
		copies bool
	}{
		{name: "empty", spoil: func(file string) error { return os.Truncate(file, 0) }},
		{name: "dangling", spoil: func(file string) error { return errors.Join(os.Remove(file), os.Symlink("nowhere", file)) }},
		{name: "directory", spoil: func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) }},
		{name: "cut", spoil: func(file string) error { return os.Truncate(file, 300) }, opens: true},
		{name: "garbage", spoil: func(file string) error { return os.WriteFile(file, []byte("no picture"), 0o600) }, opens: true},
		{name: "empty, copied", spoil: func(file string) error { return os.Truncate(file, 0) }, copies: true},
		{name: "cut, copied", spoil: func(file string) error { return os.Truncate(file, 300) }, opens: true, copies: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			pattern := writeSequence(t, "png", "rgb24")
			for _, n := range []int{37, 40, 44, 45} {
				if err := c.spoil(fmt.Sprintf(pattern, n)); err != nil {
					t.Fatal(err)
				}
			}
			o := options(t, pattern)
			o.Convert.Output.File, o.Convert.Output.VideoCodec = filepath.Join(t.TempDir(), "%03d.png"), ""
			o.MissingFromNumbering, o.SmartCopy = true, c.copies
			if report := mustRun(t, o); len(report.Findings) != 2 || report.Made != 3 {
				t.Errorf("found %v, made %d", report.Findings, report.Made)
			}
			var want []string
			for n := 38; n < 49; n++ {
				want = append(want, fmt.Sprintf("%03d.png", n))
			}
			if got := names(t, o.Convert.Output.File); !slices.Equal(got, want) {
				t.Fatalf("wrote %q", got)
			}
			for n := 38; n < 49; n++ {
				made, _ := readAll(t, fmt.Sprintf(o.Convert.Output.File, n))
				if n == 40 || n == 44 || n == 45 {
					continue
				}
				if source, _ := readAll(t, fmt.Sprintf(pattern, n)); !frame.Equal(source[0], made[0]) {
					t.Errorf("picture %d is changed", n)
				}
			}
			o.MissingFromNumbering, o.Detect, o.Convert.Output.Overwrite = false, true, true
			if _, err := Run(t.Context(), o); !c.opens && (fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "MissingFromNumbering")) {
				t.Errorf("without the numbers: %v", err)
			}
		})
	}
}

// Numbers without gaps, output as video, and inserted pictures without a free number.
func TestSequenceNumbers(t *testing.T) {
	pattern := writeSequence(t, "png", "rgb24")
	gappy := writeSequence(t, "png", "rgb24", 41)
	for _, c := range []struct {
		name   string
		input  string
		change func(*Options)
		first  int
		frames int
	}{
		{"damaged", pattern, func(o *Options) { o.Damage = frames(t, "3") }, 37, 12},
		{"put in", pattern, func(o *Options) { o.Damage, _ = ParseInsert("3:2") }, 37, 14},
		{"nothing missing", pattern, func(o *Options) { o.MissingFromNumbering = true }, 37, 12},
		{"left", gappy, func(o *Options) { o.Damage, o.MissingFromNumbering, o.MaxRun = frames(t, "2-3"), true, 1 }, 37, 11},
	} {
		o := options(t, c.input)
		o.Convert.Output.File, o.Convert.Output.VideoCodec = filepath.Join(t.TempDir(), "%03d.png"), ""
		c.change(&o)
		mustRun(t, o)
		got := names(t, o.Convert.Output.File)
		if len(got) != c.frames || got[0] != fmt.Sprintf("%03d.png", c.first) {
			t.Errorf("%s: wrote %q", c.name, got)
		}
		if c.name == "left" && slices.Contains(got, "041.png") {
			t.Errorf("%s: wrote %q", c.name, got)
		}
	}

	o := options(t, gappy)
	o.MissingFromNumbering = true
	mustRun(t, o)
	if got, stamps := readAll(t, o.Convert.Output.File); len(got) != 12 || stamps[11] != 11*stamps[1] {
		t.Errorf("as video: %d frames at %v", len(got), stamps)
	}

	for _, c := range []struct {
		name, input string
		gaps        bool
		kind        fault.Kind
	}{{"a gap", gappy, false, fault.BadData}, {"no sequence", writeScene(t, 64, 48, 3), true, fault.Usage}} {
		o := options(t, c.input)
		o.Damage, o.MissingFromNumbering = frames(t, "1"), c.gaps
		if _, err := Run(t.Context(), o); fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
