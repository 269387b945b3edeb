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

// rotated makes an MP4 whose track header has a matrix, with the numbers a, b, c and d of
// ISO/IEC 14496-12.
func rotated(t *testing.T, name string, a, b, c, d int32, args ...string) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), name)
	ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=s=64x48:r=25,setsar=4/3", "-t", "0.12"}, args...), clip)...)
	cliptest.Turn(t, clip, a, b, c, d)
	return clip
}

// Pictures that players turn are turned where the output cannot say so, as ffmpeg turns
// them, sample by sample; the others and their description stay as they are.
func TestRotationIsNotLost(t *testing.T) {
	x264 := []string{"-c:v", "libx264", "-qp", "0", "-pix_fmt"}
	for _, c := range []struct {
		name       string
		a, b, c, d int32
		format     string // of the samples
		output     string
		want       string // width,height,sample aspect ratio
		turned     string // by ffmpeg's filters, empty for not turned
	}{
		{"clockwise", 0, 1, -1, 0, "yuv420p", "o.mkv", "48,64,3:4", "transpose=clock"},
		{"anticlockwise", 0, -1, 1, 0, "yuv420p10le", "o.mkv", "48,64,3:4", "transpose=cclock"},
		{"upside down", -1, 0, 0, -1, "yuv420p", "o.mkv", "64,48,4:3", "hflip,vflip"},
		{"mirrored", -1, 0, 0, 1, "yuv444p", "o.nut", "64,48,4:3", "hflip"},
		{"flipped", 1, 0, 0, -1, "yuv422p", "o.avi", "64,48,4:3", "vflip"},
		{"transposed", 0, 1, 1, 0, "gray", "o.mkv", "48,64,3:4", "transpose=cclock_flip"},
		{"transposed the other way", 0, -1, -1, 0, "yuv420p", "o.mkv", "48,64,3:4", "transpose=clock_flip"},
		{"upright", 1, 0, 0, 1, "yuv420p", "o.mkv", "64,48,4:3", ""},
		{"into MP4", 0, 1, -1, 0, "yuv420p", "o.mp4", "64,48,4:3", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			clip := rotated(t, "in.mp4", c.a, c.b, c.c, c.d, append(x264, c.format)...)
			o := pipeline.Options{
				Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend},
				Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output), VideoCodec: "ffv1"},
			}
			if c.output == "o.mp4" {
				o.Output.VideoCodec, o.Output.VideoOptions = "libx264", map[string]string{"qp": "0"}
			}
			mustRun(t, o)
			if got := streamsOf(t, o.Output.File, "v", "width,height,sample_aspect_ratio"); len(got) != 1 || got[0] != c.want && c.output != "o.avi" {
				t.Errorf("%q, want %s", got, c.want)
			}
			filter := c.turned
			if filter == "" {
				filter = "copy"
			}
			want := ffmpeg(t, "-noautorotate", "-i", clip, "-vf", filter, "-pix_fmt", c.format, "-f", "md5", "-c:v", "rawvideo", "-")
			if got := ffmpeg(t, "-noautorotate", "-i", o.Output.File, "-f", "md5", "-c:v", "rawvideo", "-pix_fmt", c.format, "-"); got != want {
				t.Errorf("the samples differ from those of %s", filter)
			}
			// What a player shows is the same.
			shown := func(name string) string {
				return ffmpeg(t, "-i", name, "-f", "md5", "-c:v", "rawvideo", "-pix_fmt", c.format, "-")
			}
			if shown(clip) != shown(o.Output.File) {
				t.Error("ffmpeg shows it another way up")
			}
		})
	}
}

// Sideways pictures whose chroma is coarser in one direction get the format with the
// other direction, where there is one.
func TestRotationOfChroma(t *testing.T) {
	clip := rotated(t, "in.mp4", 0, 1, -1, 0, "-c:v", "libx264", "-qp", "0", "-pix_fmt", "yuv422p")
	o := pipeline.Options{Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.mkv"), VideoCodec: "ffv1"}}
	mustRun(t, o)
	got, _, v := readAll(t, o.Output.File)
	if v.Format.Name != "yuv440p" || v.Width != 48 || v.Height != 64 {
		t.Fatalf("%dx%d %s", v.Width, v.Height, v.Format.Name)
	}
	was, _, _ := readAll(t, clip)
	for i := range got {
		for p, from, to := 0, 0, 0; p < 3; p++ {
			w, h := 64, 48 // of the plane in the source
			if p > 0 {
				w = 32
			}
			for y := range h {
				for x := range w {
					if was[i][from+y*w+x] != got[i][to+x*h+h-1-y] {
						t.Fatalf("picture %d, plane %d: sample %d, %d is lost", i, p, x, y)
					}
				}
			}
			from, to = from+w*h, to+w*h
		}
	}
}

// KeepRotation leaves pictures as they lie, and what is lost is said.
func TestKeepRotation(t *testing.T) {
	clip := rotated(t, "in.mp4", 0, 1, -1, 0, "-c:v", "libx264", "-pix_fmt", "yuv420p")
	var said bytes.Buffer
	o := pipeline.Options{Input: pipeline.Input{File: clip, Rotation: pipeline.KeepRotation}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.mkv")}}
	o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
	mustRun(t, o)
	if got := streamsOf(t, o.Output.File, "v", "width,height"); len(got) != 1 || got[0] != "64,48" || !strings.Contains(said.String(), "display matrix") {
		t.Errorf("%q, said %q", got, said.String())
	}
	for _, c := range []struct {
		rotation     pipeline.Rotation
		file, format string
		want         pipeline.Rotation
	}{
		{pipeline.AutoRotation, "o.mkv", "", pipeline.TurnPictures}, {pipeline.AutoRotation, "o.mov", "", pipeline.KeepRotation}, {pipeline.AutoRotation, "-", "", pipeline.TurnPictures},
		{pipeline.AutoRotation, "-", "mp4", pipeline.KeepRotation}, {pipeline.AutoRotation, "o.mp4", "webm", pipeline.TurnPictures}, {pipeline.AutoRotation, "o%d.png", "", pipeline.TurnPictures},
		{pipeline.AutoRotation, "", "", pipeline.KeepRotation}, {pipeline.KeepRotation, "o.gif", "", pipeline.KeepRotation}, {pipeline.TurnPictures, "o.mp4", "", pipeline.TurnPictures},
	} {
		o := pipeline.Options{Input: pipeline.Input{Rotation: c.rotation}, Output: pipeline.Output{File: c.file, Format: c.format}}
		if got := o.Rotation(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
