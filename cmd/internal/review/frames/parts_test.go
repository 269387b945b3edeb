package frames_test

import (
	"bytes"
	"context"
	"math/big"
	"path/filepath"
	"testing"

	"retime/cmd/internal/review/frames"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/debug"
	"retime/pipeline/restore"
	"retime/pipeline/segment"
)

// movie makes 3.2 seconds of moving picture, through a filter.
func movie(t *testing.T, name, filter string, args ...string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	cliptest.FFmpeg(t, append(append([]string{"-f", "lavfi", "-i", "mandelbrot=size=64x48:rate=50:end_scale=0.01:end_pts=200," + filter}, args...), "-t", "3.2", name)...)
	return name
}

var (
	lossless264 = []string{"-c:v", "libx264", "-preset", "veryfast", "-qp", "0", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"}
	ffv1        = []string{"-c:v", "ffv1", "-pix_fmt", "yuv420p"}
)

// partOptions are options that decide which pictures a conversion sees, and when. Whatever makes some of its
// frames must heed them, too.
var partOptions = []struct {
	name  string
	input func(t *testing.T) string
	set   func(o *pipeline.Options)
}{
	{"map", twoVideos, func(o *pipeline.Options) { o.Input.Map = []string{"0:v:1"} }},
	{"fields", func(t *testing.T) string {
		return movie(t, "in.mkv", "tinterlace=mode=interleave_top,setfield=tff", append(ffv1, "-field_order", "tt")...)
	}, func(o *pipeline.Options) { o.Input.Deinterlace = pipeline.EachField }},
	{"telecine", func(t *testing.T) string {
		return movie(t, "in.mkv", "fps=24,telecine=pattern=23,setfield=prog", ffv1...)
	}, func(o *pipeline.Options) { o.Input.Deinterlace = pipeline.InverseTelecine }},
	{"rotation", func(t *testing.T) string {
		name := movie(t, "in.mp4", "fps=25", lossless264...)
		cliptest.Turn(t, name, 0, 1, -1, 0)
		return name
	}, func(o *pipeline.Options) { o.Input.Rotation = pipeline.KeepRotation }},
	{"part", func(t *testing.T) string { return movie(t, "in.mkv", "fps=25", lossless264...) },
		func(o *pipeline.Options) { o.Timing.From, o.Timing.To = big.NewRat(51, 50), big.NewRat(299, 100) }},
	{"slow", func(t *testing.T) string { return movie(t, "in.mkv", "fps=25", lossless264...) },
		func(o *pipeline.Options) { o.Timing.Slow = big.NewRat(5, 2) }},
	{"repeats", func(t *testing.T) string { return movie(t, "in.mkv", "fps=12.5,fps=25", ffv1...) },
		func(o *pipeline.Options) { o.Synthesis.Duplicates = pipeline.RetimeDuplicates }},
}

// twoVideos makes a clip of two videos.
func twoVideos(t *testing.T) string {
	first := movie(t, "first.mkv", "fps=25,hflip,negate", lossless264...)
	second := movie(t, "second.mkv", "fps=25", lossless264...)
	name := filepath.Join(t.TempDir(), "two.mkv")
	cliptest.FFmpeg(t, "-i", first, "-i", second, "-map", "0", "-map", "1", "-c", "copy", name)
	return name
}

// Segments, their verification, single frames of a review and dissections heed every option of the
// conversion: their frames are the conversion's, bit for bit.
func TestPartsHeedEveryOption(t *testing.T) {
	for _, c := range partOptions {
		t.Run(c.name, func(t *testing.T) {
			o := pipeline.Options{
				Input:  pipeline.Input{File: c.input(t)},
				Output: pipeline.Output{File: filepath.Join(t.TempDir(), "whole.mkv"), VideoCodec: "ffv1"},
				Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast},
			}
			plain, refused := digests(t, o)
			c.set(&o)
			want, err := digests(t, o)
			if err != nil {
				t.Fatal(err)
			}
			if refused == nil && segment.Sum(plain) == segment.Sum(want) {
				t.Fatal("the option changes nothing")
			}
			checkSegments(t, o, want)
			checkShots(t, o, want)
		})
	}
}

// digests converts, and returns the hashes of the frames.
func digests(t *testing.T, o pipeline.Options) (list []segment.Hash, err error) {
	t.Helper()
	o.Output.Overwrite = true
	o.Hooks.Digest = func(_ int64, d pipeline.Digest) { list = append(list, segment.Hash(d)) }
	_, err = pipeline.Run(context.Background(), o)
	return list, err
}

func checkSegments(t *testing.T, o pipeline.Options, want []segment.Hash) {
	t.Helper()
	p, err := segment.New(context.Background(), o, segment.Options{Length: big.NewRat(1, 1), Program: "test", Even: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "segments")
	for i := len(p.Ranges) - 1; i >= 0; i-- {
		m, _, err := p.Make(context.Background(), dir, i, pipeline.Options{})
		if err != nil {
			t.Fatalf("segment %d: %v", i, err)
		}
		if r := p.Ranges[i]; segment.Sum(m.Digests) != segment.Sum(want[r.First:r.First+m.Frames]) {
			t.Errorf("segment %d: its frames are not the conversion's", i)
		}
	}
	if s, err := p.Verify(context.Background(), dir, 5, pipeline.Options{}); err != nil {
		t.Errorf("verification: %v, %+v", err, s)
	}
}

func checkShots(t *testing.T, o pipeline.Options, want []segment.Hash) {
	t.Helper()
	m, err := frames.Open(context.Background(), frames.Options{Conversion: o, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	made := 0
	for _, k := range []int64{1, int64(len(want)) * 3 / 4, int64(len(want))*3/4 + 1} {
		s, err := m.Frame(context.Background(), frames.Final, k)
		if err != nil {
			t.Fatal(err)
		}
		if segment.Hash(s.Digest) != want[k] {
			t.Errorf("frame %d of a review is not the conversion's", k)
		}
		if s.Record.Method == pipeline.Interpolated {
			made++
			d, err := debug.Dissect(context.Background(), o, frames.Moment(m.Plan(), k))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(cliptest.Samples(d.Made), cliptest.Samples(s.Frame)) {
				t.Errorf("frame %d dissected is not the conversion's", k)
			}
			d.Release()
		}
		s.Frame.Release()
	}
	if made == 0 {
		t.Error("no frame is interpolated")
	}
}

// Sequences cannot be made in parts, but dissected.
func TestDissectionHeedsTheRate(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: movie(t, "%03d.png", "fps=25"), Rate: big.NewRat(10, 1)}}
	d, err := debug.Dissect(context.Background(), o, big.NewRat(25, 100))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	if d.First.At.Cmp(big.NewRat(2, 10)) != 0 || d.Second.At.Cmp(big.NewRat(3, 10)) != 0 {
		t.Errorf("the frame lies between %v and %v", d.First.At, d.Second.At)
	}
}

// A repair that copies packets makes its frames as one that encodes all does.
func TestSmartCopyHeedsTheMap(t *testing.T) {
	made := func(smart bool) (found []pipeline.Digest) {
		o := restore.Options{SmartCopy: smart, Damage: []restore.Finding{{First: restore.Place{Number: 40}, Last: restore.Place{Number: 41}, Score: 1}}}
		o.Convert.Input = pipeline.Input{File: twoVideos(t), Map: []string{"0:v:1"}}
		o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv")}
		o.Convert.Synthesis.Preset = pipeline.Fast
		o.Convert.Hooks.Digest = func(k int64, d pipeline.Digest) {
			if k == 40 || k == 41 {
				found = append(found, d)
			}
		}
		if _, err := restore.Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		return found
	}
	a, b := made(false), made(true)
	if len(a) != 2 || len(b) != 2 || a[0] != b[0] || a[1] != b[1] {
		t.Errorf("smart copy makes %x, a whole encoding %x", b, a)
	}
}

// Little device memory holds few intervals, and one at least.
func TestFlowWorkersFitMemory(t *testing.T) {
	for _, c := range []struct {
		memory  int64
		workers int
	}{{0, 8}, {1, 1}, {500 << 20, 1}, {1 << 30, 2}, {2 << 30, 5}, {8 << 30, 8}} {
		o := pipeline.Options{Compute: pipeline.Compute{Threads: 16, DeviceMemory: c.memory}}
		s, err := o.Settle()
		if err != nil {
			t.Fatal(err)
		}
		if n := s.FlowWorkers(); n != c.workers {
			t.Errorf("%d bytes: %d intervals at once, want %d", c.memory, n, c.workers)
		}
	}
}
