package stages_test

import (
	"context"
	"errors"
	"io"
	"math/big"
	"sync/atomic"
	"testing"

	"retime/frame"
	"retime/internal/runtest"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/stages"
)

// failingSink fails after some frames, as a full disk does.
type failingSink struct {
	pipeline.Sink
	left int
}

func (s *failingSink) WriteFrame(f *frame.Frame, from, to *big.Rat) error {
	if s.left--; s.left < 0 {
		return errors.New("disk full")
	}
	return s.Sink.WriteFrame(f, from, to)
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
	o := pipeline.Options{Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Compute: pipeline.Compute{Threads: 2}}
	for range 3000 {
		if err := throughPlan(t.Context(), t, &brokenSource{}, &o, &runtest.MemorySink{}); !errors.Is(err, io.ErrNoProgress) {
			t.Fatalf("%v, want %v", err, io.ErrNoProgress)
		}
	}
}

// throughPlan converts source, a film, as o says.
func throughPlan(ctx context.Context, t *testing.T, source pipeline.Source, o *pipeline.Options, sink pipeline.Sink) error {
	t.Helper()
	c := settled(t, *o)
	plan, err := c.Plan(source.Video())
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
func testReleases(t *testing.T, decisions []pipeline.Decision) {
	t.Helper()
	for _, left := range []int{-1, 0, 7, 30, 1000} {
		o := pipeline.Options{Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(60, 1)}}, Compute: pipeline.Compute{Threads: 8}}
		o.Synthesis.Decisions = decisions
		sink := &runtest.MemorySink{}
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
		if left == 1000 && sink.Frames != 50 {
			t.Errorf("%d frames, want 50", sink.Frames)
		}
		if held := source.held.Load(); held != 0 {
			t.Errorf("sink that takes %d: %d frames are still held", left, held)
		}
	}
}
