package media_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

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
		{"cut.wmv", []string{"-c:v", "wmv2"}},
		{"cut.y4m", []string{"-c:v", "wrapped_avframe"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := lossless(t, truncated(t, c.name, 72, c.args...))
			o.Synthesis.Mode, o.Timing.Rate = warp.Blend, pipeline.Rate{Value: big.NewRat(48, 1)}
			report, err := pipeline.Run(context.Background(), o)
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
	report, err := pipeline.Run(ctx, o)
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
	o.Synthesis.Mode, o.Timing.Rate = warp.Blend, pipeline.Rate{Value: big.NewRat(48, 1)}
	report := mustRun(t, o)
	if report.Damage == (media.Damage{}) {
		t.Error("no damage is counted")
	}
	if report.Frames != 96 {
		t.Errorf("%d frames, want all 96", report.Frames)
	}
}

// A broadcast's header is written before its sizes are known, so a file that is shorter than it says is whole.
func TestBroadcastASF(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "live.wmv")
	ffmpeg(t, "-i", writeScene(t, 160, 96, 24, 24, 1), "-c:v", "wmv2", clip)
	file, err := os.ReadFile(clip)
	cliptest.Must(t, err)
	at := func(id string) []byte {
		i := bytes.Index(file, []byte(id))
		if i < 0 {
			t.Fatal("the file has no such object")
		}
		return file[i:]
	}
	at("\xa1\xdc\xab\x8c\x47\xa9\xcf\x11")[88] |= 1                                   // the flag of a broadcast
	binary.LittleEndian.PutUint64(at("\x36\x26\xb2\x75\x8e\x66\xcf\x11")[16:], 1<<40) // bytes of data
	cliptest.Must(t, os.WriteFile(clip, file, 0o600))
	o := lossless(t, clip)
	o.Synthesis.Mode, o.Timing.Rate = warp.Nearest, pipeline.Rate{Value: big.NewRat(48, 1)}
	if report := mustRun(t, o); report.Frames < 47 {
		t.Errorf("%d frames", report.Frames)
	}
}
