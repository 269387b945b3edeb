package synth

import (
	"context"
	"errors"
	"testing"

	"retime/frame"
	"retime/warp"
)

// hosted is an Interval whose Host does something first.
type hosted struct {
	InHost
	first func() error
}

func (h hosted) Host() (warp.Interval, error) {
	if err := h.first(); err != nil {
		return warp.Interval{}, err
	}
	return h.InHost.Host()
}

// greys returns an interval between frames of one pixel.
func greys(a, b uint8) InHost {
	grey := func(v uint8) *frame.Frame {
		f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 1, 1)
		frame.Samples[uint8](f.Planes[0]).Pix[0] = v
		return f
	}
	return InHost{A: grey(a), B: grey(b)}
}

func openCPU(t *testing.T, atOnce int) *onCPU {
	t.Helper()
	s, err := newCPU(warp.Params{Mode: warp.Blend, Order: 1, Workers: frame.Workers{N: 2}}, atOnce, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.(*onCPU)
}

func prepared(t *testing.T, s *onCPU, in Interval, frames int) *cpuJob {
	t.Helper()
	j, err := s.Prepare(t.Context(), Assignment{}, in, frames)
	if err != nil {
		t.Fatal(err)
	}
	return j.(*cpuJob)
}

// started starts a frame, and returns what finishes it and gives its pixel.
func started(t *testing.T, j Job, phase warp.Phase) func() (uint8, error) {
	t.Helper()
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 1, 1)
	finish, err := j.Start(t.Context(), f, phase)
	if err != nil {
		t.Fatal(err)
	}
	return func() (uint8, error) {
		_, err := finish()
		return frame.Samples[uint8](f.Planes[0]).Pix[0], err
	}
}

// The processor makes frames of several intervals at once: here, each interval waits for the
// other one.
func TestCPUMakesFramesAtOnce(t *testing.T) {
	s := openCPU(t, 2)
	var there [2]chan struct{}
	var jobs [2]*cpuJob
	for i := range there {
		there[i] = make(chan struct{})
	}
	for i := range jobs {
		jobs[i] = prepared(t, s, hosted{greys(uint8(100*i), uint8(100*i+60)), func() error {
			close(there[i])
			<-there[1-i]
			return nil
		}}, 2)
	}
	var finish []func() (uint8, error)
	for _, phase := range []warp.Phase{warp.PhaseOne / 4, warp.PhaseOne / 2} {
		for _, j := range jobs {
			finish = append(finish, started(t, j, phase))
		}
	}
	for i, want := range []uint8{15, 115, 30, 130} {
		if got, err := finish[i](); got != want || err != nil {
			t.Errorf("frame %d: %d, %v, want %d", i, got, err, want)
		}
	}
	for i, j := range jobs {
		if j.prepared != nil {
			t.Errorf("interval %d keeps its memory after its last frame", i)
		}
		j.Close()
	}
}

// A job that is closed early, or whose interval fails, leaves nothing behind.
func TestCPUJobEndsEarly(t *testing.T) {
	s := openCPU(t, 3)
	j := prepared(t, s, greys(0, 200), 3)
	if got, err := started(t, j, warp.PhaseOne/2)(); got != 100 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if j.prepared == nil {
		t.Error("the interval is gone before its last frame")
	}
	j.Close()
	if j.prepared != nil {
		t.Error("the interval is there after its end")
	}

	broken := errors.New("broken")
	j = prepared(t, s, hosted{greys(0, 0), func() error { return broken }}, 2)
	for range 2 {
		if _, err := started(t, j, 1)(); !errors.Is(err, broken) {
			t.Errorf("the interval fails, and the frame does with %v", err)
		}
	}
	j.Close()

	ctx, cancel := context.WithCancel(t.Context())
	j = prepared(t, s, hosted{greys(0, 0), func() error { cancel(); return nil }}, 2)
	finish, err := j.Start(ctx, frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 1, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := finish(); err != nil {
		t.Errorf("a frame that was begun before the end fails: %v", err)
	}
	if _, err := j.Start(ctx, nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a frame is started after the end: %v", err)
	}
	j.Close()
}

// Two large frames take the place of as many small ones as there may be.
func TestCPUMakesTwoLargeFramesAtOnce(t *testing.T) {
	s := openCPU(t, mostAtOnce)
	broken := errors.New("broken")
	begun, end := make(chan struct{}), make(chan struct{})
	var finish []func() (warp.Made, error)
	for range 2 {
		j := prepared(t, s, hosted{greys(0, 0), func() error {
			begun <- struct{}{}
			<-end
			return broken
		}}, 1)
		f, err := j.Start(t.Context(), frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 7680, 4320), 1)
		if err != nil {
			t.Fatal(err)
		}
		finish = append(finish, f)
	}
	<-begun
	<-begun
	if s.pixels.TryAcquire(1) {
		t.Error("there is room for a third frame")
	}
	close(end)
	for _, f := range finish {
		if _, err := f(); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	if !s.pixels.TryAcquire(mostPixels) {
		t.Error("frames that have failed still take room")
	}
}

// One goroutine makes one frame at a time, and many make no more than memory should hold.
func TestFramesAtOnce(t *testing.T) {
	for workers, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 8: 6, 16: 12, 1000: mostAtOnce} {
		if got := framesAtOnce(frame.Workers{N: workers}); got != want {
			t.Errorf("%d goroutines make %d frames at once, want %d", workers, got, want)
		}
	}
}
