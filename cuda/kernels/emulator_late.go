package kernels

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"unsafe"

	"retime/cuda"
)

// Late is an Emulator that queues what is queued on a stream and does it when something
// waits for it, so that results show where a wait is missing. Close says what was freed
// or closed too early.
type Late struct {
	*Emulator

	mu      sync.Mutex // held while anything runs
	rng     *rand.Rand // nil where no stream runs ahead
	streams []*lateStream
	broken  error // of what ran first and failed; every call returns it, as CUDA's do
	misuse  []error
}

// lateStream is what is queued on a stream.
type lateStream struct {
	queue []lateWork
	done  int // since the beginning
	pace  int // how many of what is queued run at a time
}

// lateWork runs once another stream has done so much, if one is named.
type lateWork struct {
	run    func() error   // may be nil
	locked unsafe.Pointer // page-locked memory that it needs; nil for none
	after  *lateStream
	done   int
}

// lateEvent is how much a stream has done when it happens.
type lateEvent struct {
	event
	stream *lateStream // nil before it is recorded
	done   int
}

// NewLate returns a device as NewEmulator does. With seed 0 everything is done as late
// as may be. With others streams run ahead now and then, each at a pace that changes.
func NewLate(seed uint64) *Late {
	l := &Late{Emulator: NewEmulator()}
	if seed > 0 {
		l.rng = rand.New(rand.NewPCG(seed, 0))
	}
	return l
}

// Close reports what was not done or freed, or too early.
func (l *Late) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle("Close")
	return errors.Join(append(l.misuse, l.Emulator.Close())...)
}

// settle does all that is queued. That there is some is a misuse of what is called.
func (l *Late) settle(call string) {
	for _, s := range l.streams {
		if n := len(s.queue); n > 0 {
			l.misuse = append(l.misuse, fmt.Errorf("%s: %d copies or launches are still queued", call, n))
			l.advance(s, s.end())
		}
	}
}

// end is how much s has done when its queue is empty.
func (s *lateStream) end() int { return s.done + len(s.queue) }

// advance runs what is queued on s until so much is done.
func (l *Late) advance(s *lateStream, done int) {
	for s.done < done {
		w := s.queue[0]
		if w.after != nil {
			l.advance(w.after, w.done)
		}
		if w.run != nil {
			if err := w.run(); err != nil && l.broken == nil {
				l.broken = err
			}
		}
		s.queue[0] = lateWork{}
		s.queue = s.queue[1:]
		s.done++
	}
}

// push queues work, and lets streams run ahead.
func (l *Late) push(stream any, w lateWork) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := stream.(*lateStream)
	s.queue = append(s.queue, w)
	if l.rng == nil {
		return l.broken
	}
	for _, s := range l.streams {
		if l.rng.IntN(64) == 0 {
			s.pace = latePaces[l.rng.IntN(len(latePaces))]
		}
		l.advance(s, min(s.end(), s.done+s.pace))
	}
	return l.broken
}

// latePaces are those that streams change between: not at all, in step with what is
// queued somewhere, or at once.
var latePaces = []int{0, 0, 1, 1 << 20}

// wait does what is queued on s until so much is done, if it is named.
func (l *Late) wait(s *lateStream, done int) error {
	if s != nil {
		l.advance(s, done)
	}
	return l.broken
}

// NewStream returns a stream.
func (l *Late) NewStream() (any, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := new(lateStream)
	if l.rng != nil {
		s.pace = latePaces[l.rng.IntN(len(latePaces))]
	}
	l.streams = append(l.streams, s)
	return s, nil
}

// DestroyStream ends a stream, whose work must be done.
func (l *Late) DestroyStream(stream any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := stream.(*lateStream)
	if n := len(s.queue); n > 0 {
		l.misuse = append(l.misuse, fmt.Errorf("DestroyStream: %d copies or launches are still queued on it", n))
		l.advance(s, s.end())
	}
	l.streams = slices.DeleteFunc(l.streams, func(o *lateStream) bool { return o == s })
	return l.broken
}

// Synchronize does what is queued.
func (l *Late) Synchronize(stream any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := stream.(*lateStream)
	err := l.wait(s, s.end())
	return errors.Join(err, l.Emulator.Synchronize(nil))
}

// NewEvent returns an event.
func (l *Late) NewEvent(bool) (any, error) { return new(lateEvent), nil }

// Record makes the event happen, and note the time, when what is queued is done.
func (l *Late) Record(ev, stream any) error {
	e, s := ev.(*lateEvent), stream.(*lateStream)
	if err := l.push(s, lateWork{run: func() error { return l.Emulator.Record(&e.event, nil) }}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.stream, e.done = s, s.end()
	return nil
}

// WaitEvent queues waiting for the event as it is recorded now.
func (l *Late) WaitEvent(stream, ev any) error {
	l.mu.Lock()
	e := ev.(*lateEvent)
	w := lateWork{after: e.stream, done: e.done}
	l.mu.Unlock()
	return l.push(stream, w)
}

// SynchronizeEvent does what the event is to happen after.
func (l *Late) SynchronizeEvent(ev any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := ev.(*lateEvent)
	err := l.wait(e.stream, e.done)
	return errors.Join(err, l.Emulator.SynchronizeEvent(nil))
}

// Elapsed is the time between two events in seconds.
func (l *Late) Elapsed(from, to any) (float64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Emulator.Elapsed(&from.(*lateEvent).event, &to.(*lateEvent).event)
}

// Free gives memory back; nothing may be queued.
func (l *Late) Free(address uintptr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle("Free")
	return l.Emulator.Free(address)
}

// FreeHost gives memory back, which nothing that is queued may need.
func (l *Late) FreeHost(p unsafe.Pointer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if slices.ContainsFunc(s.queue, func(w lateWork) bool { return w.locked == p }) {
			l.misuse = append(l.misuse, fmt.Errorf("FreeHost: what is queued needs the memory at %p", p))
			l.advance(s, s.end())
		}
	}
	return l.Emulator.FreeHost(p)
}

// CopyToDevice queues a copy. Memory that is not page-locked is read at once.
func (l *Late) CopyToDevice(stream any, dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	if err := l.fails("CopyToDevice"); err != nil {
		return err
	}
	locked := l.locked(src)
	if locked == nil {
		rows := make([]byte, width*height)
		copyRows(unsafe.Pointer(unsafe.SliceData(rows)), width, src, srcStride, width, height)
		return l.push(stream, lateWork{run: func() error {
			copyRows(at(dst), dstStride, unsafe.Pointer(unsafe.SliceData(rows)), width, width, height)
			return nil
		}})
	}
	return l.push(stream, lateWork{locked: locked, run: func() error {
		copyRows(at(dst), dstStride, src, srcStride, width, height)
		return nil
	}})
}

// CopyToHost queues a copy. One to memory that is not page-locked is waited for.
func (l *Late) CopyToHost(stream any, dst unsafe.Pointer, dstStride int, src uintptr, srcStride, width, height int) error {
	if err := l.fails("CopyToHost"); err != nil {
		return err
	}
	locked := l.locked(dst)
	err := l.push(stream, lateWork{locked: locked, run: func() error {
		copyRows(dst, dstStride, at(src), srcStride, width, height)
		return nil
	}})
	if err != nil || locked != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := stream.(*lateStream)
	return l.wait(s, s.end())
}

// Copy queues a copy.
func (l *Late) Copy(stream any, dst uintptr, dstStride int, src uintptr, srcStride, width, height int) error {
	if err := l.fails("Copy"); err != nil {
		return err
	}
	return l.push(stream, lateWork{run: func() error {
		copyRows(at(dst), dstStride, at(src), srcStride, width, height)
		return nil
	}})
}

// Fill queues setting bytes.
func (l *Late) Fill(stream any, dst uintptr, value byte, bytes int64) error {
	if err := l.fails("Fill"); err != nil {
		return err
	}
	return l.push(stream, lateWork{run: func() error {
		fill(unsafe.Slice((*byte)(at(dst)), bytes), value)
		return nil
	}})
}

// Launch queues a launch within the limits.
func (l *Late) Launch(stream, k any, grid, block cuda.Dim, shared int, args []uint64) error {
	f := k.(kernel)
	if err := l.admit(f, grid, block, shared, args); err != nil {
		return err
	}
	args = slices.Clone(args)
	return l.push(stream, lateWork{run: func() error { return f.run(grid, block, shared, args) }})
}
