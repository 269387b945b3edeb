package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
	"retime/warp"
)

func TestParseKeyframes(t *testing.T) {
	keys := mustParse(t, "# a ramp\nsource speed\n\n0 100%\n0:02.5 -1.5x smooth # here\nend 0% hold\n")
	if len(keys) != 3 || keys[1].Source.Cmp(big.NewRat(5, 2)) != 0 || keys[1].Speed.Cmp(big.NewRat(-3, 2)) != 0 ||
		keys[1].Shape != curve.Smooth || keys[0].Shape != curve.Linear || keys[2].Source != nil || keys[2].Speed.Sign() != 0 {
		t.Errorf("read %+v", keys)
	}
	for text, want := range map[string]string{
		"":                            "at least two",
		"source speed\n0 1x\n":        "at least two",
		"time speed\n0 1x\n1 1x":      "line 1: \"time speed\"",
		"source speed\n0 1x\n1":       "line 3: \"1\"",
		"source speed\n0 1\n1 1x":     "line 2: speed \"1\"",
		"source speed\n0 1x\n1 2000x": "line 3: speed",
		"source output\n0 0\n1 100%":  "line 3: time",
		"source output\n0 0\n-1 1":    "line 3: time",
		"source output\n0 0 a b\n1 1": "line 2: ",
		"source output\n0 0\nfirst 1": "line 3: time",
		"source speed\n" + strings.Repeat("0 1x\n", curve.MaxKeyframes+1): "more than",
	} {
		if _, err := timeline.ParseKeyframes(strings.NewReader(text)); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseKeyframes(f *testing.F) {
	for _, s := range []string{"source speed\n0 100%\n2 10% smooth\nend 1x", "source output\n0 0\n1 2 hold\n0:03 4", "source speed\n0 1x\n3 0%\n0 -1x",
		"source output\n0 0\n0.5 1 smooth\n0.9 3\n0.9 3", "source output\n0 0 smooth\n1 2 hold\n1 2\n3 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		keys, err := timeline.ParseKeyframes(strings.NewReader(s))
		if err != nil {
			return
		}
		for i := range keys {
			if keys[i].Source == nil {
				keys[i].Source = big.NewRat(10, 1)
			}
		}
		c, err := curve.New(keys)
		if err != nil {
			return
		}
		if c.Duration().Sign() <= 0 {
			t.Fatalf("a curve of %s s", c.Duration())
		}
		for _, r := range c.Runs() {
			r.Output(r.To)
		}
	})
}

// Along a ramp each frame shows its moment, and each click is heard at its own.
func TestCurve(t *testing.T) {
	clip, clicks := clockClip(t, "clip.nut", 8, 16000, "-c:v", "ffv1", "-c:a", "pcm_s16le")
	for _, text := range []string{
		"source speed\n0 100%\n2 10%\n2.3 10%\n4 200%\n6 100%",
		"source speed\n0 100% smooth\n2 10% smooth\n2.3 10% smooth\n4 200% smooth\n6 100%",
		"source output\n1 0 smooth\n2 1 smooth\n2.5 6 smooth\n5 8",
		"source output\n1 0\n2 1 hold\n3 2\n5 4",
		"source output\n1 0\n4 3\n1.5 5 smooth\n4 8",
		"source speed\n0 100%\n3 0%\n0.5 -200%",
		"source speed\n5 -50%\n1 -150%",
	} {
		o := lossless(t, clip)
		o.Synthesis.Mode, o.Timing.Rate, o.Timing.Curve = warp.Blend, Rate{Value: big.NewRat(30, 1)}, mustParse(t, text)
		c, err := curve.New(o.Timing.Curve)
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, o)
		frames, times, _ := readAll(t, o.Output.File)
		want := timeline.Ceil(new(big.Rat).Mul(c.Duration(), big.NewRat(30, 1)))
		if int64(len(frames)) != want {
			t.Errorf("%q: %d frames, want %d", text, len(frames), want)
		}
		for k, f := range frames {
			if times[k].Cmp(big.NewRat(int64(k), 30)) != 0 {
				t.Fatalf("%q: frame %d is at %s", text, k, times[k])
			}
			moment, _ := c.Source(times[k]).Float64()
			moment *= 24000. / 1001
			if math.Mod(moment, clockTurn) > clockTurn-1 {
				continue // the clock turns over
			}
			if got := float64(binary.LittleEndian.Uint16(f)) / clockStep; math.Abs(got-math.Mod(moment, clockTurn)) > 0.002 {
				t.Fatalf("%q: frame %d shows frame %.4f, want %.4f", text, k, got, moment)
			}
		}
		x := heard(t, o.Output.File, 16000)
		if want, _ := new(big.Rat).Mul(c.Duration(), big.NewRat(16000, 1)).Float64(); math.Abs(float64(len(x))-want) > 1 {
			t.Errorf("%q: %d samples, want %.1f", text, len(x), want)
		}
		for _, run := range c.Runs() {
			for _, at := range clicks {
				moment := big.NewRat(int64(at), 16000)
				out := run.Output(moment)
				edge, _ := new(big.Rat).Sub(out, run.Begin).Float64()
				if rest, _ := new(big.Rat).Sub(run.End, out).Float64(); min(edge, rest) < 0.1 || run.Source(out).Cmp(moment) < 0 != run.Backward && new(big.Rat).Sub(run.Source(out), moment).Cmp(big.NewRat(1, 1000)) > 0 {
					continue // not in the run, or where its sound fades
				}
				seconds, _ := out.Float64()
				want := int(math.Round(seconds * 16000))
				if got := clickNear(x, want, 16000); got < want-16 || got > want+16 {
					t.Errorf("%q: the click at %.3f s is heard at %.4f, want %.4f", text, float64(at)/16000, float64(got)/16000, seconds)
				}
			}
		}
	}
}

// There and back: the same frames, the other way round.
func TestBackwardShowsTheSameFrames(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "gop.mkv")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 48, 24, 1), "-c:v", "libx264", "-qp", "0", "-bf", "3", "-g", "20", clip)
	source, _, _ := readAll(t, clip)
	o := lossless(t, clip)
	o.Timing.Curve = mustParse(t, "source output\n0 0\n1.5 1.5\n0 3")
	var log strings.Builder
	o.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Synthesis.Decisions = []Decision{{Frame: 2, Method: FromSource, Line: 1}, {Frame: 50, Method: FromSource, Line: 2}} // of either run
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

// However few frames are read at a time, all come, once, in falling order.
func TestBackwardSource(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "gop.nut")
	ffmpeg(t, "-i", writeScene(t, 32, 32, 60, 24, 1), "-c:v", "libx264", "-qp", "0", "-bf", "2", "-g", "25", clip)
	open := func(from, to *big.Rat) (*media.Reader, error) {
		return media.Open(context.Background(), clip, media.ReaderOptions{From: media.Start{At: from}, To: to})
	}
	for _, c := range []struct {
		room, from, to int64 // in frames
		halves         int64 // of a frame added to both
		first, last    int64
	}{{4, 0, 60, 0, 59, 0}, {100, 0, 60, 0, 59, 0}, {7, 10, 40, 0, 40, 10}, {7, 10, 40, 1, 41, 10}, {5, 0, 200, 0, 59, 0}} {
		r, err := open(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		clock := timeline.NewClock(r.Video())
		b := newBackward(open, r.Video(), clock, big.NewRat(2*c.from+c.halves, 48), big.NewRat(2*c.to+c.halves, 48))
		b.room = int(c.room)
		r.Close()
		want := c.first
		for {
			f, err := b.Read()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if got := clock.At(f.PTS); got.Cmp(big.NewRat(want, 24)) != 0 {
				t.Fatalf("%+v: a frame at %s, want %d/24", c, got.RatString(), want)
			}
			if len(b.ahead) > b.room {
				t.Errorf("%+v: %d frames wait", c, len(b.ahead))
			}
			f.Release()
			want--
		}
		if want > c.last-1 || c.last > 0 && want < c.last-1-c.room {
			t.Errorf("%+v: the last frame is %d, want %d", c, want+1, c.last)
		}
	}
}

func TestCurveFaults(t *testing.T) {
	clip := writeScene(t, 32, 32, 24, 24, 1)
	for _, c := range []struct {
		set  func(*Options)
		want string
	}{
		{func(o *Options) { o.Timing.Curve = mustParse(t, "source output\n0 0\n5 1") }, "the source ends"},
		{func(o *Options) { o.Timing.Curve = mustParse(t, "source speed\n0 0%\n1 0%") }, "never reached"},
		{func(o *Options) { o.Timing.Curve = mustParse(t, "source output\n0 0\n1 1000000") }, "more than 1000 times the source's 1.000 s"},
		{func(o *Options) { o.Timing.Curve = mustParse(t, "source output\n0 0 hold\n0 1000.1\n1 1000.2") }, "more than 1000 times"},
		{func(o *Options) { o.Timing.Fit = big.NewRat(1001, 1) }, "more than 1000 times"},
		{func(o *Options) { o.Timing.Slow = big.NewRat(2, 1) }, "leave out"},
		{func(o *Options) { o.Timing.Audio = media.KeepAudio }, "Timing.Audio"},
		{func(o *Options) { o.Input.File = "pipe:9" }, ""},
	} {
		o := lossless(t, clip)
		o.Timing.Curve = mustParse(t, "source output\n0 0\n0.5 1")
		c.set(&o)
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	o := lossless(t, clip)
	o.Timing.Curve, o.Timing.Fit = mustParse(t, "source speed\n0 100% smooth\nend 20%"), big.NewRat(3, 1)
	if report := mustRun(t, o); report.Frames != 72 {
		t.Errorf("fitted to 3 s: %d frames, want 72", report.Frames)
	}
}

// A still of more frames than are placed at a time is as long as it should be, between
// pictures and behind the last one.
func TestLongStills(t *testing.T) {
	const rate = 10_000
	for _, c := range []struct {
		curve  string
		frames int
		last   int
	}{
		{"source output\n0 0 hold\n0.1 7\n0.2 7.1", 71_000, 19},
		{"source output\n0 0\n0.2 7", 70_000, 19},
		{"source output\n0 0\n0.195 0.5 hold\n0.195 7.5\n0.2 7.6", 76_000, 19},
	} {
		var times []int64
		for i := range int64(20) {
			times = append(times, i)
		}
		o := Options{Synthesis: Synthesis{Mode: warp.Nearest, Scenes: []*big.Rat{big.NewRat(1, 10)}}, Timing: Timing{Rate: Rate{Value: big.NewRat(rate, 1)}, Curve: mustParse(t, c.curve)}}
		records, sink := planned(t, &rampSource{times}, o)
		if len(records) != c.frames {
			t.Errorf("%s: %d frames, want %d", c.curve, len(records), c.frames)
		}
		if !slices.IsSorted(sink.values) || sink.values[0] != 0 || sink.values[len(sink.values)-1] != c.last {
			t.Errorf("%s: shows %d to %d", c.curve, sink.values[0], sink.values[len(sink.values)-1])
		}
		for i := range records {
			if i > 0 && records[i].Frame != records[i-1].Frame+1 {
				t.Fatalf("%s: frame %d follows frame %d", c.curve, records[i].Frame, records[i-1].Frame)
			}
		}
	}
}
