package stages

import (
	"sync/atomic"
	"time"
)

// Times are the seconds that the stages were at work. They overlap, so their
// sum may exceed the run's time.
type Times struct {
	Decode, Flow time.Duration
	Load         time.Duration // bringing pictures and flows to a device
	Synthesis    time.Duration
	Encode       time.Duration
}

// Add adds the seconds of another run.
func (s *Times) Add(t Times) {
	s.Decode += t.Decode
	s.Flow += t.Flow
	s.Load += t.Load
	s.Synthesis += t.Synthesis
	s.Encode += t.Encode
}

// stageTimes adds up how long each stage was at work.
type stageTimes struct{ decode, flow, synthesis, encode stopwatch }

type stopwatch struct{ total atomic.Int64 }

func (w *stopwatch) start() (stop func()) {
	began := time.Now()
	return func() { w.total.Add(int64(time.Since(began))) }
}

func (t *stageTimes) stages() Times {
	d := func(w *stopwatch) time.Duration { return time.Duration(w.total.Load()) }
	return Times{Decode: d(&t.decode), Flow: d(&t.flow), Synthesis: d(&t.synthesis), Encode: d(&t.encode)}
}
