package interpolate

import (
	"context"
	"io"
	"math/big"
	"sync"
	"sync/atomic"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
)

// Stream takes pictures one after the other and returns frames in order, which its own goroutines
// make meanwhile. Push, Finish and Pull may be called from one goroutine, or Pull from another.
type Stream struct {
	options Options
	plan    *timeline.Plan
	synth   synth.Synthesizer
	cancel  context.CancelFunc
	in      chan *frame.Frame // closed by Finish
	pushed  int64
	closed  atomic.Bool

	done chan struct{} // closed when the line has ended
	err  error         // set then
	sink *streamSink
}

// Frame is a frame of a Stream.
type Frame struct {
	*frame.Frame // with a reference, which the caller releases
	Info
	Number int64
}

// NewStream returns a Stream. Errors are fault.Usage or, if Options.Backend is synth.CUDA and no device
// answers, fault.TryAgain.
func NewStream(o Options) (*Stream, error) {
	if err := o.settle(); err != nil {
		return nil, err
	}
	made, err := o.synthesizer()
	if err != nil {
		return nil, err
	}
	s := &Stream{options: o, plan: o.plan(), synth: made, in: make(chan *frame.Frame), done: make(chan struct{})}
	s.sink = newStreamSink(s)
	p := o.params()
	p.Hooks.Record = s.sink.described
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	line := stages.NewLine(p, s.plan, s.sink, made)
	go func() {
		s.err = line.Run(ctx, &streamSource{s, ctx}, &s.plan.Passes[0], stages.Whole())
		close(s.done)
		s.sink.end()
	}()
	return s, nil
}

// NewPicture returns a picture to be filled and pushed.
func (s *Stream) NewPicture() *frame.Frame { return s.options.newFrame(0) }

// Push takes over the next picture, which NewPicture has returned. It waits while several others
// wait. Pull after each call until nothing comes: frames wait in memory.
func (s *Stream) Push(f *frame.Frame) error {
	if s.closed.Load() {
		f.Release()
		return fault.New(fault.Usage, "the stream is finished")
	}
	f.PTS = s.pushed
	s.pushed++
	select {
	case s.in <- f:
		return nil
	case <-s.done:
		f.Release()
		return s.ended()
	}
}

func (s *Stream) ended() error {
	if s.err != nil {
		return s.err
	}
	return io.EOF // no frame is wanted after the last of some times
}

// Finish says that no picture follows.
func (s *Stream) Finish() {
	if !s.closed.Swap(true) {
		close(s.in)
	}
}

// Pull returns the next frame, or nil if none is ready. After Finish it waits for the next frame, and
// returns io.EOF after the last.
func (s *Stream) Pull() (*Frame, error) {
	f := s.sink.take(s.closed.Load())
	if f != nil {
		return f, nil
	}
	select {
	case <-s.done:
		if f := s.sink.take(false); f != nil {
			return f, nil
		}
		return nil, s.ended()
	default:
		return nil, nil
	}
}

// Close ends the work and frees what is left.
func (s *Stream) Close() {
	s.cancel()
	s.Finish()
	<-s.done
	for f := s.sink.take(false); f != nil; f = s.sink.take(false) {
		f.Release()
	}
	s.synth.Close()
}

// streamSource is the stages.Source of what is pushed.
type streamSource struct {
	of  *Stream
	ctx context.Context
}

func (s *streamSource) Video() timeline.Video { return s.of.options.video() }

func (s *streamSource) Read() (*frame.Frame, error) {
	select {
	case f, ok := <-s.of.in:
		if !ok {
			return nil, io.EOF
		}
		return f, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

// streamSink is the stages.Sink of what is pulled.
type streamSink struct {
	of      *Stream
	written *frame.Frame // not yet described

	mu    sync.Mutex
	ready []*Frame
	over  bool
	more  sync.Cond
}

func newStreamSink(of *Stream) *streamSink {
	s := &streamSink{of: of}
	s.more.L = &s.mu
	return s
}

func (s *streamSink) NewFrame(*frame.Frame) (*frame.Frame, error) {
	return s.of.options.newFrame(0), nil
}

func (s *streamSink) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	s.written = f.Retain()
	return nil
}

// described gets the record of the frame that was written last.
func (s *streamSink) described(r stages.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = append(s.ready, &Frame{s.written, s.of.options.infoOf(&r, s.of.plan.Passes[0].Layout), r.Frame})
	s.more.Signal()
}

func (s *streamSink) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.more.Signal()
}

// take returns the next frame, nil for none. wait waits for it or the end.
func (s *streamSink) take(wait bool) *Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	for wait && len(s.ready) == 0 && !s.over {
		s.more.Wait()
	}
	if len(s.ready) == 0 {
		return nil
	}
	f := s.ready[0]
	s.ready = s.ready[1:]
	return f
}
