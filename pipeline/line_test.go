package pipeline

import (
	"context"
	"errors"
	"io"
	"math/big"
	"sync/atomic"
	"testing"

	"retime/frame"
	"retime/pipeline/media"
	"retime/pipeline/stages"
)

// failingSink fails after some frames, as a full disk does.
type failingSink struct {
	Sink
	left int
}

func (s *failingSink) WriteFrame(f *frame.Frame, from, to *big.Rat) error {
	if s.left--; s.left < 0 {
		return errors.New("disk full")
	}
	return s.Sink.WriteFrame(f, from, to)
}

type memorySink struct{ frames int }

func (s *memorySink) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

func (s *memorySink) WriteFrame(*frame.Frame, *big.Rat, *big.Rat) error {
	s.frames++
	return nil
}

// countingSource counts how many of its frames are still held.
type countingSource struct {
	frames, read int
	held         atomic.Int32
}

func (s *countingSource) Video() media.Video { return film }

func (s *countingSource) Read() (*frame.Frame, error) {
	if s.read == s.frames {
		return nil, io.EOF
	}
	format := frame.Format{Name: "gray", Depth: 8, Planes: 1}
	plane := frame.New(format, 16, 16).Planes
	f := frame.Wrap(format, 16, 16, plane, func(*frame.Frame) { s.held.Add(-1) })
	s.held.Add(1)
	f.PTS, f.Duration = int64(s.read), 1
	s.read++
	return f, nil
}

// film is video of 24 frames a second, of which nothing else is known.
var film = media.Video{TimeBase: big.NewRat(1, 24), Rate: big.NewRat(24, 1), Average: big.NewRat(24, 1), Start: new(big.Rat)}

// brokenSource fails at once.
type brokenSource struct{ countingSource }

func (*brokenSource) Read() (*frame.Frame, error) { return nil, io.ErrNoProgress }

// The stages behind one that fails see their queues end. What they make of that does
// not hide the cause: each of many runs tells of it.
func TestTheCauseIsTold(t *testing.T) {
	o := Options{Input: Input{File: "a"}, Output: Output{File: "b"}, Compute: Compute{Threads: 2}}
	for range 3000 {
		if err := throughPlan(t.Context(), t, &brokenSource{}, &o, &memorySink{}); !errors.Is(err, io.ErrNoProgress) {
			t.Fatalf("%v, want %v", err, io.ErrNoProgress)
		}
	}
}

// throughPlan converts source, a film, as o says.
func throughPlan(ctx context.Context, t *testing.T, source Source, o *Options, sink Sink) error {
	t.Helper()
	c := settled(t, *o)
	plan, err := newPlan(c, source.Video())
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Synthesizer()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return c.Line(plan, sink, s).Run(ctx, source, &plan.Passes[0], stages.Whole())
}

func TestEveryFrameIsReleased(t *testing.T) { testReleases(t, nil) }

// testReleases fails if a conversion with some decisions keeps a picture, however it ends.
func testReleases(t *testing.T, decisions []Decision) {
	t.Helper()
	for _, left := range []int{-1, 0, 7, 30, 1000} {
		o := Options{Input: Input{File: "a"}, Output: Output{File: "b"}, Timing: Timing{Rate: Rate{Value: big.NewRat(60, 1)}}, Compute: Compute{Threads: 4}}
		o.Synthesis.Decisions = decisions
		sink := &memorySink{}
		source := &countingSource{frames: 20}
		ctx, cancel := context.WithCancel(context.Background())
		if left < 0 {
			cancel()
		}
		err := throughPlan(ctx, t, source, &o, &failingSink{sink, left})
		cancel()
		if (err == nil) != (left == 1000) {
			t.Errorf("sink that takes %d: error %v", left, err)
		}
		if left == 1000 && sink.frames != 50 {
			t.Errorf("%d frames, want 50", sink.frames)
		}
		if held := source.held.Load(); held != 0 {
			t.Errorf("sink that takes %d: %d frames are still held", left, held)
		}
	}
}
