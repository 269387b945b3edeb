package interpolate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"retime/frame"
	"retime/interpolate"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/timeline"
	"retime/testdata/scene"
	"retime/warp"
)

var formats = []frame.Format{
	{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1},
	{Name: "yuv420p10le", Depth: 10, Planes: 3, ChromaX: 1, ChromaY: 1},
	{Name: "yuv422p16le", Depth: 16, Planes: 3, ChromaX: 1},
	{Name: "yuv444p", Depth: 8, Planes: 3},
	{Name: "gbrp", Depth: 8, Planes: 3, RGB: true},
	{Name: "gbrp16le", Depth: 16, Planes: 3, RGB: true},
	{Name: "gray", Depth: 8, Planes: 1},
}

const (
	width, height = 118, 74
	pictures      = 12
)

// fill draws picture n: things move under a still mark and a counter; pictures 6 and 7 are the same, and a scene
// begins with picture 9.
func fill(f *frame.Frame, n int64) {
	at := float64(n) / 24
	if n == 7 {
		at = 6. / 24
	}
	if n >= 9 {
		at = 40 + float64(n)/24
	}
	y := scene.Draw(width, height, at).Y
	for i, p := range f.Planes {
		sx, sy := f.Format.Subsampling(i)
		for row := range p.Height {
			for x := range p.Width {
				v := y[min(row<<sy, height-1)*width+min(x<<sx, width-1)]
				if i == 0 && x > 80 && x < 100 && row > 50 && row < 60 && (x+row)%4 < 2 {
					v = 235
				}
				if x<<sx >= 4 && x<<sx < 44 && row<<sy >= 36 && row<<sy < 70 {
					v = counter(x<<sx-18, row<<sy-44, at, i == 0 || f.Format.RGB)
				}
				if f.Format.Bytes() == 1 {
					frame.Samples[uint8](p).Row(row)[x] = v
				} else {
					frame.Samples[uint16](p).Row(row)[x] = uint16(v)<<(f.Format.Depth-8) + uint16(x*row&(1<<(f.Format.Depth-8)-1))
				}
			}
		}
	}
}

// counter is a sample of a black box with cells of 4 pixels, some of which are white in each picture.
func counter(x, y int, at float64, luma bool) uint8 {
	switch n := int(at * 24); {
	case !luma:
		return 128
	case x >= 0 && x < 12 && y >= 0 && y < 16 && (n*37+11)>>(x/4+y/4*3)&1 == 1:
		return 235
	}
	return 16
}

// clip is the source and the sink of a conversion.
type clip struct {
	format frame.Format
	rate   *big.Rat
	ticks  int64 // per picture
	next   int64
	frames [][]byte
}

func (c *clip) Video() timeline.Video {
	base := new(big.Rat).Inv(new(big.Rat).Mul(c.rate, big.NewRat(c.ticks, 1)))
	return timeline.Video{Format: c.format, Width: width, Height: height, TimeBase: base, Rate: c.rate, Average: c.rate, Start: new(big.Rat)}
}

func (c *clip) Read() (*frame.Frame, error) {
	if c.next == pictures {
		return nil, io.EOF
	}
	f := frame.New(c.format, width, height)
	fill(f, c.next)
	f.PTS, f.Duration = c.next*c.ticks, c.ticks
	c.next++
	return f, nil
}

func (c *clip) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

func (c *clip) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	c.frames = append(c.frames, samples(f))
	return nil
}

func samples(f *frame.Frame) (b []byte) {
	for _, p := range f.Planes {
		for y := range p.Height {
			b = append(b, p.Pix[y*p.Stride:][:p.Width*f.Format.Bytes()]...)
		}
	}
	return b
}

// trial is a conversion, and the same by package interpolate.
type trial struct {
	format  frame.Format
	options interpolate.Options
}

func (c *trial) String() string {
	o := &c.options
	return fmt.Sprintf("%s %s %s %s to %s, %d threads", c.format.Name, o.Synthesis.Preset, o.Synthesis.Mode, o.Rate.RatString(), o.Timing.Rate.RatString(), o.Threads)
}

// converted returns the frames and the records of the conversion, all or only some.
func (c *trial) converted(t *testing.T, only ...int64) (frames [][]byte, records []pipeline.Record) {
	t.Helper()
	const fine = 16 // more than a tick between any frames, which would be taken for rounding
	o := &c.options
	step := new(big.Rat).Quo(o.Rate, o.Timing.Rate) // in pictures
	end := new(big.Rat).Quo(big.NewRat(pictures, 1), step)
	s := &clip{format: c.format, rate: o.Rate, ticks: fine * step.Denom().Int64()}
	var at []int64
	for k := int64(0); big.NewRat(k, 1).Cmp(end) < 0; k++ {
		if len(only) == 0 || slices.Contains(only, k) {
			at = append(at, fine*k*step.Num().Int64())
		}
	}
	repeats := pipeline.KeepDuplicates
	if o.Synthesis.DropRepeats {
		repeats = pipeline.RetimeDuplicates
	}
	var tune pipeline.Tune
	if o.Synthesis.Animation {
		tune = pipeline.Animation
	}
	_, err := pipeline.Convert(t.Context(), s, s, at, pipeline.Options{
		Input: pipeline.Input{Tune: tune}, Synthesis: pipeline.Synthesis{Preset: o.Synthesis.Preset, Mode: o.Synthesis.Mode, Duplicates: repeats, BlendBelow: o.Synthesis.BlendBelow},
		Compute: pipeline.Compute{Backend: pipeline.CPU, Threads: 2},
		Hooks:   pipeline.Hooks{Record: func(r pipeline.Record) { records = append(records, r) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.frames, records
}

func trials() (list []*trial) {
	rates := [][2]*big.Rat{
		{big.NewRat(24, 1), big.NewRat(48, 1)}, {big.NewRat(24, 1), big.NewRat(60, 1)},
		{big.NewRat(24000, 1001), big.NewRat(60, 1)}, {big.NewRat(50, 1), big.NewRat(30, 1)}, {big.NewRat(60, 1), big.NewRat(24, 1)},
	}
	for _, f := range formats {
		for _, p := range []motion.Preset{motion.Fast, motion.Balanced, motion.Best} {
			for _, m := range []warp.Mode{warp.Project, warp.Splat, warp.Blend, warp.Nearest} {
				for _, r := range rates {
					for _, threads := range []int{1, 2, 7} {
						list = append(list, &trial{f, interpolate.Options{
							Format: f, Width: width, Height: height, Rate: r[0], Threads: threads,
							Timing: interpolate.Timing{Rate: r[1]}, Synthesis: interpolate.Synthesis{Preset: p, Mode: m},
						}})
					}
				}
			}
		}
	}
	return list
}

// sample runs some of the trials; all of them if RETIME_LONG_TESTS is set. Half of them are of the
// default mode.
func sample(t *testing.T, list []*trial, n int, f func(t *testing.T, c *trial)) {
	random := rand.New(rand.NewPCG(34, 1))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	seen := map[warp.Mode]int{}
	for _, c := range list {
		mode := c.options.Synthesis.Mode
		most := n / 6
		if mode == warp.Project {
			most = n / 2
		}
		if seen[mode]++; seen[mode] <= most || os.Getenv("RETIME_LONG_TESTS") != "" {
			t.Run(c.String(), func(t *testing.T) { f(t, c) })
		}
	}
}

// A clip's frames, in any order and from several goroutines, are those of a conversion, and each
// needs no picture but those that it names. Exact.
func TestClip(t *testing.T) { sample(t, trials(), 12, compare) }

// So are those that are cross-faded where motion cannot be trusted, here all, and those of animation, which are not.
func TestClipBlends(t *testing.T) {
	c := &trial{formats[0], interpolate.Options{
		Format: formats[0], Width: width, Height: height, Rate: big.NewRat(24, 1), Threads: 2,
		Timing: interpolate.Timing{Rate: big.NewRat(60, 1)}, Synthesis: interpolate.Synthesis{Preset: motion.Fast, Mode: warp.Project, BlendBelow: new(1.)},
	}}
	compare(t, c)
	blended, _ := c.converted(t)
	c.options.Synthesis.Animation = true
	compare(t, c)
	if drawn, _ := c.converted(t); slices.EqualFunc(blended, drawn, bytes.Equal) {
		t.Error("animation is cross-faded as footage is")
	}
}

func compare(t *testing.T, c *trial) {
	want, records := c.converted(t)
	v, err := interpolate.NewClip(c.options, pictures)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if n := v.Frames(); n != int64(len(want)) {
		t.Fatalf("%d frames, want %d", n, len(want))
	}
	rate, _ := c.options.Rate.Float64()
	jobs := make(chan int)
	var making sync.WaitGroup
	for range 3 {
		making.Go(func() {
			dst := frame.New(c.format, width, height)
			for k := range jobs {
				check(t, v, dst, k, want[k], records[k], rate)
			}
		})
	}
	for _, k := range rand.New(rand.NewPCG(34, 2)).Perm(len(want)) {
		jobs <- k
	}
	close(jobs)
	making.Wait()
}

func check(t *testing.T, v *interpolate.Clip, dst *frame.Frame, k int, want []byte, r pipeline.Record, rate float64) {
	first, last, err := v.Needs(int64(k))
	if err != nil {
		t.Error(err)
	}
	info, err := v.Make(context.Background(), dst, int64(k), func(f *frame.Frame, n int64) error {
		if n < first || n > last {
			t.Errorf("frame %d reads picture %d, not one of %d to %d", k, n, first, last)
		}
		fill(f, n)
		return nil
	})
	if err != nil {
		t.Error(err)
		return
	}
	if !bytes.Equal(samples(dst), want) {
		t.Errorf("frame %d differs", k)
	}
	if info.Kind != kindOf(r, rate) || info.Confidence != r.Confidence {
		t.Errorf("frame %d is %q, of confidence %v; the conversion's: %+v", k, info.Kind, info.Confidence, r)
	}
}

// kindOf tells a frame's kind from its record, whose time counts on the clock of the pictures.
func kindOf(r pipeline.Record, rate float64) interpolate.Kind {
	switch {
	case r.Method == pipeline.Interpolated:
		return interpolate.Made
	case r.Method == pipeline.Blended:
		return interpolate.Blended
	case r.Method == pipeline.Nearest && r.Cut:
		return interpolate.Cut
	case r.Method == pipeline.FromSource && math.Abs(r.Time*rate-float64(r.Sources[0])) < 1e-9:
		return interpolate.AsShot
	}
	return interpolate.Held
}

// A stream's frames are those of a conversion, also if repeats are left out. Exact.
func TestStream(t *testing.T) {
	list := trials()
	for i, c := range list {
		c.options.Synthesis.DropRepeats = i%2 == 0
		c.options.Synthesis.Animation = i%4 == 0 && c.options.Synthesis.Mode.UsesFlow()
	}
	sample(t, list, 6, func(t *testing.T, c *trial) {
		want, _ := c.converted(t)
		s, err := interpolate.NewStream(c.options)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		n := 0
		pull := func() error {
			for {
				f, err := s.Pull()
				if f == nil {
					return err
				}
				if f.Number != int64(n) || n >= len(want) || !bytes.Equal(samples(f.Frame), want[n]) {
					t.Errorf("frame %d (%d) differs", n, f.Number)
				}
				n++
				f.Release()
			}
		}
		for k := range int64(pictures) {
			f := s.NewPicture()
			fill(f, k)
			if err := s.Push(f); err != nil {
				t.Fatal(err)
			}
			if err := pull(); err != nil {
				t.Fatal(err)
			}
		}
		s.Finish()
		if err := pull(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		if n != len(want) {
			t.Errorf("%d frames, want %d", n, len(want))
		}
	})
}

// Frames between which there are pictures that no frame is made of do not depend on each other.
func TestFramesFarApart(t *testing.T) {
	c := &trial{formats[0], interpolate.Options{Rate: big.NewRat(50, 1), Timing: interpolate.Timing{Rate: big.NewRat(30, 1)}}}
	all, _ := c.converted(t)
	for _, k := range []int64{1, 2, 4} {
		if alone, _ := c.converted(t, k); !bytes.Equal(alone[0], all[k]) {
			t.Errorf("frame %d alone is another", k)
		}
	}
}

// A picture that cannot be had fails the frame, and the next call makes it.
func TestClipTriesAgain(t *testing.T) {
	o := interpolate.Options{Format: formats[0], Width: width, Height: height, Rate: big.NewRat(24, 1), Timing: interpolate.Timing{Slow: big.NewRat(2, 1)}}
	v, err := interpolate.NewClip(o, pictures)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	broken := errors.New("broken")
	dst := frame.New(o.Format, width, height)
	for _, missing := range []int64{1, 0, 3, -1} {
		_, err := v.Make(t.Context(), dst, 3, func(f *frame.Frame, n int64) error {
			if n == missing {
				return broken
			}
			fill(f, n)
			return nil
		})
		if missing >= 0 != errors.Is(err, broken) {
			t.Errorf("without picture %d: %v", missing, err)
		}
	}
}

// Options that make no sense are refused.
func TestRefusedOptions(t *testing.T) {
	good := interpolate.Options{Format: formats[0], Width: width, Height: height, Rate: big.NewRat(24, 1)}
	for i, change := range []func(o *interpolate.Options){
		func(o *interpolate.Options) { o.Width = 0 }, func(o *interpolate.Options) { o.Height = 1 << 20 },
		func(o *interpolate.Options) { o.Format.Depth = 7 }, func(o *interpolate.Options) { o.Format.Planes = 5 },
		func(o *interpolate.Options) { o.Rate = nil }, func(o *interpolate.Options) { o.Rate = new(big.Rat) },
		func(o *interpolate.Options) { o.Timing.Slow = big.NewRat(-1, 1) },
		func(o *interpolate.Options) { o.Timing.Times = []*big.Rat{big.NewRat(2, 1), big.NewRat(1, 1)} },
		func(o *interpolate.Options) { o.Synthesis.Preset = "slow" }, func(o *interpolate.Options) { o.Synthesis.Mode = "draw" },
		func(o *interpolate.Options) { o.Synthesis.SceneThreshold = new(-1.) },
		func(o *interpolate.Options) { o.Synthesis.BlendBelow = new(2.) }, func(o *interpolate.Options) { o.Threads = -1 },
		func(o *interpolate.Options) { o.Synthesis.DropRepeats = true },
		func(o *interpolate.Options) { o.Light = frame.Light{Transfer: frame.PQ, Floats: true} },
	} {
		o := good
		change(&o)
		if c, err := interpolate.NewClip(o, pictures); fault.KindOf(err) != fault.Usage {
			t.Errorf("options %d: %v, %v", i, c, err)
		}
	}
}

// The package links the C library alone.
func TestNeedsNoFFmpeg(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if strings.Contains(p, "astiav") || strings.Contains(p, "gocv") {
			t.Errorf("links %s", p)
		}
	}
}
