package pipeline_test

import (
	"bytes"
	"log/slog"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// FFmpeg lengthens the first frame of a fragmented MP4 file by the sound's priming. The shot
// frames are shown all the same, as long behind the sound's beginning as they were.
func TestLengthenedFirstFrame(t *testing.T) {
	dir := t.TempDir()
	scene := writeScene(t, 64, 48, 50, 25, 1)
	clip := filepath.Join(dir, "clip.mp4")
	ffmpeg(t, "-i", scene, "-f", "lavfi", "-i", "sine=d=2:r=48000", "-c:v", "libx264", "-qp", "0", "-bf", "0", "-c:a", "aac",
		"-movflags", "frag_keyframe+empty_moov", clip)
	shot, times, _ := readAll(t, clip)
	if times[1].Cmp(big.NewRat(1, 25)) <= 0 {
		t.Fatalf("the second frame stands at %s s: FFmpeg lengthens no frame", times[1].FloatString(4))
	}
	for _, c := range []struct {
		rate pipeline.Rate
		from *big.Rat
	}{
		{pipeline.Rate{}, nil},
		{pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}, nil},
		{pipeline.Rate{Value: big.NewRat(50, 1)}, nil},
		{pipeline.Rate{Value: big.NewRat(50, 1)}, big.NewRat(1, 2)},
	} {
		o := lossless(t, clip)
		o.Synthesis.Mode, o.Timing.Rate, o.Timing.From = warp.Nearest, c.rate, c.from
		mustRun(t, o)
		got, _, v := readAll(t, o.Output.File)
		each, first := 1, 0
		if c.rate.Value != nil {
			each = 2
		}
		if c.from != nil {
			first = 12
		}
		if len(got) != each*(50-first) {
			t.Errorf("%v from %v: %d frames, want %d", c.rate, c.from, len(got), each*(50-first))
			continue
		}
		for k, want := range shot[first:] {
			if !bytes.Equal(got[each*k], want) {
				t.Errorf("%v from %v: frame %d is not the source's %d", c.rate, c.from, each*k, first+k)
				break
			}
		}
		if begin := new(big.Rat).Mul(v.TimeBase, big.NewRat(v.FirstPTS, 1)); c.from == nil && begin.Cmp(big.NewRat(1, 50)) <= 0 {
			t.Errorf("%v: the picture begins at %s s, want 0.0214", c.rate, begin.FloatString(4))
		}
	}
}

// Twice the rate of a clip whose rate varies is the same from every container, and what
// falls between the output's times is said.
func TestRateThatVaries(t *testing.T) {
	dir := t.TempDir()
	scene := writeScene(t, 64, 48, 96, 30, 1)
	source := filepath.Join(dir, "source.mp4")
	ffmpeg(t, "-i", scene, "-vf", "select='not(eq(mod(n,5),2))*not(eq(mod(n,11),8))'", "-fps_mode", "vfr", "-c:v", "libx264", "-bf", "2", "-g", "10", source)
	for _, name := range []string{"source.mp4", "clip.mkv", "clip.mov", "clip.ts", "clip.nut"} {
		clip := filepath.Join(dir, name)
		if clip != source {
			ffmpeg(t, "-i", source, "-c", "copy", clip)
		}
		for _, c := range []struct {
			rate, slow *big.Rat
			from, to   *big.Rat
			want       int64
			says       string
			warns      bool
		}{
			{big.NewRat(2, 1), big.NewRat(1, 1), nil, nil, 60, `between="0 of 70"`, false},
			{nil, big.NewRat(2, 1), nil, nil, 30, `between="0 of 70"`, false},
			{nil, big.NewRat(2, 1), nil, big.NewRat(1, 2), 30, `between="0 of 11"`, false},
			{nil, big.NewRat(2, 1), big.NewRat(1, 2), big.NewRat(3, 4), 30, `between="0 of `, false},
			{big.NewRat(7, 10), big.NewRat(1, 1), nil, nil, 21, "Timing.KeepTimestamps", true},
		} {
			var said strings.Builder
			o := lossless(t, clip)
			o.Synthesis.Mode, o.Timing.Slow, o.Timing.From, o.Timing.To = warp.Nearest, c.slow, c.from, c.to
			o.Timing.Rate = pipeline.Rate{Value: c.rate, Multiple: c.rate != nil}
			o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
			report := mustRun(t, o)
			if report.Rate.Cmp(big.NewRat(c.want, 1)) != 0 {
				t.Errorf("%s: %s frames a second, want %d", name, report.Rate.RatString(), c.want)
			}
			if n := strings.Count(said.String(), "frame rate varies"); n != 1 || !strings.Contains(said.String(), c.says) || !strings.Contains(said.String(), "rate=30 ") || strings.Contains(said.String(), "WARN") != c.warns {
				t.Errorf("%s at %d frames a second: said %q, want %s", name, c.want, said.String(), c.says)
			}
		}
	}
}
