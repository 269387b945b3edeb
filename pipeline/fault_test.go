package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
	"retime/pipeline/media"
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
		set  func(*Options)
		kind fault.Kind
		says string
	}{
		{"no input", func(o *Options) { o.Input.File = filepath.Join(dir, "missing.mp4") }, fault.NoInput, "no such file"},
		{"input is a directory", func(o *Options) { o.Input.File = dir }, fault.NoInput, "directory"},
		{"not a video", func(o *Options) { o.Input.File = text }, fault.BadData, "not a media file"},
		{"no video stream", func(o *Options) { o.Input.File = sound }, fault.BadData, "no video stream"},
		{"huge pictures", func(o *Options) { o.Input.File = huge }, fault.BadData, "100000x100000"},
		{"flat pictures", func(o *Options) { o.Input.File = flat }, fault.BadData, "flat.y4m"},
		{"unknown encoder", func(o *Options) { o.Output.VideoCodec = "libx999" }, fault.Usage, "libx999"},
		{"unknown container", func(o *Options) { o.Output.File = filepath.Join(dir, "out.qqq") }, fault.Usage, "Output.Format"},
		{"unknown option", func(o *Options) {
			o.Output.VideoCodec = "ffv1"
			o.Output.VideoOptions = map[string]string{"nonsense": "1"}
		}, fault.Usage, "nonsense"},
		{"no crf", func(o *Options) { o.Output.CRF = &twelve }, fault.Usage, "constant rate factor"},
		{"wrong format", func(o *Options) { o.Output.VideoCodec = "libx264"; o.Output.PixelFormat = "rgb24" }, fault.Usage, "it takes"},
		{"odd size", func(o *Options) { o.Input.File = odd; o.Output.VideoCodec, o.Output.PixelFormat = "libx264", "yuv420p" }, fault.Usage, "yuv444p"},
		{"unknown format", func(o *Options) { o.Output.PixelFormat = "yuv999" }, fault.Usage, "yuv999"},
		{"order 12", func(o *Options) { o.Synthesis.Order = &twelve }, fault.Usage, "Synthesis.Order 12"},
		{"mode", func(o *Options) { o.Synthesis.Mode = "magic" }, fault.Usage, "Synthesis.Mode magic"},
		{"cuda", func(o *Options) { o.Compute.Backend = CUDA }, fault.Usage, "Compute.Backend cuda"},
		{"output is input", func(o *Options) { o.Output.File = clip; o.Output.Overwrite = true }, fault.Usage, "is the input"},
		{"output exists", func(o *Options) { o.Output.File = text; o.Output.Overwrite = false }, fault.CannotWrite, "Output.Overwrite"},
		{"no such directory", func(o *Options) { o.Output.File = filepath.Join(dir, "no", "out.nut") }, fault.CannotWrite, "no"},
		{"output is a directory", func(o *Options) { o.Output.File = dir }, fault.CannotWrite, "directory"},
		{"full device", func(o *Options) { o.Output.File = "/dev/full"; o.Output.Format = "nut" }, fault.CannotWrite, "no space left"},
		{"from behind to", func(o *Options) { o.Timing.From, o.Timing.To = big.NewRat(2, 1), big.NewRat(1, 1) }, fault.Usage, "not before"},
		{"from behind the end", func(o *Options) { o.Timing.From = big.NewRat(20, 1) }, fault.Usage, "holds no frame"},
		{"codec and container", func(o *Options) { o.Output.File = filepath.Join(dir, "out.webm"); o.Output.VideoCodec = "libx264" }, fault.Usage, "does not take"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := lossless(t, clip)
			out := filepath.Dir(o.Output.File)
			o.Synthesis.Mode = warp.Blend
			c.set(&o)
			_, err := Run(context.Background(), o)
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

// truncated is the first six tenths of a file of so many frames.
func truncated(t *testing.T, name string, frames int, args ...string) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), name)
	ffmpeg(t, append(append([]string{"-i", writeScene(t, 160, 96, frames, 24, 1), "-c:v", "libx264", "-g", "12"}, args...), clip)...)
	data, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(clip, data[:len(data)*6/10], 0o600); err != nil {
		t.Fatal(err)
	}
	return clip
}

func TestTruncatedInputs(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"cut.mkv", nil},
		{"cut.mp4", []string{"-movflags", "+faststart"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := lossless(t, truncated(t, c.name, 72, c.args...))
			o.Synthesis.Mode, o.Timing.Rate = warp.Blend, Rate{Value: big.NewRat(48, 1)}
			report, err := Run(context.Background(), o)
			if fault.KindOf(err) != fault.BadData || err == nil {
				t.Fatalf("error %v, want bad data", err)
			}
			if _, err := os.Stat(o.Output.File); err == nil {
				t.Error("half a film stands under the final name")
			}
			partial := strings.TrimSuffix(o.Output.File, ".nut") + ".partial.nut"
			if report == nil || report.Output != partial || !strings.Contains(err.Error(), filepath.Base(partial)) {
				t.Errorf("the part is not named: %v", err)
			}
			if got, _, _ := readAll(t, partial); len(got) < 40 || int64(len(got)) != report.Frames {
				t.Errorf("the part has %d frames, reported %d", len(got), report.Frames)
			}
		})
	}
}

// A run that is cancelled when it has left a file tells of that.
func TestPartialOutputOfCancelledRuns(t *testing.T) {
	o := lossless(t, truncated(t, "cut.mkv", 48))
	o.Synthesis.Mode = warp.Nearest
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Hooks.Log = slog.New(cancelling{slog.DiscardHandler, cancel}) // of the damage, behind the last frame
	report, err := Run(ctx, o)
	if ctx.Err() == nil {
		t.Fatal("nothing is said of the damage")
	}
	if report == nil || fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), ".partial.") {
		t.Errorf("error %v, report %+v", err, report)
	}
}

// cancelling cancels at the first message.
type cancelling struct {
	slog.Handler
	cancel func()
}

func (cancelling) Enabled(context.Context, slog.Level) bool { return true }

func (h cancelling) Handle(context.Context, slog.Record) error {
	h.cancel()
	return nil
}

func TestDamageInTheMiddle(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "damaged.mkv")
	ffmpeg(t, "-i", writeScene(t, 160, 96, 48, 24, 1), "-c:v", "libx264", "-g", "6", clip)
	data, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) * 4 / 10; i < len(data)*5/10; i += 7 {
		data[i] ^= 0x5a
	}
	if err := os.WriteFile(clip, data, 0o600); err != nil {
		t.Fatal(err)
	}
	o := lossless(t, clip)
	o.Synthesis.Mode, o.Timing.Rate = warp.Blend, Rate{Value: big.NewRat(48, 1)}
	report := mustRun(t, o)
	if report.Damage == (media.Damage{}) {
		t.Error("no damage is counted")
	}
	if report.Frames != 96 {
		t.Errorf("%d frames, want all 96", report.Frames)
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	input := writeScene(t, 160, 96, 48, 24, 1)
	for _, after := range []int64{0, 1, 20} {
		ctx, cancel := context.WithCancel(context.Background())
		o := lossless(t, input)
		o.Timing.Rate, _ = timeline.ParseRate("120")
		o.Hooks.Progress = func(p Progress) {
			if p.Frames >= after {
				cancel()
			}
		}
		if after == 0 {
			cancel()
		}
		_, err := Run(ctx, o)
		if fault.KindOf(err) != fault.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d frames: %v", after, err)
		}
		wantEmpty(t, filepath.Dir(o.Output.File))
		cancel()
	}
}
