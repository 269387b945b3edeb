package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"retime/flow"
	"retime/pipeline"
	"retime/pipeline/curve"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/timeline"
)

func ffmpeg(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffmpeg program; make deps installs it")
	}
	if err != nil {
		t.Fatalf("ffmpeg %q: %v\n%s", args, err, out)
	}
	return string(out)
}

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

// A join that waits begins before any segment is made, and joins what one that comes
// last does.
func TestJoinWaitsForSegments(t *testing.T) {
	p := newPlan(t, options(clip(t)), 4)
	dir, early, late := filepath.Join(t.TempDir(), "segments"), filepath.Join(t.TempDir(), "early.mkv"), filepath.Join(t.TempDir(), "late.mkv")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifestName(dir, 0), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	left := len(p.Ranges) // made from the last one on
	local := pipeline.Options{Output: pipeline.Output{File: early}}
	local.Hooks.Progress = func(pipeline.Progress) {
		if left == 0 {
			return
		}
		left--
		if _, made, err := p.Make(t.Context(), dir, left, pipeline.Options{}); err != nil || !made {
			t.Error(made, err)
		}
	}
	if _, err := p.JoinArriving(t.Context(), dir, local); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Join(t.Context(), dir, pipeline.Options{Output: pipeline.Output{File: late}}); err != nil {
		t.Fatal(err)
	}
	if a, b := content(t, early), content(t, late); !slices.Equal(a, b) {
		t.Errorf("%d lines of packets and pictures, want %d", len(a), len(b))
	}
	// It ends with its context, and leaves nothing.
	ctx, cancel := context.WithCancel(t.Context())
	local.Hooks.Progress = func(pipeline.Progress) { cancel() }
	local.Output.File = filepath.Join(t.TempDir(), "never.mkv")
	if _, err := p.JoinArriving(ctx, filepath.Join(t.TempDir(), "none"), local); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(local.Output.File)); err != nil || len(left) > 0 {
		t.Errorf("cancelled: %v is left, %v", left, err)
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

// Plans run no commands, but an interrupted conversion goes on with its own.
func TestPlansRunNoCommands(t *testing.T) {
	o := options(clip(t))
	o.Synthesis.Flow = "command=cat"
	if _, err := New(t.Context(), o, Options{Length: big.NewRat(2, 1), Program: "test"}); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "command") {
		t.Errorf("planned: %v", err)
	}
	p := full(t)
	p.Settings.Synthesis.Flow = "command=touch evil"
	name := filepath.Join(t.TempDir(), "plan.json")
	if err := p.Write(name); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPlan(name, "test"); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "touch evil") {
		t.Errorf("read: %v", err)
	}
	o.Synthesis.Flow = "command=exit 9"
	o.Output.File = filepath.Join(t.TempDir(), "out.mkv")
	if _, err := Convert(t.Context(), o, Options{Length: big.NewRat(2, 1), Program: "test"}); err == nil || !strings.Contains(err.Error(), "exit status 9") {
		t.Errorf("converted: %v", err)
	}
}

// content returns the hashes of a file's pictures and sound packets with their times.
func content(t testing.TB, name string) []string {
	t.Helper()
	return strings.Split(ffmpeg(t, "-i", name, "-map", "0:v", "-f", "framemd5", "-")+
		ffmpeg(t, "-i", name, "-map", "0:a", "-c", "copy", "-f", "framemd5", "-"), "\n")
}

func TestJoinKeepsWhatOneRunWrites(t *testing.T) {
	o := options(clip(t))
	o.Output.VideoCodec, o.Output.Format = "libx264", "mp4"
	p := newPlan(t, o, 5)
	dir := t.TempDir()
	makeAll(t, p, dir, []int{0, 1, 2, 3, 4})
	joined := filepath.Join(t.TempDir(), "joined.mp4")
	if _, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: joined}}); err != nil {
		t.Fatal(err)
	}
	entries := func(name string) string {
		out, err := exec.Command("ffprobe", "-v", "error", "-show_entries",
			"stream=codec_name,nb_frames,duration,start_time,has_b_frames,avg_frame_rate", "-of", "compact", name).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	one := filepath.Join(t.TempDir(), "whole.mp4")
	whole(t, o, one)
	if a, b := entries(one), entries(joined); a != b {
		t.Errorf("joined:\n%s\none run:\n%s", b, a)
	}
	// The file plays without complaint, and has every picture at its time.
	times := ffmpeg(t, "-xerror", "-i", joined, "-map", "0:v", "-f", "framemd5", "-")
	if n := strings.Count(times, "\n0,"); n != 200 {
		t.Errorf("%d pictures play, want 200", n)
	}
	_, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: filepath.Join(t.TempDir(), "joined.ts")}})
	if fault.KindOf(err) != fault.Usage {
		t.Errorf("joining MP4's stream into a transport stream: %v", err)
	}
}

// The sound of a joined part holds nothing from before it.
func TestJoinOfAPartHasItsOwnSound(t *testing.T) {
	attack := filepath.Join(t.TempDir(), "attack.mkv")
	ffmpeg(t, "-i", clip(t), "-f", "lavfi", "-i", "aevalsrc='if(between(t,0.5,0.7),0.9*exp(-20*(t-0.5))*sin(2000*t),0)':s=48000:d=4",
		"-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-g", "300", "-c:a", "pcm_s16le", attack)
	o := options(attack)
	o.Timing.Rate, o.Timing.From, o.Timing.Slow = pipeline.Rate{}, big.NewRat(2, 1), big.NewRat(2, 1)
	p := newPlan(t, o, 3)
	dir, joined := t.TempDir(), filepath.Join(t.TempDir(), "joined.mkv")
	makeAll(t, p, dir, []int{0, 1, 2})
	if _, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: joined}}); err != nil {
		t.Fatal(err)
	}
	silence := bytes.Repeat([]byte{0}, 2*4*48000)
	if got := ffmpeg(t, "-i", joined, "-map", "0:a", "-f", "s16le", "-"); got != string(silence) {
		t.Errorf("%d bytes of sound, want %d of silence", len(got), len(silence))
	}
}

func TestRefusals(t *testing.T) {
	input := clip(t)
	back := []curve.Keyframe{{Source: big.NewRat(1, 1), Output: new(big.Rat), Shape: curve.Linear}, {Source: new(big.Rat), Output: big.NewRat(1, 1), Shape: curve.Linear}}
	for _, test := range []struct {
		name string
		set  func(o *pipeline.Options)
		want string
	}{
		{"backward", func(o *pipeline.Options) { o.Timing.Curve, o.Timing.Rate = back, pipeline.Rate{} }, "Timing.Curve"},
		{"times kept", func(o *pipeline.Options) { o.Timing.KeepTimestamps = true }, "Timing.KeepTimestamps"},
		{"standard input", func(o *pipeline.Options) { o.Input.File = "-" }, "cannot be read in parts"},
		{"wrapped frames", func(o *pipeline.Options) { o.Output.Format, o.Output.VideoCodec = "yuv4mpegpipe", "" }, "Output.Format"},
		{"no such container", func(o *pipeline.Options) { o.Output.Format = "none" }, "none"},
	} {
		o := options(input)
		test.set(&o)
		_, err := New(context.Background(), o, Options{Length: big.NewRat(1, 1), Program: "test"})
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want a usage error with %q", test.name, err, test.want)
		}
	}
}

func TestChangedInputIsRefused(t *testing.T) {
	input := clip(t)
	p := newPlan(t, options(input), 2)
	dir := t.TempDir()
	b, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	makeAll(t, p, dir, []int{0, 1})
	b[len(b)/2]++
	if err := os.WriteFile(input, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Make(context.Background(), dir, 0, pipeline.Options{}); fault.KindOf(err) != fault.BadData {
		t.Errorf("segment: %v, want bad data", err)
	}
	// A change whose time is set back shows only if all of the file is read.
	if err := os.Chtimes(input, p.Input.Modified, p.Input.Modified); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv")}}); fault.KindOf(err) != fault.BadData {
		t.Errorf("join: %v, want bad data", err)
	}
	if _, err := p.Verify(context.Background(), dir, 1, pipeline.Options{}); fault.KindOf(err) != fault.BadData {
		t.Errorf("verify: %v, want bad data", err)
	}
}

func TestPlansAreReadBack(t *testing.T) {
	o := options(clip(t))
	o.Synthesis.Scenes, o.Timing.Curve = rats(900), nil
	crf := 20
	o.Output.CRF, o.Output.VideoOptions = &crf, map[string]string{"level": "3"}
	o.Output.VideoCodec = "libx264"
	p := newPlan(t, o, 3)
	name := filepath.Join(t.TempDir(), "plan.json")
	if err := p.Write(name); err != nil {
		t.Fatal(err)
	}
	q, err := ReadPlan(name, "test")
	if err != nil {
		t.Fatal(err)
	}
	if p.ID() != q.ID() || !reflect.DeepEqual(p.Ranges, q.Ranges) {
		t.Errorf("read %+v, wrote %+v", q, p)
	}
	if _, err := ReadPlan(name, "another"); fault.KindOf(err) != fault.BadData {
		t.Errorf("another version: %v, want bad data", err)
	}
	if _, err := ReadPlan(name+"x", "test"); fault.KindOf(err) != fault.NoInput {
		t.Errorf("no plan: %v, want no input", err)
	}
	text, _ := os.ReadFile(name)
	for _, change := range [][2]string{
		{`"retime plan 4"`, `"retime plan 5"`}, {`"first": 0`, `"first": 1`}, {`"ranges"`, `"rangers"`}, {`"rate": "50"`, `"rate": "0"`},
		{"}", ""},
	} {
		if _, err := parsePlan(bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)); err == nil {
			t.Errorf("a plan with %s for %s is accepted", change[1], change[0])
		}
	}
}

func TestDivide(t *testing.T) {
	for _, test := range []struct {
		frames, count int64
		scenes        []int64
		want          []int64 // ends of the ranges
	}{
		{10, 1, nil, []int64{10}},
		{10, 3, nil, []int64{3, 6, 10}},
		{100, 4, []int64{20, 24, 51, 70, 99}, []int64{24, 51, 70, 100}},
		{100, 4, []int64{1, 10, 40, 60, 90}, []int64{25, 50, 75, 100}},
	} {
		var ends []int64
		at := int64(0)
		for _, r := range divide(test.frames, test.count, test.scenes) {
			if r.First != at {
				t.Errorf("%+v: a range begins at %d, not %d", test, r.First, at)
			}
			at = r.End
			ends = append(ends, at)
		}
		if !slices.Equal(ends, test.want) {
			t.Errorf("%d in %d at %d: ends %d, want %d", test.frames, test.count, test.scenes, ends, test.want)
		}
	}
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
	m, err := p.check(dir, 1, true)
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

// A decision about a frame on the other side of a range's border, or in the interval beside
// the range, counts as in one run.
func TestDecisionsAcrossABorder(t *testing.T) {
	input, cut := clip(t), true
	for _, d := range []pipeline.Decision{
		{Frame: 10, Cut: &cut}, {Frame: 13, Cut: &cut}, {Frame: 14, Cut: &cut}, {Frame: 15, Cut: &cut}, {Frame: 17, Cut: &cut}, {Frame: 30, Cut: &cut},
		{Frame: 13, Preset: pipeline.Fast}, {Frame: 14, Preset: pipeline.Fast}, {Frame: 14, Shutter: "180"}, {Frame: 27, Preset: pipeline.Best, Shutter: "360"},
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

// An encoder that was chosen for the source is set up alike in every part and in the
// joined file, whose container gets the plan's options.
func TestChosenEncoderIsJoined(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25", "-t", "1", "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-x265-params", "log-level=error", in)
	o := pipeline.Options{
		Input: pipeline.Input{File: in}, Synthesis: pipeline.Synthesis{Mode: "blend"},
		Output: pipeline.Output{File: filepath.Join(dir, "out.mp4"), MuxOptions: map[string]string{"brand": "dash"}},
	}
	p := newPlan(t, o, 2)
	makeAll(t, p, dir, []int{1, 0})
	if p.Whole.Parameters.Encoder != "libx265" {
		t.Errorf("the encoder is %s", p.Whole.Parameters.Encoder)
	}
	if _, err := p.Join(t.Context(), dir, pipeline.Options{Output: pipeline.Output{File: o.Output.File}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(o.Output.File)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data[4:], []byte("ftypdash")) {
		t.Errorf("the file begins with %q", data[4:12])
	}
}
