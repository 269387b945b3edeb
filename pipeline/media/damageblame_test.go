package media_test

import (
	"bytes"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/sequence"
	"retime/warp"
)

// What damage does to a container's streams is not blamed on the options: a stream without its header
// is left out, and if the output refuses others, the error is about the input.
func TestDamageIsNoUsage(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "damaged.ogv")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 12, 24, 1), "-f", "lavfi", "-i", "sine=d=0.5", "-c:v", "libtheora", "-c:a", "libvorbis", damaged)
	cliptest.Rewrite(t, damaged, func(data []byte) {
		at := bytes.Index(data, []byte("\x05vorbis"))
		if at < 0 {
			t.Fatal("the clip has no setup header")
		}
		data[at+20] ^= 0x55
	})
	for _, name := range []string{"o.mkv", "o.webm", "o.ogv", "o.nut", "o.mp4"} {
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: damaged}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), name)},
			Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		report, err := pipeline.Run(t.Context(), o)
		if kind := fault.KindOf(err); err != nil && kind != fault.BadData || report == nil || report.Frames != 12 {
			t.Errorf("%s: kind %d, %v", name, kind, err)
		}
		if !strings.Contains(said.String(), "its header is missing") {
			t.Errorf("%s: said %q", name, said.String())
		}
	}
}

// A warning names the frames that came damaged, as a restoration takes them, and what mends them.
func TestDamagedFramesAreNamed(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "a.mp4")
	ffmpeg(t, "-i", writeScene(t, 128, 96, 48, 24, 1), "-c:v", "libx264", "-g", "12", "-bf", "0", whole)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for at := len(data) / 3; at < len(data)*3/4; at += len(data) / 50 {
		spoilt := bytes.Clone(data)
		for i := range spoilt[at : at+40] {
			spoilt[at+i] ^= 0x5a
		}
		input := filepath.Join(t.TempDir(), "damaged.mp4")
		if err := os.WriteFile(input, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		var bad []int64
		n := int64(0)
		cliptest.Each(t, input, func(f *frame.Frame, _ media.Video) {
			if f.Damaged {
				bad = append(bad, n)
			}
			n++
		})
		if len(bad) == 0 {
			continue
		}
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.nut")},
			Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		mustRun(t, o)
		if text := said.String(); !strings.Contains(text, "damaged="+sequence.Spans(bad)) || !strings.Contains(text, "Options.Detect mends") {
			t.Errorf("%v: said %s", bad, text)
		}
		return
	}
	t.Fatal("no place that damages a frame")
}

// A file of a few packets is read back, too, and a container that holds no so short a clip says so.
func TestVeryShortOutputs(t *testing.T) {
	input := filepath.Join(t.TempDir(), "a.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "color=gray:s=64x48:r=1000", "-f", "lavfi", "-i", "sine", "-map", "0", "-map", "1", "-frames:v", "1", "-t", "0.001", "-c:v", "mpeg4", "-c:a", "pcm_s16le", input)
	for _, name := range []string{"o.ts", "o.mkv", "o.mp4", "o.mov", "o.nut", "o.avi", "o.mxf"} {
		o := pipeline.Options{Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), name)}}
		if name == "o.mxf" {
			o.Timing.Rate.Value = big.NewRat(60, 1)
		}
		if name == "o.ts" {
			o.Timing.Slow = big.NewRat(2, 1)
		}
		_, err := pipeline.Run(t.Context(), o)
		if err != nil && (name != "o.mxf" || fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "so little")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
