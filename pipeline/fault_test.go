package pipeline_test

import (
	"context"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/warp"
)

func TestFaultsOfConversions(t *testing.T) {
	clip := writeScene(t, 64, 48, 4, 24, 1)
	dir := t.TempDir()
	text := filepath.Join(dir, "text.mp4")
	if err := os.WriteFile(text, []byte("this is not a film\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sound := filepath.Join(dir, "sound.wav")
	ffmpeg(t, "-f", "lavfi", "-i", "sine=duration=1", sound)
	huge := filepath.Join(dir, "huge.y4m")
	if err := os.WriteFile(huge, []byte("YUV4MPEG2 W100000 H100000 F24:1 Ip A1:1 C420jpeg\nFRAME\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flat := filepath.Join(dir, "flat.y4m")
	if err := os.WriteFile(flat, []byte("YUV4MPEG2 W0 H48 F24:1 Ip A1:1 C420jpeg\nFRAME\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	odd := writeScene(t, 63, 47, 2, 24, 1)
	twelve := 12
	for _, c := range []struct {
		name string
		set  func(*pipeline.Options)
		kind fault.Kind
		says string
	}{
		{"no input", func(o *pipeline.Options) { o.Input.File = filepath.Join(dir, "missing.mp4") }, fault.NoInput, "no such file"},
		{"input is a directory", func(o *pipeline.Options) { o.Input.File = dir }, fault.NoInput, "directory"},
		{"not a video", func(o *pipeline.Options) { o.Input.File = text }, fault.BadData, "not a media file"},
		{"no video stream", func(o *pipeline.Options) { o.Input.File = sound }, fault.BadData, "no video stream"},
		{"huge pictures", func(o *pipeline.Options) { o.Input.File = huge }, fault.BadData, "100000x100000"},
		{"flat pictures", func(o *pipeline.Options) { o.Input.File = flat }, fault.BadData, "flat.y4m"},
		{"unknown encoder", func(o *pipeline.Options) { o.Output.VideoCodec = "libx999" }, fault.Usage, "libx999"},
		{"unknown container", func(o *pipeline.Options) { o.Output.File = filepath.Join(dir, "out.qqq") }, fault.Usage, "Output.Format"},
		{"unknown option", func(o *pipeline.Options) {
			o.Output.VideoCodec = "ffv1"
			o.Output.VideoOptions = map[string]string{"nonsense": "1"}
		}, fault.Usage, "nonsense"},
		{"no crf", func(o *pipeline.Options) { o.Output.CRF = &twelve }, fault.Usage, "constant rate factor"},
		{"wrong format", func(o *pipeline.Options) { o.Output.VideoCodec = "libx264"; o.Output.PixelFormat = "rgb24" }, fault.Usage, "it takes"},
		{"odd size", func(o *pipeline.Options) {
			o.Input.File = odd
			o.Output.VideoCodec, o.Output.PixelFormat = "libx264", "yuv420p"
		}, fault.Usage, "yuv444p"},
		{"unknown format", func(o *pipeline.Options) { o.Output.PixelFormat = "yuv999" }, fault.Usage, "yuv999"},
		{"order 12", func(o *pipeline.Options) { o.Synthesis.Order = &twelve }, fault.Usage, "Synthesis.Order 12"},
		{"mode", func(o *pipeline.Options) { o.Synthesis.Mode = "magic" }, fault.Usage, "Synthesis.Mode magic"},
		{"cuda", func(o *pipeline.Options) { o.Compute.Backend = pipeline.CUDA }, fault.Usage, "Compute.Backend cuda"},
		{"output is input", func(o *pipeline.Options) { o.Output.File = clip; o.Output.Overwrite = true }, fault.Usage, "is the input"},
		{"output exists", func(o *pipeline.Options) { o.Output.File = text; o.Output.Overwrite = false }, fault.CannotWrite, "Output.Overwrite"},
		{"no such directory", func(o *pipeline.Options) { o.Output.File = filepath.Join(dir, "no", "out.nut") }, fault.CannotWrite, "no"},
		{"output is a directory", func(o *pipeline.Options) { o.Output.File = dir }, fault.CannotWrite, "directory"},
		{"full device", func(o *pipeline.Options) { o.Output.File = "/dev/full"; o.Output.Format = "nut" }, fault.CannotWrite, "no space left"},
		{"from behind to", func(o *pipeline.Options) { o.Timing.From, o.Timing.To = big.NewRat(2, 1), big.NewRat(1, 1) }, fault.Usage, "not before"},
		{"from behind the end", func(o *pipeline.Options) { o.Timing.From = big.NewRat(20, 1) }, fault.Usage, "holds no frame"},
		{"codec and container", func(o *pipeline.Options) {
			o.Output.File = filepath.Join(dir, "out.webm")
			o.Output.VideoCodec = "libx264"
		}, fault.Usage, "does not take"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := lossless(t, clip)
			out := filepath.Dir(o.Output.File)
			o.Synthesis.Mode = warp.Blend
			c.set(&o)
			_, err := pipeline.Run(context.Background(), o)
			if err == nil {
				t.Fatal("no error")
			}
			if got := fault.KindOf(err); got != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("kind %d: %v\nwant kind %d and %q", got, err, c.kind, c.says)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
			wantEmpty(t, out)
		})
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	input := writeScene(t, 160, 96, 48, 24, 1)
	for _, after := range []int64{0, 1, 20} {
		ctx, cancel := context.WithCancel(context.Background())
		o := lossless(t, input)
		o.Timing.Rate, _ = timeline.ParseRate("120")
		o.Hooks.Progress = func(p pipeline.Progress) {
			if p.Frames >= after {
				cancel()
			}
		}
		if after == 0 {
			cancel()
		}
		_, err := pipeline.Run(ctx, o)
		if fault.KindOf(err) != fault.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d frames: %v", after, err)
		}
		wantEmpty(t, filepath.Dir(o.Output.File))
		cancel()
	}
}
