package media_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/internal/cliptest"
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
	return clipWithTriplets(t, frames, func(k int) []byte { return []byte{0xfc, 0x20, byte(k), 0xf9, 0, 0} })
}

// clipWithTriplets makes such a clip with triplets of one's own.
func clipWithTriplets(t *testing.T, frames int, triplets func(k int) []byte) string {
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
			err = av.AddFrameSideData(f.Native.(*astiav.Frame), av.FrameCaptions, triplets(k))
		}
		if err == nil {
			err = w.WriteFrame(f, nil, nil)
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
	for k, data := range tripletsOf(t, name) {
		for ; len(data) >= 3; data = data[3:] {
			if data[0] == 0xfc {
				numbers, at = append(numbers, int(data[2])), append(at, k)
			}
		}
	}
	return numbers, at
}

// tripletsOf returns the triplets of each frame of a file.
func tripletsOf(t *testing.T, name string) (list [][]byte) {
	t.Helper()
	cliptest.Each(t, name, func(f *frame.Frame, _ media.Video) {
		data, _ := av.FrameSideData(f.Native.(*astiav.Frame), av.FrameCaptions)
		list = append(list, data)
	})
	return list
}

// fullCaptions are the triplets of a picture of a broadcast at 29.97 frames per second: one for each
// field, and 18 of CEA-708, which are numbered.
func fullCaptions(k int) []byte {
	data := []byte{0xfc, 0x20, byte(k), 0xfd, 0x21, byte(k)}
	for i := range 18 {
		n := 18*k + i
		data = append(data, 0xfe, byte(n>>8), byte(n))
	}
	return data
}

// At every rate, each frame has as many triplets as decoders expect, in their order and each once.
func TestCaptionsAreSpread(t *testing.T) {
	const frames = 60
	clip := clipWithTriplets(t, frames, fullCaptions)
	for rate, count := range map[string]int{"1x": 20, "2x": 10, "24000/1001": 25, "25": 24, "50": 12, "60": 10} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.mp4")}}
		o.Timing.Rate, _ = timeline.ParseRate(rate)
		mustRun(t, o)
		list := tripletsOf(t, o.Output.File)
		next, fields := 0, map[byte]int{}
		for k, data := range list {
			// 60 is not quite twice 29.97, and 25 not 24: now and then there is one triplet more or less.
			if n := len(data) / 3; k > 1 && (n < count-1 || n > count+1) {
				t.Errorf("%s: frame %d has %d triplets, want %d", rate, k, n, count)
			}
			for ; len(data) > 0; data = data[3:] {
				switch data[0] {
				case 0xfe:
					if n := int(data[1])<<8 | int(data[2]); n != next {
						t.Fatalf("%s: frame %d has triplet %d, want %d", rate, k, n, next)
					}
					next++
				case 0xfc, 0xfd:
					fields[data[0]]++
				}
			}
		}
		if next < 18*(frames-2) || fields[0xfc] < frames-2 || fields[0xfd] < frames-2 {
			t.Errorf("%s: %d triplets, and of the fields %v", rate, next, fields)
		}
		if rate == "2x" { // a field a frame
			for k := 3; k < len(list)-1; k++ {
				if list[k][0]&0xfe != 0xfc || list[k][0] == list[k-1][0] || list[k][3] != 0xfe {
					t.Errorf("frame %d begins with % x", k, list[k][:6])
				}
			}
		}
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
			if d := float64(at[i]) - float64(n-c.first)*c.perFrame; d < -0.26*c.perFrame || d > 1.01 {
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
