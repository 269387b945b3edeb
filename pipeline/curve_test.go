package pipeline_test

import (
	"bytes"
	"context"
	"log/slog"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/media"
)

// There and back: the same frames, the other way round.
func TestBackwardShowsTheSameFrames(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "gop.mkv")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 48, 24, 1), "-c:v", "libx264", "-qp", "0", "-bf", "3", "-g", "20", clip)
	source, _, _ := readAll(t, clip)
	o := lossless(t, clip)
	o.Timing.Curve = mustParse(t, "source output\n0 0\n1.5 1.5\n0 3")
	var log strings.Builder
	o.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Synthesis.Decisions = []pipeline.Decision{{Frame: 2, Method: pipeline.FromSource, Line: 1}, {Frame: 50, Method: pipeline.FromSource, Line: 2}} // of either run
	mustRun(t, o)
	if log.Len() > 0 {
		t.Error(log.String())
	}
	got, _, _ := readAll(t, o.Output.File)
	if len(got) != 72 {
		t.Fatalf("%d frames, want 72", len(got))
	}
	for k := range got {
		if i := min(k, 72-k); !bytes.Equal(got[k], source[i]) {
			t.Errorf("frame %d is not source frame %d", k, i)
		}
	}
}

func TestCurveFaults(t *testing.T) {
	clip := writeScene(t, 32, 32, 24, 24, 1)
	for _, c := range []struct {
		set  func(*pipeline.Options)
		want string
	}{
		{func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source output\n0 0\n5 1") }, "the source ends"},
		{func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source speed\n0 0%\n1 0%") }, "never reached"},
		{func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source output\n0 0\n1 1000000") }, "more than 1000 times the source's 1.000 s"},
		{func(o *pipeline.Options) {
			o.Timing.Curve = mustParse(t, "source output\n0 0 hold\n0 1000.1\n1 1000.2")
		}, "more than 1000 times"},
		{func(o *pipeline.Options) { o.Timing.Fit = big.NewRat(1001, 1) }, "more than 1000 times"},
		{func(o *pipeline.Options) { o.Timing.Slow = big.NewRat(2, 1) }, "leave out"},
		{func(o *pipeline.Options) { o.Timing.Audio = media.KeepAudio }, "Timing.Audio"},
		{func(o *pipeline.Options) { o.Input.File = "pipe:9" }, ""},
	} {
		o := lossless(t, clip)
		o.Timing.Curve = mustParse(t, "source output\n0 0\n0.5 1")
		c.set(&o)
		if _, err := pipeline.Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	o := lossless(t, clip)
	o.Timing.Curve, o.Timing.Fit = mustParse(t, "source speed\n0 100% smooth\nend 20%"), big.NewRat(3, 1)
	if report := mustRun(t, o); report.Frames != 72 {
		t.Errorf("fitted to 3 s: %d frames, want 72", report.Frames)
	}
}
