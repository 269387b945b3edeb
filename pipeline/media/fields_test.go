package media_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// interlacedClip weaves fields of the moving scene, called interlaced or not.
func interlacedClip(t *testing.T, flagged bool) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), "fields.mkv")
	graph := "tinterlace=mode=interleave_top,setfield=tff"
	if !flagged {
		graph += ",setfield=prog"
	}
	ffmpeg(t, "-i", writeScene(t, 192, 108, 48, 60, 1), "-vf", graph, "-c:v", "ffv1", "-field_order", map[bool]string{true: "tt", false: "progressive"}[flagged], clip)
	return clip
}

func TestInterlacedInput(t *testing.T) {
	flagged, plain := interlacedClip(t, true), interlacedClip(t, false)
	for _, c := range []struct {
		input string
		how   pipeline.Deinterlace
		says  string // "" for nothing
		fails bool
		rate  int64
	}{
		{flagged, pipeline.RefuseFields, "Input.Deinterlace", true, 0},
		{flagged, pipeline.IgnoreFields, "", false, 30},
		{flagged, pipeline.EachField, "", false, 60},
		{flagged, pipeline.EachFrame, "", false, 30},
		{plain, pipeline.RefuseFields, "look interlaced", false, 30},
		{plain, pipeline.IgnoreFields, "", false, 30},
		{plain, pipeline.EachField, "", false, 60},
	} {
		var said strings.Builder
		o := lossless(t, c.input)
		o.Synthesis.Mode, o.Input.Deinterlace, o.Hooks.Log = warp.Nearest, c.how, slog.New(slog.NewTextHandler(&said, nil))
		report, err := pipeline.Run(context.Background(), o)
		if c.fails {
			if err == nil || fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q: %v, want a refusal that names %s", c.how, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if report.Rate.Cmp(big.NewRat(c.rate, 1)) != 0 || report.Frames != 24*c.rate/30 {
			t.Errorf("%q: %d frames at %s, want %d at %d", c.how, report.Frames, report.Rate.RatString(), 24*c.rate/30, c.rate)
		}
		if got := said.String(); c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%q: said %q, want %q", c.how, got, c.says)
		}
	}
}

// Each field's picture is close to the frame that the field was taken from.
func TestEachField(t *testing.T) {
	want, _, _ := readAll(t, writeScene(t, 192, 108, 48, 60, 1))
	o := lossless(t, interlacedClip(t, true))
	o.Synthesis.Mode, o.Input.Deinterlace = warp.Nearest, pipeline.EachField
	mustRun(t, o)
	got, times, _ := readAll(t, o.Output.File)
	for k := 4; k < len(got)-4; k++ {
		if p := psnr(got[k][:192*108], want[k][:192*108]); p < 26 {
			t.Errorf("field %d: %.1f dB off its frame", k, p)
		}
		if at := big.NewRat(int64(k), 60); times[k].Cmp(at) != 0 {
			t.Errorf("field %d stands at %s", k, times[k].RatString())
		}
	}
}

// Film comes back from 3:2 pulldown frame for frame.
func TestInverseTelecine(t *testing.T) {
	film := writeScene(t, 192, 108, 32, 24, 1)
	clip := filepath.Join(t.TempDir(), "telecined.mkv")
	ffmpeg(t, "-i", film, "-vf", "telecine=pattern=23,settb=1001/30000,setpts=N,fps=30000/1001,setfield=prog", "-c:v", "ffv1", clip)
	var said strings.Builder
	o := lossless(t, clip)
	o.Synthesis.Mode, o.Hooks.Log = warp.Nearest, slog.New(slog.NewTextHandler(&said, nil))
	mustRun(t, o)
	if !strings.Contains(said.String(), "look telecined") {
		t.Errorf("telecined pictures go unnoticed: %q", said.String())
	}
	o.Input.Deinterlace = pipeline.InverseTelecine
	report := mustRun(t, o)
	if report.Rate.Cmp(big.NewRat(24000, 1001)) != 0 || report.Frames != 32 {
		t.Errorf("%d frames at %s, want 32 at 24000/1001", report.Frames, report.Rate.RatString())
	}
	want, _, _ := readAll(t, film)
	got, _, _ := readAll(t, o.Output.File)
	for k := range got {
		if !bytes.Equal(got[k], want[k]) {
			t.Errorf("frame %d of the film came back changed", k)
		}
	}
	// The first picture may lie anywhere in the cadence of five.
	for k := 1; k < 5; k++ {
		late := filepath.Join(t.TempDir(), "late.mkv")
		ffmpeg(t, "-i", clip, "-vf", fmt.Sprintf("trim=start_frame=%d,setpts=PTS-STARTPTS", k), "-c:v", "ffv1", late)
		o := lossless(t, late)
		o.Synthesis.Mode, o.Input.Deinterlace = warp.Blend, pipeline.InverseTelecine
		if report, want := mustRun(t, o), int64((40-k)*4+4)/5; report.Frames != want || report.Made != 0 {
			t.Errorf("from picture %d on: %d frames, %d of them made, want %d and none", k, report.Frames, report.Made, want)
		}
	}
	ten := filepath.Join(t.TempDir(), "ten.mkv")
	ffmpeg(t, "-i", clip, "-pix_fmt", "yuv420p10le", "-c:v", "ffv1", ten)
	o.Input.File = ten
	if _, err := pipeline.Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "yuv420p10le") {
		t.Errorf("film of 10 bits: %v", err)
	}
}

// Outputs say that their frames have no fields, or in which order interlaced frames have them.
func TestFieldOrder(t *testing.T) {
	for _, c := range []struct {
		flagged bool
		how     pipeline.Deinterlace
		want    string
	}{
		{false, pipeline.RefuseFields, "progressive"},
		{true, pipeline.EachField, "progressive"},
		{true, pipeline.IgnoreFields, "tb"},
	} {
		o := lossless(t, interlacedClip(t, c.flagged))
		o.Input.Deinterlace, o.Synthesis.Mode = c.how, warp.Nearest
		o.Output.File, o.Output.VideoCodec, o.Output.PixelFormat = filepath.Join(t.TempDir(), "a.mov"), "prores_ks", "yuv422p10le"
		mustRun(t, o)
		if got := streamsOf(t, o.Output.File, "v", "field_order"); !slices.Equal(got, []string{c.want}) {
			t.Errorf("flagged %v, %q: %v, want %s", c.flagged, c.how, got, c.want)
		}
	}
}

// Where pictures cannot say that they are interlaced, the container says it for all, as in Matroska and MOV. What pictures say themselves
// counts more, and the order of a PNG file's pixels says nothing.
func TestMarksOfContainers(t *testing.T) {
	order := func(stated, marked string) []string {
		return []string{"-vf", "setfield=" + marked, "-field_order", stated}
	}
	for _, c := range []struct {
		name, file, codec, stated, marked string
		args                              []string
		top, interlaced                   bool
	}{
		{"HuffYUV", "a.mkv", "huffyuv", "tt", "tff", nil, true, true},
		{"HuffYUV, bottom first", "a.mov", "ffvhuff", "bb", "bff", nil, false, true},
		{"progressive HuffYUV", "a.mkv", "huffyuv", "progressive", "prog", nil, false, false},
		{"JPEG 2000", "a.mkv", "jpeg2000", "tt", "tff", nil, true, true},
		{"JPEG 2000 in MXF", "a.mxf", "jpeg2000", "tt", "tff", nil, true, true},
		{"MagicYUV", "a.mkv", "magicyuv", "bb", "bff", nil, false, true},
		{"Ut Video", "a.mkv", "utvideo", "tt", "tff", nil, true, true},
		{"CineForm", "a.mov", "cfhd", "tt", "tff", nil, true, true},
		{"CineForm, bottom first", "a.mkv", "cfhd", "bb", "bff", nil, false, true},
		{"progressive CineForm", "a.mov", "cfhd", "progressive", "prog", nil, false, false},
		{"v410", "a.mov", "v410", "bb", "bff", nil, false, true},
		{"uncompressed", "a.mov", "rawvideo", "tt", "tff", []string{"-pix_fmt", "uyvy422"}, true, true},
		{"FFV1 before version 3", "a.mkv", "ffv1", "bb", "bff", []string{"-level", "1"}, false, true},
		{"progressive FFV1", "a.mkv", "ffv1", "tt", "prog", []string{"-level", "3"}, false, false},
		{"progressive ProRes", "a.mov", "prores", "tt", "prog", nil, false, false},
		{"PNG in the order of Adam7", "a.png", "png", "progressive", "prog", []string{"-flags", "+ildct", "-frames:v", "1"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), c.file)
			args := append([]string{"-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25,trim=end_frame=2"}, order(c.stated, c.marked)...)
			ffmpeg(t, append(append(append(args, "-c:v", c.codec), c.args...), name)...)
			if filepath.Ext(name) == ".mxf" {
				separateFields(t, name)
			}
			r, err := media.Open(t.Context(), name, media.ReaderOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			f, err := r.Read()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Release()
			if top, interlaced := media.TopFieldFirst(f); top != c.top || interlaced != c.interlaced || r.Video().Interlaced != interlaced {
				t.Errorf("top first %v, interlaced %v, the stream %v; want %v, %v", top, interlaced, r.Video().Interlaced, c.top, c.interlaced)
			}
		})
	}
}

// separateFields makes an MXF file, which FFmpeg always writes as progressive, state that fields are apart and that the top one is
// first: Frame Layout 1, and the lines of Video Line Map for 1080 lines (SMPTE ST 377-1).
func separateFields(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	was := append([]byte{0x32, 0x0c, 0, 1, 0, 0x32, 0x0d, 0, 16, 0, 0, 0, 2, 0, 0, 0, 4}, make([]byte, 8)...)
	is := append(slices.Clone(was[:len(was)-8]), 0, 0, 0, 21, 0, 0, 584>>8, 584&0xff)
	is[4] = 1
	if n := bytes.Count(b, was); n != 1 {
		t.Fatalf("%d descriptors", n)
	}
	if err := os.WriteFile(name, bytes.Replace(b, was, is, 1), 0o600); err != nil {
		t.Fatal(err)
	}
}
