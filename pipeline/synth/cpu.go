package synth

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"retime/frame"
	"retime/warp"
)

// Observer is called after each frame that the CPU makes, one frame at a time.
type Observer func(in warp.Interval, phase warp.Phase, inside warp.Inspection)

// onCPU makes some frames at once, and divides the workers among them: the goroutines that share a
// frame wait for each other after each of its steps, so the fewer they are the better.
type onCPU struct {
	warp    *warp.Synthesizer
	begin   func() (end func()) // of work that has a share of the workers
	observe Observer            // nil for none
	atOnce  int
	pixels  *semaphore.Weighted // of the frames that are being made
	calls   chan func()         // each makes a frame
	making  sync.WaitGroup
	busy    stopwatch
}

// These bound the memory that frames take while they are made: of large ones, fewer are made at
// once, which share more workers better than small ones do.
const (
	mostAtOnce = 12
	mostPixels = mostAtOnce * 1920 * 1080
)

// framesAtOnce returns how many frames so many workers make at once.
func framesAtOnce(workers frame.Workers) int {
	n := workers.Count()
	return min(n, max(2, n*3/4), mostAtOnce)
}

// NewCPU returns a Synthesizer on the CPU.
func NewCPU(p warp.Params) (Synthesizer, error) {
	return newCPU(p, framesAtOnce(p.Workers), nil)
}

// NewObservedCPU returns a Synthesizer on the CPU in mode Project that shows how it made
// each frame to observe.
func NewObservedCPU(p warp.Params, observe Observer) (Synthesizer, error) {
	return newCPU(p, 1, observe)
}

func newCPU(p warp.Params, atOnce int, observe Observer) (Synthesizer, error) {
	s := &onCPU{observe: observe, atOnce: atOnce, pixels: semaphore.NewWeighted(mostPixels), calls: make(chan func(), atOnce+cpuAhead)}
	p.Workers, s.begin = p.Workers.Shared()
	var err error
	if s.warp, err = warp.NewSynthesizer(p); err != nil {
		return nil, err
	}
	for range atOnce {
		s.making.Go(func() {
			for call := range s.calls {
				call()
			}
		})
	}
	return s, nil
}

func (s *onCPU) Assign(int, int) Assignment { return Assignment{} }

func (s *onCPU) Prepare(_ context.Context, _ Assignment, in Interval, frames int) (Job, error) {
	j := &cpuJob{s: s}
	j.left.Store(int32(frames))
	j.prepare = sync.OnceValue(func() (err error) {
		if j.host, err = in.Host(); err != nil {
			return err
		}
		defer s.work()()
		j.prepared, err = s.warp.Prepare(j.host)
		return err
	})
	return j, nil
}

// work counts, and times, some work until what it returns is called.
func (s *onCPU) work() (end func()) {
	leave, stop := s.begin(), s.busy.start()
	return func() {
		stop()
		leave()
	}
}

// cpuAhead is how many frames are started beside those that are being made: they are finished and
// wait for the encoder, or wait for their turn.
const cpuAhead = 4

func (s *onCPU) Ahead(int) (intervals, frames int) { return 0, s.atOnce + cpuAhead - 1 }
func (s *onCPU) Flow() []FlowSource                { return nil }
func (s *onCPU) Memory() frame.Memory              { return nil }
func (s *onCPU) Summary() Summary                  { return Summary{Backend: CPU, Synthesis: s.busy.total()} }

func (s *onCPU) Close() {
	close(s.calls)
	s.making.Wait()
	s.warp.Close()
}

type cpuJob struct {
	s    *onCPU
	left atomic.Int32 // frames to be made; those that fail or are cancelled before they are made stay

	prepare  func() error // sets these, once
	host     warp.Interval
	prepared *warp.Prepared
}

func (j *cpuJob) Start(ctx context.Context, dst *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var made warp.Made
	var err error
	done := make(chan struct{})
	j.s.calls <- func() {
		defer close(done)
		made, err = j.make(ctx, dst, phase)
	}
	return func() (warp.Made, error) {
		<-done
		return made, err
	}, nil
}

func (j *cpuJob) make(ctx context.Context, dst *frame.Frame, phase warp.Phase) (made warp.Made, err error) {
	pixels := min(int64(dst.Width)*int64(dst.Height), mostPixels/2)
	if err := j.s.pixels.Acquire(ctx, pixels); err != nil {
		return made, err
	}
	defer j.s.pixels.Release(pixels)
	if err := j.prepare(); err != nil {
		return made, err
	}
	defer j.s.work()()
	if j.s.observe == nil {
		made, err = j.prepared.Make(dst, phase)
	} else {
		var inside warp.Inspection
		made, inside, err = j.prepared.Inspect(dst, phase)
		if err == nil {
			j.s.observe(j.host, phase, inside)
		}
	}
	if j.left.Add(-1) == 0 {
		j.release() // before the encoder has the frames
	}
	return made, err
}

// release ends the use of the interval.
func (j *cpuJob) release() {
	if j.prepared != nil {
		j.prepared.Close()
		j.prepared = nil
	}
}

// Close ends the use of the interval unless its last frame has.
func (j *cpuJob) Close() { j.release() }

// stopwatch adds up how long several goroutines are at work.
type stopwatch struct{ nanoseconds atomic.Int64 }

func (w *stopwatch) start() (stop func()) {
	began := time.Now()
	return func() { w.nanoseconds.Add(int64(time.Since(began))) }
}

func (w *stopwatch) total() time.Duration { return time.Duration(w.nanoseconds.Load()) }
