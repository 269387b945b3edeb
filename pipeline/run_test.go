package pipeline_test

import (
	"bytes"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"retime/internal/cliptest"
	"retime/internal/runtest"
	"retime/pipeline"
	"retime/pipeline/timeline"
	"retime/testdata/scene"
	"retime/warp"
)

// What the tests of conversions share.
var (
	ffmpeg     = cliptest.FFmpeg
	readAll    = cliptest.ReadAll
	psnr       = cliptest.PSNR
	writeScene = cliptest.WriteScene
	writeCut   = cliptest.WriteCut
	mustParse  = cliptest.ParseCurve
	wantEmpty  = cliptest.WantEmpty
	ratio      = cliptest.Ratio
	must       = cliptest.Must
	lossless   = runtest.Lossless
	mustRun    = runtest.Run
	settled    = runtest.Settled
)

func TestFramesOnSourceTimesPassThrough(t *testing.T) {
	input := writeScene(t, 97, 61, 9, 24, 1)
	source, _, _ := readAll(t, input)
	for _, c := range []struct {
		fps   string
		every int // source frame i is output frame every*i
	}{{"48", 2}, {"2x", 2}, {"72", 3}, {"24", 1}} {
		for _, mode := range []warp.Mode{warp.Project, warp.Splat, warp.Blend, warp.Nearest} {
			o := lossless(t, input)
			o.Synthesis.Mode = mode
			o.Timing.Rate, _ = timeline.ParseRate(c.fps)
			report := mustRun(t, o)
			got, times, _ := readAll(t, o.Output.File)
			if len(got) != len(source)*c.every || int64(len(got)) != report.Frames {
				t.Errorf("%s %s: %d frames, reported %d, want %d", mode, c.fps, len(got), report.Frames, len(source)*c.every)
				continue
			}
			for i, want := range source {
				if !bytes.Equal(got[i*c.every], want) {
					t.Errorf("%s %s: source frame %d came through changed", mode, c.fps, i)
				}
			}
			for k, at := range times {
				if want := big.NewRat(int64(k), int64(24*c.every)); at.Cmp(want) != 0 {
					t.Errorf("%s %s: frame %d at %s, want %s", mode, c.fps, k, at.RatString(), want.RatString())
				}
			}
		}
	}
}

func TestOutputCounts(t *testing.T) {
	for _, c := range []struct {
		frames, num, den int
		set              func(*pipeline.Options)
		want             int64
	}{
		{24, 24, 1, func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("60") }, 60},
		{12, 25, 1, func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("50") }, 24},
		{30, 30000, 1001, func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("60") }, 61},
		{24, 24000, 1001, func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("59.94") }, 60},
		{30, 60, 1, func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("24") }, 12},
		{6, 25, 1, func(o *pipeline.Options) { o.Timing.Slow = big.NewRat(4, 1) }, 24},
		{6, 24, 1, func(o *pipeline.Options) { o.Timing.Slow = big.NewRat(5, 2) }, 15},
		{24, 24, 1, func(o *pipeline.Options) { o.Timing.Slow = big.NewRat(2, 5) }, 10}, // 9.6
		{24, 24, 1, func(o *pipeline.Options) { o.Timing.Fit = big.NewRat(3, 2) }, 36},
		{24, 24, 1, func(o *pipeline.Options) { o.Timing.Fit, o.Timing.From = big.NewRat(1, 4), big.NewRat(1, 2) }, 6},
		{6, 24, 1, func(o *pipeline.Options) {
			o.Timing.Slow = big.NewRat(5, 2)
			o.Timing.Rate, _ = timeline.ParseRate("60")
		}, 38}, // 37.5
		{24, 24, 1, func(o *pipeline.Options) { o.Timing.From, o.Timing.To = big.NewRat(1, 4), big.NewRat(3, 4) }, 12},
		{24, 24, 1, func(o *pipeline.Options) { o.Timing.From = big.NewRat(1, 2) }, 12},
		{24, 24, 1, func(o *pipeline.Options) { o.Timing.To = big.NewRat(1, 100) }, 1},
		{1, 24, 1, func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("48") }, 2},
		{2, 24, 1, func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("48") }, 4},
	} {
		o := lossless(t, writeScene(t, 48, 32, c.frames, c.num, c.den))
		o.Synthesis.Mode = warp.Blend
		c.set(&o)
		report := mustRun(t, o)
		if got, _, _ := readAll(t, o.Output.File); report.Frames != c.want || int64(len(got)) != c.want {
			t.Errorf("%d frames at %d/%d: wrote %d, reported %d, want %d", c.frames, c.num, c.den, len(got), report.Frames, c.want)
		}
	}
}

func TestSameBytesWhateverTheThreads(t *testing.T) {
	input := writeScene(t, 161, 93, 4, 25, 1)
	for _, mode := range []warp.Mode{warp.Project, warp.Splat} {
		var first []byte
		for _, threads := range []int{1, 2, 8, 2} {
			o := lossless(t, input)
			o.Synthesis.Mode, o.Compute.Threads = mode, threads
			o.Timing.Rate, _ = timeline.ParseRate("60")
			mustRun(t, o)
			got, err := os.ReadFile(o.Output.File)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			} else if !bytes.Equal(got, first) {
				t.Errorf("%s: %d threads give other bytes than one", mode, threads)
			}
		}
	}
}

// Made frames come closer to the truth than a blend of their neighbours.
func TestMadeFramesAreCloseToTheScene(t *testing.T) {
	const width, height = 320, 180
	o := lossless(t, writeScene(t, width, height, 6, 12, 1))
	o.Timing.Rate, _ = timeline.ParseRate("24")
	for _, c := range []struct {
		mode   warp.Mode
		preset pipeline.Preset
		least  float64 // dB
	}{{warp.Project, pipeline.Fast, 30}, {warp.Project, pipeline.Balanced, 30}, {warp.Project, pipeline.Best, 30}, {warp.Splat, pipeline.Balanced, 28}} {
		o.Synthesis.Mode, o.Synthesis.Preset = c.mode, c.preset
		mustRun(t, o)
		got, _, _ := readAll(t, o.Output.File)
		for k := 1; k < 10; k += 2 {
			truth := scene.Draw(width, height, float64(k)/24).Y
			if p := psnr(got[k][:width*height], truth); p < c.least {
				t.Errorf("%s %s: frame %d: %.2f dB, want at least %.0f", c.mode, c.preset, k, p, c.least)
			}
		}
	}
}

func TestContainers(t *testing.T) {
	input := writeScene(t, 64, 48, 12, 24, 1)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"bframes.mp4", []string{"-c:v", "libx264", "-bf", "3", "-qp", "0"}},
		{"matroska.mkv", []string{"-c:v", "ffv1"}},
		{"late.ts", []string{"-c:v", "libx264", "-qp", "0", "-output_ts_offset", "7"}},
		{"late.mp4", []string{"-c:v", "libx264", "-qp", "0", "-vf", "setpts=PTS+2/TB"}},
		{"open.avi", []string{"-c:v", "rawvideo", "-pix_fmt", "yuv420p"}},
		{"ten.mkv", []string{"-c:v", "ffv1", "-pix_fmt", "yuv422p10le"}},
		{"packed.nut", []string{"-c:v", "rawvideo", "-pix_fmt", "rgb24"}},
		{"semi.nut", []string{"-c:v", "rawvideo", "-pix_fmt", "nv12"}},
		{"gray.nut", []string{"-c:v", "rawvideo", "-pix_fmt", "gray16le"}},
		{"alpha.mkv", []string{"-c:v", "ffv1", "-pix_fmt", "yuva444p"}},
		{"gbr.mkv", []string{"-c:v", "ffv1", "-pix_fmt", "gbrp12le"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clip := filepath.Join(t.TempDir(), c.name)
			ffmpeg(t, append(append([]string{"-i", input}, c.args...), clip)...)
			source, _, v := readAll(t, clip)
			o := lossless(t, clip)
			o.Timing.Rate, _ = timeline.ParseRate("2x")
			report := mustRun(t, o)
			got, times, w := readAll(t, o.Output.File)
			if len(got) != 24 || report.Made != 11 {
				t.Fatalf("%d frames, %d made; want 24 and 11", len(got), report.Made)
			}
			if w.Source != v.Source {
				t.Errorf("sample format %s became %s", v.Source, w.Source)
			}
			for i, want := range source {
				if !bytes.Equal(got[2*i], want) {
					t.Errorf("source frame %d came through changed", i)
				}
			}
			for k := 1; k < len(times); k++ {
				if d := new(big.Rat).Sub(times[k], times[k-1]); d.Cmp(big.NewRat(1, 48)) != 0 {
					t.Errorf("frame %d comes %s s after the last", k, d.RatString())
				}
			}
		})
	}
}

func TestSoundIsCopied(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "sound.mp4")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 24, 24, 1), "-f", "lavfi", "-i", "sine=duration=1", "-c:v", "libx264", "-c:a", "aac", clip)
	o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(dir, "out.mp4")}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(60, 1)}}}
	mustRun(t, o)
	hash := func(name string) string {
		return ffmpeg(t, "-i", name, "-map", "0:a", "-c", "copy", "-f", "framehash", "-")
	}
	if a, b := hash(clip), hash(o.Output.File); a != b {
		t.Errorf("the sound's packets changed:\n%s\nbecame\n%s", a, b)
	}
}

func TestVariableRate(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "vfr.mkv")
	// Frames at 0, 1, 3, 4, 6, 7, ... 25ths.
	ffmpeg(t, "-i", writeScene(t, 64, 48, 24, 25, 1), "-vf", "select='mod(n,3)-2'", "-fps_mode", "vfr", "-c:v", "ffv1", clip)
	source, times, _ := readAll(t, clip)
	o := lossless(t, clip)
	o.Synthesis.Mode, o.Timing.Rate = warp.Blend, pipeline.Rate{Value: big.NewRat(25, 1)}
	mustRun(t, o)
	got, _, _ := readAll(t, o.Output.File)
	for i, at := range times {
		k, _ := new(big.Rat).Mul(at, big.NewRat(25, 1)).Float64()
		if n := int(k + 0.5); n >= len(got) || !bytes.Equal(got[n], source[i]) {
			t.Errorf("source frame %d, at %s s, is not output frame %d", i, at.FloatString(3), n)
		}
	}
}

// Between equal frames nothing is made: the first is shown.
func TestEqualFramesAreRepeated(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "still.nut")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 1, 24, 1), "-vf", "loop=5:1", "-c:v", "rawvideo", clip)
	o := lossless(t, clip)
	o.Timing.Rate, _ = timeline.ParseRate("60")
	report := mustRun(t, o)
	got, _, _ := readAll(t, o.Output.File)
	if report.Made != 0 || len(got) != 15 {
		t.Errorf("%d frames, %d made; want 15 and none", len(got), report.Made)
	}
	for k := range got {
		if !bytes.Equal(got[k], got[0]) {
			t.Errorf("frame %d differs", k)
		}
	}
}

func TestRecords(t *testing.T) {
	input := writeCut(t, 192, 108, 6)
	var first []pipeline.Record
	for _, threads := range []int{1, 2, 8} {
		var records []pipeline.Record
		o := lossless(t, input)
		o.Timing.Rate, _ = timeline.ParseRate("48")
		o.Compute.Threads = threads
		o.Hooks.Record = func(r pipeline.Record) { records = append(records, r) }
		mustRun(t, o)
		if len(records) != 12 {
			t.Fatalf("%d records of 12 frames", len(records))
		}
		for k, r := range records {
			want := pipeline.Interpolated
			switch {
			case k%2 == 0 || k == 11:
				want = pipeline.FromSource
			case k == 5:
				want = pipeline.Nearest
			}
			if r.Frame != int64(k) || r.Time != float64(k)/48 || r.Method != want || r.Sources[0] != int64(k/2) {
				t.Errorf("frame %d: %+v, want %s from %d", k, r, want, k/2)
			}
			if r.Cut != (k == 4 || k == 5) {
				t.Errorf("frame %d: cut %v, score %v", k, r.Cut, r.CutScore)
			}
			switch {
			case want == pipeline.FromSource && r.Confidence != 1, want == pipeline.Nearest && r.Confidence != 0,
				want == pipeline.Interpolated && (r.Confidence <= 0 || r.Confidence >= 1 || r.Phase != 0.5):
				t.Errorf("frame %d: confidence %v, phase %v", k, r.Confidence, r.Phase)
			}
		}
		if first == nil {
			first = records
		} else if !reflect.DeepEqual(records, first) {
			t.Errorf("%d threads give other records than one", threads)
		}
	}
}
