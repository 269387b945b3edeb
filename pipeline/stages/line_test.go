package stages

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"slices"
	"sync/atomic"
	"testing"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
)

// levels is a source of flat pictures, one every ten units of a hundredth of a second, which are
// as grey as their timestamps, and keeps the grey of the frames that are made.
type levels struct {
	next, end int64
	made      []uint8
}

func (s *levels) Video() timeline.Video {
	return timeline.Video{Width: 16, Height: 16, TimeBase: big.NewRat(1, 100), Start: new(big.Rat)}
}

func (s *levels) Read() (*frame.Frame, error) {
	if s.next >= s.end {
		return nil, io.EOF
	}
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 16, 16)
	for i := range f.Planes[0].Pix {
		f.Planes[0].Pix[i] = uint8(s.next)
	}
	f.PTS, f.Duration = s.next, 10
	s.next += 10
	return f, nil
}

func (s *levels) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

func (s *levels) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	s.made = append(s.made, f.Planes[0].Pix[0])
	return nil
}

// crossFades are the Params of a line that makes frames without flow.
func crossFades() Params {
	return Params{
		Params: warp.Params{Mode: warp.Blend, Workers: frame.Workers{N: 1}}, Way: decision.Way{Preset: motion.Fast, Shutter: "0"},
		Flow: Flow{
			Method: motion.DIS, Workers: 1,
			Estimator: func(ctx context.Context) (*motion.Estimator, error) {
				return motion.NewEstimator(ctx, motion.Params{Method: motion.DIS, Log: slog.New(slog.DiscardHandler)})
			},
		},
		SceneThreshold: 1, Hooks: Hooks{Log: slog.New(slog.DiscardHandler)},
	}
}

// through makes the frames of a range at timestamps.
func through(t *testing.T, s *levels, at []int64, want Range) error {
	t.Helper()
	cpu, err := synth.NewCPU(warp.Params{Mode: warp.Blend, Workers: frame.Workers{N: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	plan := timeline.NewPlanAt(s.Video(), at)
	return NewLine(crossFades(), plan, s, cpu).Run(t.Context(), s, &plan.Passes[0], want)
}

// A range has the frames of the whole, and its source is read no further than they need.
func TestRange(t *testing.T) {
	at := []int64{0, 5, 10, 15, 20, 24, 30, 37, 45, 50, 90}
	s := &levels{end: 200}
	if err := through(t, s, at, Range{First: 3, End: 6}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.made, []uint8{15, 20, 24}) {
		t.Errorf("frames of %d, want 15, 20 and 24", s.made)
	}
	if s.next == s.end {
		t.Error("the source was read to its end")
	}
}

// A source that is read midway must begin before the first frame; if not, no frame is written.
func TestReadingBeginsTooLate(t *testing.T) {
	at := []int64{0, 5, 10, 15, 20, 24, 30, 37}
	for _, c := range []struct {
		begin int64
		late  bool
	}{{0, false}, {10, true}, {20, true}} {
		s := &levels{next: c.begin, end: 60}
		if err := through(t, s, at, Range{First: 3, End: 6, Midway: true}); errors.Is(err, ErrLate) != c.late || !c.late && err != nil {
			t.Errorf("from %d on: %v; late %t", c.begin, err, c.late)
		}
		if c.late && len(s.made) > 0 {
			t.Errorf("from %d on, %d frames were written", c.begin, len(s.made))
		}
	}
}

// counted is something that must be released.
type counted struct{ left *atomic.Int32 }

func (c counted) Release() { c.left.Add(-1) }

// The first error ends all stages, and what they have not taken from the queues is released.
func TestStagesEnd(t *testing.T) {
	var left atomic.Int32
	fails := errors.New("fails")
	s := newStages(t.Context())
	first := connect(s, 3, func(_ context.Context, emit func(counted) error) error {
		for {
			left.Add(1)
			if err := emit(counted{&left}); err != nil {
				return err
			}
		}
	})
	second := connect(s, 1, func(_ context.Context, emit func(counted) error) error {
		for v := range first {
			if err := emit(v); err != nil {
				return err
			}
		}
		return nil
	})
	s.start(func(context.Context) error {
		(<-second).Release()
		return fails
	})
	if err := s.wait(); !errors.Is(err, fails) {
		t.Errorf("%v, want the stage's error", err)
	}
	if n := left.Load(); n != 0 {
		t.Errorf("%d are left", n)
	}
}

// A cell belongs to an outline if its centre lies inside, by the even-odd rule.
func TestCells(t *testing.T) {
	r := &run{video: timeline.Video{Width: 9, Height: 4}, scale: motion.Scale{Level: 1}}
	outlines := [][][2]float64{{{2, 0}, {4, 0}, {4, 2}, {2, 2}}, {{6, 0}, {10, 0}, {10, 4}, {6, 4}}}
	for _, outside := range []bool{false, true} {
		m := r.cells(outlines, outside)
		want := []uint8{255, 0, 255, 0, 0, 255, 255, 255, 0, 0}
		if m.Width != 5 || m.Height != 2 {
			t.Fatalf("%dx%d cells, want 5x2", m.Width, m.Height)
		}
		for i, v := range want {
			if got := m.Row(i / 5)[i%5]; got != v && !outside || got == v && outside {
				t.Errorf("outside %t: cell %d is %d", outside, i, got)
			}
		}
	}
}

// A listed scene begins within the interval that ends with its first picture, whatever the last
// digit that the list has left.
func TestListedCuts(t *testing.T) {
	p := crossFades()
	p.Scenes = []*big.Rat{big.NewRat(333_333, 1_000_000), big.NewRat(1, 1)}
	c := newCuts(&p)
	thirds := func(k int64) *Picture { return &Picture{At: big.NewRat(k, 3)} }
	for k, want := range []bool{true, false, true, false} {
		if got := c.within(&Interval{A: thirds(int64(k)), B: thirds(int64(k) + 1)}, false); got != want {
			t.Errorf("between pictures %d and %d: %t, want %t", k, k+1, got, want)
		}
	}
}

// As many pictures wait for several runs as one of them may need, and no more.
func TestDividedAhead(t *testing.T) {
	repeats := crossFades()
	repeats.DropRepeats = true
	faded := repeats
	faded.Animation = true
	holds := faded
	holds.Mode = warp.Project
	of := func(p Params) *run { return &run{Line: &Line{params: p}} }
	for _, c := range []struct {
		name string
		runs []*run
		want int
	}{
		{"neither", []*run{of(crossFades()), of(crossFades())}, 2},
		{"repeats", []*run{of(repeats), of(repeats)}, 16},
		{"cross-fades of animation", []*run{of(faded), of(faded)}, 16},
		{"repeats in parts", []*run{of(holds), of(holds)}, 36},
	} {
		if got := dividedAhead(c.runs); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
