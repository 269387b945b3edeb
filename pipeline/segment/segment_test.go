package segment

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"retime/flow"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
	"retime/warp"
)

// What the tests of conversions share.
var (
	ffmpeg = cliptest.FFmpeg
)

// clip makes 4 seconds of moving picture with sound, in groups of pictures of uneven
// lengths with B-frames.
func clip(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clip.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=4", "-f", "lavfi", "-i", "sine=duration=4",
		"-c:v", "libx264", "-g", "17", "-bf", "3", "-preset", "veryfast", "-c:a", "aac", name)
	return name
}

func options(input string) pipeline.Options {
	rate, _ := timeline.ParseRate("50")
	return pipeline.Options{Input: pipeline.Input{File: input}, Output: pipeline.Output{Format: "matroska", VideoCodec: "ffv1"}, Timing: pipeline.Timing{Rate: rate}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Threads: 2}}
}

// whole runs o in one piece and returns the hash of its frames.
func whole(t testing.TB, o pipeline.Options, output string) string {
	t.Helper()
	var digests []Hash
	o.Output.File, o.Output.Overwrite = output, true
	o.Hooks.Digest = func(k int64, d pipeline.Digest) {
		if k != int64(len(digests)) {
			t.Errorf("frame %d comes as number %d", k, len(digests))
		}
		digests = append(digests, Hash(d))
	}
	if _, err := pipeline.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	return Sum(digests)
}

// parts returns the length of segments, in seconds, that divides p's output into n.
func parts(t testing.TB, p *Plan, n int64) *big.Rat {
	t.Helper()
	return new(big.Rat).Quo(big.NewRat(p.Whole.Frames, n), p.Whole.Rate)
}

func newPlan(t testing.TB, o pipeline.Options, n int64) *Plan {
	t.Helper()
	p, err := New(context.Background(), o, Options{Length: big.NewRat(1e6, 1), Program: "test"})
	if err == nil && n > 1 {
		p, err = New(context.Background(), o, Options{Length: parts(t, p, n), Program: "test"})
	}
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(p.Ranges)) != n {
		t.Fatalf("%d ranges, want %d", len(p.Ranges), n)
	}
	return p
}

func makeAll(t testing.TB, p *Plan, dir string, order []int) {
	t.Helper()
	for n, i := range order {
		if _, _, err := p.Make(context.Background(), dir, i, pipeline.Options{Compute: pipeline.Compute{Threads: 1 + n%3}}); err != nil {
			t.Fatalf("segment %d: %v", i, err)
		}
	}
}

func rats(v ...int64) (out []*big.Rat) {
	for _, x := range v {
		out = append(out, big.NewRat(x, 1000))
	}
	return out
}

func TestSegmentsMakeTheFramesOfOneRun(t *testing.T) {
	input := clip(t)
	half := big.NewRat(1, 2)
	for _, test := range []struct {
		name  string
		parts []int64
		set   func(o *pipeline.Options)
	}{
		{"rate", []int64{1, 3, 17}, func(*pipeline.Options) {}},
		{"slow part", []int64{5}, func(o *pipeline.Options) {
			o.Timing.Slow, o.Timing.From, o.Timing.To = big.NewRat(5, 2), big.NewRat(1, 3), big.NewRat(29, 10)
		}},
		{"fewer frames", []int64{4}, func(o *pipeline.Options) { o.Timing.Rate, _ = timeline.ParseRate("9") }},
		{"shutter", []int64{3}, func(o *pipeline.Options) {
			o.Timing.Shutter, o.Timing.Rate = half, pipeline.Rate{Value: big.NewRat(12, 1)}
		}},
		{"scenes", []int64{4}, func(o *pipeline.Options) { o.Synthesis.Scenes = rats(1010, 1500, 3210) }},
		{"repeats", []int64{4}, func(o *pipeline.Options) { o.Synthesis.Duplicates = pipeline.RetimeDuplicates }},
		{"fields", []int64{3}, func(o *pipeline.Options) { o.Input.Deinterlace = pipeline.EachFrame }},
		{"ramp", []int64{4}, func(o *pipeline.Options) {
			o.Timing.Curve = []curve.Keyframe{
				{Source: new(big.Rat), Output: new(big.Rat), Shape: curve.Linear},
				{Source: big.NewRat(1, 1), Output: big.NewRat(2, 1), Shape: curve.Linear},
				{Source: big.NewRat(1, 1), Output: big.NewRat(3, 1), Shape: curve.Linear},
				{Output: big.NewRat(4, 1), Shape: curve.Linear}, // the end
			}
		}},
		{"flow from files", []int64{4}, func(o *pipeline.Options) { o.Synthesis.Flow = flowFiles(t) }},
		{"matte", []int64{4}, func(o *pipeline.Options) {
			o.Synthesis.Matte = filepath.Join(t.TempDir(), "matte.mkv")
			ffmpeg(t, "-f", "lavfi", "-i", "color=black:size=64x48:rate=25:duration=4,format=gray,geq=lum=255*lt(abs(X-16-N/4)\\,8)*lt(abs(Y-24)\\,9)", "-c:v", "ffv1", o.Synthesis.Matte)
		}},
		{"blend", []int64{3}, func(o *pipeline.Options) { o.Synthesis.Mode = "blend" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options(input)
			test.set(&o)
			output := filepath.Join(t.TempDir(), "whole.mkv")
			want := whole(t, o, output)
			for _, n := range test.parts {
				p := newPlan(t, o, n)
				dir := filepath.Join(t.TempDir(), "segments")
				random := rand.New(rand.NewPCG(1, uint64(n)))
				order := random.Perm(len(p.Ranges))
				makeAll(t, p, dir, append(order, order[:(n+2)/3]...))
				s := p.Status(dir, true)
				if s.Digest != want {
					t.Errorf("%d segments: the frames are not those of one run", n)
				}
				joined := filepath.Join(t.TempDir(), "joined.mkv")
				if _, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: joined}}); err != nil {
					t.Fatal(err)
				}
				a, b := content(t, output), content(t, joined)
				for i := range max(len(a), len(b)) {
					if i >= len(a) || i >= len(b) || a[i] != b[i] {
						t.Errorf("%d segments: the file holds %d lines of packets and pictures, of one run %d; they differ from %d on, %q",
							n, len(b), len(a), i, b[min(i, len(b)-1)])
						break
					}
				}
			}
		})
	}
}

// flowFiles writes flows for pictures of clip's size, each of its own, and returns the
// method that reads them.
func flowFiles(t testing.TB) pipeline.FlowMethod {
	t.Helper()
	dir := t.TempDir()
	for n := range 100 {
		f := flow.NewField(64, 48)
		for i := range f.Pix {
			f.Pix[i] = flow.Vec{X: int32(n%7-3) * flow.One, Y: int32(n%5-2) * flow.One}
		}
		for _, suffix := range []string{"", ".back"} {
			var b bytes.Buffer
			if err := flow.WriteFlo(&b, f); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d%s.flo", n, suffix)), b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return motion.FromFiles + pipeline.FlowMethod(filepath.Join(dir, "%d.flo"))
}

// Ranges begin with scenes that are found near their cuts, unless Even is set; the
// frames are the same.
func TestRangesBeginWithScenes(t *testing.T) {
	input := filepath.Join(t.TempDir(), "cut.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2.2", "-f", "lavfi", "-i", "mandelbrot=size=64x48:rate=25",
		"-filter_complex", "[1]trim=duration=1.8[b];[0][b]concat", "-c:v", "ffv1", input)
	o := options(input)
	want := whole(t, o, filepath.Join(t.TempDir(), "whole.mkv"))
	never := 2.0
	for _, test := range []struct {
		name string
		even bool
		set  func(*pipeline.Options)
		cut  int64
	}{
		{"found", false, func(*pipeline.Options) {}, 110},
		{"even", true, func(*pipeline.Options) {}, 100},
		{"never", false, func(o *pipeline.Options) { o.Synthesis.SceneThreshold = &never }, 100},
		{"listed", false, func(o *pipeline.Options) { o.Synthesis.Scenes = rats(1900) }, 95},
		{"listed for nothing", true, func(o *pipeline.Options) { o.Synthesis.Scenes = rats(1900) }, 100},
	} {
		o := o
		test.set(&o)
		p, err := New(context.Background(), o, Options{Length: big.NewRat(2, 1), Even: test.even, Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Ranges) != 2 || p.Ranges[1].First != test.cut {
			t.Errorf("%s: ranges %v, want a cut at %d", test.name, p.Ranges, test.cut)
		}
		if o.Synthesis.Scenes != nil || o.Synthesis.SceneThreshold != nil {
			continue
		}
		dir := t.TempDir()
		makeAll(t, p, dir, []int{1, 0})
		if p.Status(dir, true).Digest != want {
			t.Errorf("%s: the frames are not those of one run", test.name)
		}
	}
}

func TestVerifyFindsWhatDiffers(t *testing.T) {
	p := newPlan(t, options(clip(t)), 3)
	dir := t.TempDir()
	makeAll(t, p, dir, []int{0, 2})
	s, err := p.Verify(context.Background(), dir, 5, pipeline.Options{})
	if fault.KindOf(err) != fault.TryAgain || s.Missing != 1 {
		t.Errorf("a segment is missing: %v", err)
	}
	makeAll(t, p, dir, []int{1})
	if s, err = p.Verify(context.Background(), dir, -1, pipeline.Options{Compute: pipeline.Compute{Threads: 3}}); err != nil {
		t.Fatal(err)
	}
	checked := int64(0)
	for _, at := range s.Segments {
		checked += at.Checked
	}
	if checked != 200 {
		t.Errorf("%d frames checked, want all 200", checked)
	}
	// A forged manifest agrees with itself, but not with the frames.
	m, err := p.check(dir, p.ID(), 1, true)
	if err != nil {
		t.Fatal(err)
	}
	m.Digests[7][3] ^= 1
	m.Digest = Sum(m.Digests)
	if err := os.Remove(manifestName(dir, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.publish(dir, m); err != nil {
		t.Fatal(err)
	}
	s, err = p.Verify(context.Background(), dir, -1, pipeline.Options{})
	if fault.KindOf(err) != fault.BadData || s.Segments[1].Wrong != 1 {
		t.Errorf("forged: %v, %+v", err, s.Segments[1])
	}
}

// A range whose first frame has a shutter of its own is read from the pictures that the frame needs.
func TestShutterAtABorderReadsNoMore(t *testing.T) {
	o := options(clip(t))
	o.Timing.Rate, o.Timing.Slow, o.Timing.Shutter = pipeline.Rate{}, big.NewRat(1, 20), big.NewRat(1, 1)
	o.Synthesis.Mode, o.Synthesis.Decisions = warp.Blend, []pipeline.Decision{{Frame: 3, Shutter: "0"}}
	whole, starts, err := newOutline(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	report, err := runPart(t.Context(), o, whole, Range{First: 3, End: whole.Frames, Start: starts.before(3)}, discard{})
	if err != nil {
		t.Fatal(err)
	}
	// Frame 2 is picture 40 of 100.
	if report.Sources > 60+startMargin+1 {
		t.Errorf("%d pictures were read for frames 3 and 4 of 5", report.Sources)
	}
}

// A decision about a frame on the other side of a range's border, or in the interval beside
// the range, counts as in one run.
func TestDecisionsAcrossABorder(t *testing.T) {
	input, cut := clip(t), true
	for _, d := range []pipeline.Decision{
		{Frame: 10, Cut: &cut}, {Frame: 13, Cut: &cut}, {Frame: 14, Cut: &cut}, {Frame: 15, Cut: &cut}, {Frame: 17, Cut: &cut}, {Frame: 30, Cut: &cut},
		{Frame: 13, Preset: pipeline.Fast}, {Frame: 14, Preset: pipeline.Fast}, {Frame: 14, Shutter: "180"}, {Frame: 27, Preset: pipeline.Best, Shutter: "360"},
		{Frame: 14, Regions: []pipeline.Region{{Method: pipeline.DrawnMotion, Outline: [][2]float64{{5, 5}, {40, 9}, {20, 30}}, Arrows: [][4]float64{{10, 10, 18, 12}}}}},
	} {
		o := options(input)
		o.Timing.Rate, o.Timing.To = pipeline.Rate{Value: big.NewRat(100, 1)}, big.NewRat(42, 100)
		o.Synthesis.Preset, o.Synthesis.Decisions = pipeline.Balanced, []pipeline.Decision{d}
		var want []Hash
		one := o
		one.Output.File, one.Hooks.Digest = filepath.Join(t.TempDir(), "one.mkv"), func(_ int64, d pipeline.Digest) { want = append(want, Hash(d)) }
		if _, err := pipeline.Run(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		p, err := New(t.Context(), o, Options{Length: big.NewRat(14, 100), Even: true, Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Ranges) != 3 || p.Ranges[1].First != 14 {
			t.Fatalf("ranges %v, want a border at 14", p.Ranges)
		}
		for i, r := range p.Ranges {
			m, _, err := p.Make(t.Context(), t.TempDir(), i, pipeline.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(m.Digests, want[r.First:r.End]) {
				t.Errorf("%+v: range %d is not what one run makes", d, i)
			}
		}
	}
}
