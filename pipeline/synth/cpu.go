package synth

import (
	"context"
	"sync/atomic"
	"time"

	"retime/frame"
	"retime/warp"
)

// Observer is called after each frame that the CPU makes, on the goroutine that starts
// frames. What it is given is overwritten by the next frame.
type Observer func(in warp.Interval, phase warp.Phase, inside warp.Inspection)

// onCPU makes each frame while it is started.
type onCPU struct {
	warp    *warp.Synthesizer
	current *cpuJob  // the one that warp has begun
	observe Observer // nil for none
	busy    stopwatch
}

// NewCPU returns a Synthesizer on the CPU.
func NewCPU(p warp.Params) (Synthesizer, error) {
	return NewObservedCPU(p, nil)
}

// NewObservedCPU returns a Synthesizer on the CPU in mode Project that shows how it made
// each frame to observe.
func NewObservedCPU(p warp.Params, observe Observer) (Synthesizer, error) {
	w, err := warp.NewSynthesizer(p)
	if err != nil {
		return nil, err
	}
	return &onCPU{warp: w, observe: observe}, nil
}

func (s *onCPU) Assign(int) Assignment { return Assignment{} }

func (s *onCPU) Prepare(_ context.Context, _ Assignment, in Interval, _ int) (Job, error) {
	return &cpuJob{s: s, in: in}, nil
}

// cpuFinished is how many frames wait for the encoder.
const cpuFinished = 4

func (s *onCPU) Ahead() (intervals, frames int) { return 0, cpuFinished }
func (s *onCPU) Flow() []FlowSource             { return nil }
func (s *onCPU) Memory() frame.Memory           { return nil }
func (s *onCPU) Summary() Summary               { return Summary{Backend: CPU, Synthesis: s.busy.total()} }
func (s *onCPU) Close()                         { s.warp.Close() }

type cpuJob struct {
	s    *onCPU
	in   Interval
	host warp.Interval // once the job is current
}

func (j *cpuJob) Start(ctx context.Context, dst *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer j.s.busy.start()()
	if j.s.current != j {
		if err := j.begin(); err != nil {
			return nil, err
		}
		j.s.current = j
	}
	made, err := j.s.warp.Make(dst, phase)
	if err != nil {
		return nil, err
	}
	if j.s.observe != nil {
		j.s.observe(j.host, phase, j.s.warp.Inspect())
	}
	return func() (warp.Made, error) { return made, nil }, nil
}

func (j *cpuJob) begin() (err error) {
	if j.host, err = j.in.Host(); err != nil {
		return err
	}
	return j.s.warp.Begin(j.host)
}

func (j *cpuJob) Close() {}

// stopwatch adds up how long several goroutines are at work.
type stopwatch struct{ nanoseconds atomic.Int64 }

func (w *stopwatch) start() (stop func()) {
	began := time.Now()
	return func() { w.nanoseconds.Add(int64(time.Since(began))) }
}

func (w *stopwatch) total() time.Duration { return time.Duration(w.nanoseconds.Load()) }
