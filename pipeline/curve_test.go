package pipeline

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/warp"
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
