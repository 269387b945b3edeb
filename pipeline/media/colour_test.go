package media_test

import (
	"bytes"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/timeline"
	"retime/warp"
)

// rawFormats are the sample formats that go through raw video in NUT and come
// back under their own names.
func rawFormats(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "quiet", "-pix_fmts").Output()
	if err != nil {
		t.Skip("needs the ffmpeg program; make deps installs it")
	}
	var names []string
	_, list, _ := strings.Cut(string(out), "-----")
	for line := range strings.Lines(strings.TrimSpace(list)) {
		fields := strings.Fields(line)
		flags, name := fields[0], fields[1]
		if flags[0] != 'I' || flags[1] != 'O' || strings.Contains(flags, "H") || strings.HasPrefix(name, "yuvj") {
			continue
		}
		names = append(names, name)
	}
	return names
}

// Where nothing moves, frames that are made equal those that were shot, in every
// sample format.
func TestStaticGradient(t *testing.T) {
	const width, height = 96, 64
	dir := t.TempDir()
	// Something must change, or no frame would be made: the last rows do, behind
	// which no dithering carries on.
	args := []string{"-f", "lavfi", "-i", "gradients=s=96x64:r=24:d=0.1:x0=0:y0=0:x1=96:y1=64:c0=0x102030:c1=0xf0d8b0:nb_colors=2:seed=1:speed=0.00001," +
		"loop=loop=-1:size=1,trim=end_frame=2,drawbox=x=0:y=56:w=12:h=8:t=fill:c=white:enable='eq(n,1)'"}
	formats := rawFormats(t)
	for _, f := range formats {
		args = append(args, "-map", "0:v", "-pix_fmt", f, "-c:v", "rawvideo", filepath.Join(dir, f+".nut"))
	}
	ffmpeg(t, args...)
	tried := 0
	for _, f := range formats {
		input := filepath.Join(dir, f+".nut")
		source, _, v := readAll(t, input)
		if v.Source != f {
			continue
		}
		tried++
		o := lossless(t, input)
		o.Timing.Rate, _ = timeline.ParseRate("2x")
		never := 1.5
		o.Synthesis.SceneThreshold = &never // four bits of dither, anew in each frame, are as unlike as two scenes
		report := mustRun(t, o)
		got, _, w := readAll(t, o.Output.File)
		if w.Source != f && f != "monow" { // its zero is white
			t.Errorf("%s became %s", f, w.Source)
		}
		if len(got) != 4 || report.Made != 1 {
			t.Errorf("%s: %d frames, %d made; want 4 and 1", f, len(got), report.Made)
			continue
		}
		if !bytes.Equal(got[0], source[0]) || !bytes.Equal(got[2], source[1]) {
			t.Errorf("%s: a source frame came through changed", f)
		}
		at := 0
		for i := range w.Format.Planes {
			pw, ph := w.Format.PlaneSize(i, width, height)
			row := pw * w.Format.Bytes()
			end := at + ph/2*row
			dithered := !bytes.Equal(source[0][at:end], source[1][at:end]) // anew in each frame
			if !dithered && !bytes.Equal(got[1][at:end], source[0][at:end]) {
				t.Errorf("%s: plane %d of the made frame differs where nothing moves", f, i)
			}
			at += ph * row
		}
	}
	if tried < 100 {
		t.Errorf("%d formats, want at least 100", tried)
	}
}

// RGB in an encoder for YUV comes back as it was: its matrix is the one that the
// file names, and its samples have two bits more.
func TestRGBThroughYUV(t *testing.T) {
	dir := t.TempDir()
	input, back := filepath.Join(dir, "rgb.nut"), filepath.Join(dir, "back.nut")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24:d=0.25", "-pix_fmt", "rgb24", "-c:v", "rawvideo", input)
	for _, height := range []int{64, 720} {
		o := lossless(t, input)
		o.Output.File, o.Output.VideoCodec, o.Output.VideoOptions = filepath.Join(t.TempDir(), "out.mkv"), "libx264", map[string]string{"qp": "0"}
		if height == 720 {
			ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x720:r=24:d=0.25", "-pix_fmt", "rgb24", "-c:v", "rawvideo", input)
		}
		mustRun(t, o)
		ffmpeg(t, "-i", o.Output.File, "-pix_fmt", "rgb24", "-sws_flags", "accurate_rnd+full_chroma_int", "-c:v", "rawvideo", back)
		want, _, _ := readAll(t, input)
		got, _, _ := readAll(t, back)
		for i := range want {
			if !bytes.Equal(want[i], got[i]) {
				t.Errorf("height %d: frame %d came back changed", height, i)
			}
		}
	}
}

// Odd sizes that an encoder cannot take in 4:2:0 go in 4:4:4.
func TestOddSizes(t *testing.T) {
	for _, size := range [][2]int{{63, 47}, {64, 47}, {63, 48}} {
		o := lossless(t, writeScene(t, size[0], size[1], 3, 24, 1))
		o.Output.File, o.Output.VideoCodec = filepath.Join(t.TempDir(), "out.mp4"), ""
		var said strings.Builder
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		_, _, v := readAll(t, o.Output.File)
		if v.Width != size[0] || v.Height != size[1] || strings.Count(said.String(), "sample format") != 1 || !strings.Contains(said.String(), "few devices") {
			t.Errorf("%v became %dx%d %s, with the words %q", size, v.Width, v.Height, v.Source, said.String())
		}
	}
}

// What a file says of its colours is said of the output.
func TestColourTags(t *testing.T) {
	for _, c := range []struct{ name, codec, format, primaries, transfer, matrix, extent string }{
		{"sd.mkv", "ffv1", "yuv420p", "smpte170m", "smpte170m", "smpte170m", "tv"},
		{"pal.mkv", "ffv1", "yuv422p", "bt470bg", "gamma28", "bt470bg", "tv"},
		{"hd.mp4", "libx264", "yuv420p", "bt709", "bt709", "bt709", "tv"},
		{"full.mp4", "libx264", "yuv420p", "bt709", "iec61966-2-1", "bt709", "pc"},
		{"uhd.mkv", "ffv1", "yuv420p10le", "bt2020", "smpte2084", "bt2020nc", "tv"},
		{"hlg.mkv", "libx264", "yuv422p10le", "bt2020", "arib-std-b67", "bt2020nc", "tv"},
		{"gbr.mkv", "ffv1", "gbrp10le", "bt709", "iec61966-2-1", "rgb", "pc"},
		{"none.mkv", "ffv1", "yuv444p", "unknown", "unknown", "unknown", "unknown"},
	} {
		dir := t.TempDir()
		input := filepath.Join(dir, c.name)
		ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24:d=0.25", "-vf", "format="+c.format, "-c:v", c.codec,
			"-color_primaries", c.primaries, "-color_trc", c.transfer, "-colorspace", c.matrix, "-color_range", c.extent, input)
		for _, ext := range []string{".mkv", ".mp4"} {
			o := pipeline.Options{Input: pipeline.Input{File: input}, Output: pipeline.Output{File: filepath.Join(dir, "out"+ext), Overwrite: true, VideoCodec: c.codec}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}}
			if ext != ".mkv" && c.codec == "ffv1" {
				if o.Output.VideoCodec = "libx265"; c.matrix == "rgb" || c.extent == "unknown" { // which HEVC cannot say
					continue
				}
			}
			mustRun(t, o)
			entries := "stream=color_primaries,color_transfer,color_space,color_range"
			want, got := ffprobe(t, input, entries), ffprobe(t, o.Output.File, entries)
			if want != got {
				t.Errorf("%s to %s:\n%sbecame\n%s", c.name, ext, want, got)
			}
		}
	}
}

// ffprobe returns what ffprobe shows of the video.
func ffprobe(t *testing.T, name, entries string) string {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", entries, "-of", "flat", name).Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffprobe program; make deps installs it")
	}
	if err != nil {
		t.Fatalf("ffprobe %s: %v", name, err)
	}
	return string(out)
}

// What a stream gives as its colours in values that are reserved is no reason to refuse it.
func TestReservedColours(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.mkv")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 4, 24, 1), "-c:v", "libx264",
		"-bsf:v", "h264_metadata=colour_primaries=0:transfer_characteristics=0:matrix_coefficients=3", in)
	for _, codec := range []string{"", "ffv1", "libx265", "rawvideo"} {
		o := lossless(t, in)
		o.Output.VideoCodec = codec
		if report := mustRun(t, o); report.Frames == 0 {
			t.Errorf("%q: no frames", codec)
		}
	}
}

// What only the container says of the colours is kept where the pictures leave it unspecified.
func TestColoursOfTheContainer(t *testing.T) {
	dir := t.TempDir()
	for _, codec := range []string{"prores_ks", "libx264"} {
		plain, in := filepath.Join(dir, "plain.mov"), filepath.Join(dir, codec+".mov")
		ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.2", "-map", "0", "-map", "0", "-c:v", codec, "-y", plain)
		unspecified := []string{}
		if codec == "libx264" {
			unspecified = []string{"-bsf:v", "h264_metadata=colour_primaries=2:transfer_characteristics=2:matrix_coefficients=2"}
		}
		ffmpeg(t, slices.Concat([]string{"-i", plain, "-map", "0", "-c", "copy"}, unspecified,
			[]string{"-color_primaries", "bt709", "-color_trc", "smpte2084", "-colorspace", "bt709", "-movflags", "+write_colr", in})...)
		const box = "colrnclc\x00\x01\x00\x10\x00\x01"
		for _, o := range []pipeline.Options{
			{Output: pipeline.Output{File: "converted.mov", VideoCodec: codec}},
			{Output: pipeline.Output{File: "other.mov", VideoCodec: "ffv1"}},
		} {
			o.Input.File, o.Output.File, o.Synthesis.Mode = in, filepath.Join(dir, codec+o.Output.File), warp.Nearest
			mustRun(t, o)
			data, err := os.ReadFile(o.Output.File)
			if n := strings.Count(string(data), box); err != nil || n != 2 {
				t.Errorf("%s: %d boxes of colours (%v)", o.Output.File, n, err)
			}
		}
	}
}
