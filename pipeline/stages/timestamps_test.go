package stages_test

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/internal/runtest"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/testdata/clips"
	"retime/testdata/scene"
	"retime/warp"
)

// planned runs o's plan over source with a sink that keeps nothing, and returns
// the records.
func planned(t *testing.T, source pipeline.Source, o pipeline.Options) (records []pipeline.Record, sink *runtest.ValueSink) {
	t.Helper()
	o.Input.File, o.Output.File = "in", "out"
	o.Hooks.Record = func(r pipeline.Record) { records = append(records, r) }
	sink = &runtest.ValueSink{}
	if err := throughPlan(t.Context(), t, source, &o, sink); err != nil {
		t.Fatal(err)
	}
	return records, sink
}

// Each frame of a real clip of variable rate shows its moment within half an
// output period.
func TestVariableRateClip(t *testing.T) {
	clip := clips.Find(t, "d10_coffee_vfr_720p.mp4")[0]
	_, times, _ := readAll(t, clip)
	for _, c := range []struct {
		fps  string
		slow *big.Rat
	}{{"60", big.NewRat(1, 1)}, {"30000/1001", big.NewRat(1, 1)}, {"24", big.NewRat(5, 2)}} {
		r, err := media.Open(context.Background(), clip, media.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		records, _ := planned(t, r, pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Nearest}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio(c.fps)}, Slow: c.slow}})
		r.Close()
		factor, _ := new(big.Rat).Mul(ratio(c.fps), c.slow).Float64()
		worst := 0.0
		for _, rec := range records {
			at := func(i int) float64 { s, _ := times[rec.Sources[i]].Float64(); return s }
			moment := at(0)
			if len(rec.Sources) > 1 {
				moment += rec.Phase * (at(1) - at(0))
			} else if next := rec.Sources[0] + 1; next == int64(len(times)) {
				continue // the last frame stays
			}
			worst = max(worst, math.Abs(moment*factor-float64(rec.Frame)))
		}
		t.Logf("%s, slow %s: %d frames, off by at most %.5f periods", c.fps, c.slow.RatString(), len(records), worst)
		if worst > 0.5 {
			t.Errorf("%s, slow %s: a frame is off by %.3f periods", c.fps, c.slow.RatString(), worst)
		}
	}
}

// What moves evenly in a clip of variable rate moves evenly in the output.
func TestVariableRateMovesEvenly(t *testing.T) {
	records, sink := planned(t, &runtest.RampSource{Times: []int64{0, 4, 8, 20, 24, 40, 44, 48, 60, 100}}, pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(50, 1)}}})
	if len(records) != 51 {
		t.Fatalf("%d frames, want 51", len(records))
	}
	for k, v := range sink.Values {
		if v != 2*k {
			t.Errorf("frame %d shows what is at %d/100 s, want %d/100", k, v, 2*k)
		}
	}
	// The same with motion of pixels: the scene at the frames' true times.
	const width, height = 320, 180
	clip := filepath.Join(t.TempDir(), "vfr.nut")
	ffmpeg(t, "-i", writeScene(t, width, height, 16, 24, 1), "-vf", "select='not(eq(mod(n,5),2))'", "-fps_mode", "vfr", "-c:v", "rawvideo", clip)
	o := lossless(t, clip)
	o.Timing.Rate = pipeline.Rate{Value: big.NewRat(24, 1)}
	mustRun(t, o)
	got, _, _ := readAll(t, o.Output.File)
	for k := range got {
		if p := psnr(got[k][:width*height], scene.Draw(width, height, float64(k)/24).Y); p < 30 {
			t.Errorf("frame %d: %.2f dB from the scene at its time", k, p)
		}
	}
}

// In a gap the frame before it stands, and that is said once.
func TestGaps(t *testing.T) {
	var log bytes.Buffer
	var times []int64
	for i := range int64(40) {
		times = append(times, 4*i+200*(i/15))
	}
	source := &runtest.RampSource{Times: times}
	o := pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(100, 1)}}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	video := source.Video()
	video.Average = big.NewRat(25, 1)
	_, sink := planned(t, &describedSource{source, video}, o)
	for k, v := range sink.Values {
		want := k
		for _, gap := range [][2]int{{56, 260}, {316, 520}} {
			if k >= gap[0] && k < gap[1] {
				want = gap[0]
			}
		}
		if want = min(want, int(times[39])); v != want&255 {
			t.Fatalf("frame %d shows %d, want %d", k, v, want&255)
		}
	}
	if n := strings.Count(log.String(), "gap"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
}

// describedSource is a source that says other things of itself.
type describedSource struct {
	pipeline.Source
	video media.Video
}

func (s *describedSource) Video() media.Video { return s.video }

// The source's frames keep their times, scaled, and what lies between is spread
// evenly.
func TestKeepTimestamps(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "vfr.nut")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 24, 24, 1), "-vf", "select='not(eq(mod(n,5),2))*not(eq(n,8))'", "-fps_mode", "vfr", "-c:v", "rawvideo", clip)
	source, at, _ := readAll(t, clip)
	for _, c := range []struct {
		out  string
		slow *big.Rat
		each int64 // frames in a 24th of a second
	}{{"out.nut", big.NewRat(4, 1), 4}, {"out.nut", big.NewRat(5, 2), 0}, {"out.nut", big.NewRat(1, 1), 1}, {"out.mp4", big.NewRat(4, 1), 4}} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(dir, c.out), Overwrite: true}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Slow: c.slow, KeepTimestamps: true}}
		if c.out == "out.nut" {
			o.Output.VideoCodec = "rawvideo"
		}
		mustRun(t, o)
		got, times, _ := readAll(t, o.Output.File)
		k := 0
		for i, want := range source {
			for k < len(got)-1 && times[k].Cmp(new(big.Rat).Mul(at[i], c.slow)) < 0 {
				k++
			}
			if times[k].Cmp(new(big.Rat).Mul(at[i], c.slow)) != 0 || c.out == "out.nut" && !bytes.Equal(got[k], want) {
				t.Errorf("%s: source frame %d is not at %s times its time", c.out, i, c.slow.RatString())
			}
			if i+1 == len(source) {
				break
			}
			length := new(big.Rat).Sub(at[i+1], at[i])
			n := timeline.Round(length.Mul(length, big.NewRat(24*c.each, 1)))
			step := new(big.Rat).Sub(times[k+1], times[k])
			for j := int64(1); j < n; j++ {
				if d := new(big.Rat).Sub(times[k+int(j)], times[k+int(j)-1]); d.Cmp(step) != 0 {
					t.Errorf("%s: frame %d comes %s s after the last, not %s", c.out, k+int(j), d.RatString(), step.RatString())
				}
			}
			if c.each > 0 && times[k+int(n)].Cmp(new(big.Rat).Mul(at[i+1], c.slow)) != 0 {
				t.Errorf("%s: behind source frame %d come other than %d frames", c.out, i, n-1)
			}
		}
	}
}

// Two frames a tick apart, which both lie within a tick of one point of the grid, are two
// pictures of different times.
func TestNeighboursOnOnePointOfTheGrid(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "near.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24", "-t", "2", "-vf", "settb=1/1000,setpts='if(eq(N,40),round(39*1000/24)+1,round(N*1000/24))'",
		"-fps_mode", "passthrough", "-c:v", "ffv1", "-enc_time_base", "1:1000", clip)
	for _, set := range []func(*pipeline.Options){
		func(*pipeline.Options) {},
		func(o *pipeline.Options) { o.Timing.KeepTimestamps = true },
		func(o *pipeline.Options) {
			o.Timing.Curve = mustParse(t, "source output\n0 0\n1.9 1\n0.5 2.5")
		},
	} {
		o := lossless(t, clip)
		o.Timing.Rate = pipeline.Rate{Value: big.NewRat(60, 1)}
		set(&o)
		if report := mustRun(t, o); report.Frames < 90 {
			t.Errorf("%d frames", report.Frames)
		}
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
		o := pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Nearest, Scenes: []*big.Rat{big.NewRat(1, 10)}}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(rate, 1)}, Curve: mustParse(t, c.curve)}}
		records, sink := planned(t, &runtest.RampSource{Times: times}, o)
		if len(records) != c.frames {
			t.Errorf("%s: %d frames, want %d", c.curve, len(records), c.frames)
		}
		if !slices.IsSorted(sink.Values) || sink.Values[0] != 0 || sink.Values[len(sink.Values)-1] != c.last {
			t.Errorf("%s: shows %d to %d", c.curve, sink.Values[0], sink.Values[len(sink.Values)-1])
		}
		for i := range records {
			if i > 0 && records[i].Frame != records[i-1].Frame+1 {
				t.Fatalf("%s: frame %d follows frame %d", c.curve, records[i].Frame, records[i-1].Frame)
			}
		}
	}
}
