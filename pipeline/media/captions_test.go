package media_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/media/av"
	"retime/pipeline/timeline"
	"retime/warp"
)

// captionedClip makes a clip of H.264 at 29.97 frames per second, frame k of which has a pair of
// captions with the number k, and padding.
func captionedClip(t *testing.T, frames int) string {
	t.Helper()
	dir := t.TempDir()
	plain, raw, clip := filepath.Join(dir, "plain.mkv"), filepath.Join(dir, "raw.h264"), filepath.Join(dir, "in.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=30000/1001", "-frames:v", fmt.Sprint(frames), "-c:v", "ffv1", plain)
	r, err := media.Open(t.Context(), plain, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var stream []byte
	encoder := media.EncoderOptions{Codec: "libx264", CRF: -1, Options: map[string]string{"bf": "0"}}
	w, err := media.NewEncoder(t.Context(), raw, r, media.WriterOptions{Rate: big.NewRat(30000, 1001), Encoder: encoder}, 0, func(p media.Packet) error {
		stream = append(stream, p.Data...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for k := range frames {
		f, err := r.Read()
		if err == nil {
			err = av.AddFrameSideData(f.Native.(*astiav.Frame), av.FrameCaptions, []byte{0xfc, 0x20, byte(k), 0xf9, 0, 0})
		}
		if err == nil {
			err = w.WriteFrame(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Release()
	}
	err = w.Finish()
	w.Abort()
	if err == nil {
		err = os.WriteFile(raw, stream, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ffmpeg(t, "-r", "30000/1001", "-i", raw, "-c", "copy", clip)
	return clip
}

// captionsOf returns the numbers of the captions in a file, and the frames that have them.
func captionsOf(t *testing.T, name string) (numbers, at []int) {
	t.Helper()
	r, err := media.Open(t.Context(), name, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for k := 0; ; k++ {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			return numbers, at
		} else if err != nil {
			t.Fatal(err)
		}
		data, _ := av.FrameSideData(f.Native.(*astiav.Frame), av.FrameCaptions)
		for ; len(data) >= 3; data = data[3:] {
			if data[0] == 0xfc {
				numbers, at = append(numbers, int(data[2])), append(at, k)
			}
		}
		f.Release()
	}
}

// Closed captions stay with the pictures' moments at every rate and speed, each of them once, where
// the encoder carries them. Where it does not, retime says so.
func TestClosedCaptions(t *testing.T) {
	const frames = 30
	clip := captionedClip(t, frames)
	if got, _ := captionsOf(t, clip); len(got) != frames {
		t.Fatalf("the clip has captions %v", got)
	}
	for _, c := range []struct {
		name, rate, output, codec string
		slow, from                *big.Rat
		first                     int // caption
		perFrame                  float64
	}{
		{"the same", "1x", "o.mp4", "", nil, nil, 0, 1},
		{"twice", "2x", "o.mkv", "", nil, nil, 0, 2},
		{"60", "60", "o.mp4", "", nil, nil, 0, 2.002},
		{"24", "24", "o.ts", "", nil, nil, 0, 0.8008},
		{"slow", "30", "o.mp4", "", big.NewRat(2, 1), nil, 0, 2.002},
		{"part", "50", "o.mp4", "", nil, big.NewRat(1, 3), 10, 1.668},
		{"MPEG-2", "60000/1001", "o.mpg", "mpeg2video", nil, nil, 0, 2},
	} {
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output), VideoCodec: c.codec},
			Timing: pipeline.Timing{Slow: c.slow, From: c.from}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		o.Timing.Rate, _ = timeline.ParseRate(c.rate)
		mustRun(t, o)
		got, at := captionsOf(t, o.Output.File)
		// The last picture may lie behind the output's last frame.
		if len(got) < frames-c.first-1 || len(got) == 0 || got[0] != c.first || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%s: captions %v", c.name, got)
			continue
		}
		for i, n := range got {
			if d := float64(at[i]) - float64(n-c.first)*c.perFrame; d < -0.01 || d > 1.01 {
				t.Errorf("%s: caption %d is on frame %d", c.name, n, at[i])
			}
		}
		if strings.Contains(said.String(), "captions") {
			t.Errorf("%s: said %q", c.name, said.String())
		}
	}
	for _, c := range []struct{ output, codec string }{{"o.mkv", "ffv1"}, {"o.mov", "prores_ks"}, {"o.webm", ""}} {
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output), VideoCodec: c.codec},
			Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		if _, err := pipeline.Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(said.String(), "closed captions are left out"); n != 1 {
			t.Errorf("%s in %s: said %q", c.codec, c.output, said.String())
		}
	}
}
