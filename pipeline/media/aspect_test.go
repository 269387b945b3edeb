package media_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/warp"
)

// The shape of pixels goes through also where only the stream states it, and not the container, and
// where only the container can hold it, and not the stream. Where neither can, retime says so.
func TestPixelAspectComesFromTheStream(t *testing.T) {
	dir := t.TempDir()
	outputs := []struct{ name, codec, want string }{
		{"o.mkv", "ffv1", "16:11"}, {"o.avi", "ffv1", "16:11"}, {"o.webm", "libvpx", "16:11"}, {"o.mkv", "", "16:11"},
		{"o.mov", "prores_ks", "16:11"}, {"o.nut", "rawvideo", "16:11"}, {"o.ivf", "libvpx", ""},
	}
	for i, c := range []struct {
		input string
		args  []string
	}{
		{"i.vob", []string{"-c:v", "mpeg4"}}, {"i.ts", []string{"-c:v", "mpeg4"}}, {"i.m4v", []string{"-c:v", "mpeg4"}},
		{"i.h264", []string{"-c:v", "libx264"}}, {"i.ts", []string{"-c:v", "libx264"}}, {"i.3gp", []string{"-c:v", "mpeg4"}},
	} {
		clip := filepath.Join(dir, c.input)
		ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=s=88x72:r=25", "-frames:v", "3", "-vf", "setsar=16/11"}, c.args...), clip)...)
		some := outputs
		if i > 0 {
			some = outputs[:2]
		}
		for _, to := range some {
			var said strings.Builder
			o := pipeline.Options{
				Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend},
				Output: pipeline.Output{File: filepath.Join(dir, to.name), VideoCodec: to.codec, Overwrite: true},
				Hooks:  pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
			}
			mustRun(t, o)
			if got := streamsOf(t, o.Output.File, "v", "sample_aspect_ratio"); to.want != "" && (len(got) == 0 || got[0] != to.want) {
				t.Errorf("%s to %s in %s: %q, want %s", c.input, to.codec, to.name, got, to.want)
			}
			if says := strings.Contains(said.String(), "pixel aspect ratio 16:11"); says != (to.want == "") {
				t.Errorf("%s to %s in %s: said %q", c.input, to.codec, to.name, said.String())
			}
		}
	}
}

// A clean aperture, which FFmpeg does not carry, is said to be lost if it leaves out some of the picture.
func TestCleanApertureIsNotLostUnsaid(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.mov")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=0.2", "-f", "lavfi", "-i", "sine=d=0.2", "-map", "1", "-map", "0", "-c:v", "v210", in)
	for width, want := range map[byte]int{96: 0, 88: 1} {
		cliptest.Rewrite(t, in, func(data []byte) {
			at := bytes.Index(data, []byte("clap"))
			if at < 0 {
				t.Fatal("FFmpeg has written no clean aperture")
			}
			data[at+7] = width // the last byte of the numerator
		})
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{File: in + ".mkv", Overwrite: true}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		if n := strings.Count(said.String(), `lost="clean aperture 88x64"`); n != want {
			t.Errorf("a width of %d: said %s", width, said.String())
		}
	}
}
