//go:build unix

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

// Late is an Emulator that delays the work on its streams until something waits for it, so that
// results reveal missing waits. Close reports memory and streams that were freed or closed too
// early.
type Late struct {
	*Emulator

	mu      sync.Mutex // held while work runs
	rng     *rand.Rand // nil if no stream runs ahead
	streams []*lateStream
	broken  error // first error of the work; like CUDA's, every later call returns it
	misuse  []error
}

// lateStream is a queue of work.
type lateStream struct {
	queue []lateWork
	done  int // items done so far
	pace  int // queued items that run at a time
}

// lateWork is an item of work. If after is set, the work runs only once that stream has done the
// given number of items.
type lateWork struct {
	run    func() error   // may be nil
	locked unsafe.Pointer // page-locked memory that the work needs, or nil
	after  *lateStream
	done   int
}

// lateEvent happens when a stream has done a number of items.
type lateEvent struct {
	event
	stream *lateStream // nil until the event is recorded
	done   int
}

// NewLate returns an emulator with the same memory sizes as NewEmulator. With seed 0, all work runs
// as late as possible. With other seeds, streams run ahead now and then, each at a changing pace.
func NewLate(seed uint64) *Late {
	l := &Late{Emulator: NewEmulator()}
	if seed > 0 {
		l.rng = rand.New(rand.NewPCG(seed, 0))
	}
	return l
}

// Close returns errors for work that was not done, and for memory that was not freed or was freed
// too early.
func (l *Late) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle("Close")
	return errors.Join(append(l.misuse, l.Emulator.Close())...)
}

// settle does all queued work. If there is any, the call that settles has misused the driver.
func (l *Late) settle(call string) {
	for _, s := range l.streams {
		if n := len(s.queue); n > 0 {
			l.misuse = append(l.misuse, fmt.Errorf("%s: %d copies or launches are still queued", call, n))
			l.advance(s, s.end())
		}
	}
}

// end returns the number of items that s will have done when its queue is empty.
func (s *lateStream) end() int { return s.done + len(s.queue) }

// advance runs queued work on s until it has done the given number of items.
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

// push queues work and lets streams run ahead.
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

// latePaces are the paces between which streams switch: standstill, one item whenever work is
// queued anywhere, and all items at once.
var latePaces = []int{0, 0, 1, 1 << 20}

// wait runs work on s until it has done the given number of items. s may be nil.
func (l *Late) wait(s *lateStream, done int) error {
	if s != nil {
		l.advance(s, done)
	}
	return l.broken
}

// NewStream returns a stream with an empty queue.
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

// NewUrgentStream returns a stream with an empty queue, which runs as late as any other.
func (l *Late) NewUrgentStream() (any, error) { return l.NewStream() }

// DestroyStream destroys a stream. All its work must be done.
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

// Synchronize does the queued work on the stream.
func (l *Late) Synchronize(stream any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := stream.(*lateStream)
	err := l.wait(s, s.end())
	return errors.Join(err, l.Emulator.Synchronize(nil))
}

// NewEvent returns an event. All events record the time.
func (l *Late) NewEvent(bool) (any, error) { return new(lateEvent), nil }

// Record makes the event happen, and record the time, once the work queued so far is done.
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

// WaitEvent queues a wait for the event as recorded so far.
func (l *Late) WaitEvent(stream, ev any) error {
	l.mu.Lock()
	e := ev.(*lateEvent)
	w := lateWork{after: e.stream, done: e.done}
	l.mu.Unlock()
	return l.push(stream, w)
}

// SynchronizeEvent does the work that the event waits for.
func (l *Late) SynchronizeEvent(ev any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := ev.(*lateEvent)
	err := l.wait(e.stream, e.done)
	return errors.Join(err, l.Emulator.SynchronizeEvent(nil))
}

// Elapsed returns the time between two events in seconds.
func (l *Late) Elapsed(from, to any) (float64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Emulator.Elapsed(&from.(*lateEvent).event, &to.(*lateEvent).event)
}

// Free releases device memory. No work may be queued.
func (l *Late) Free(address uintptr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle("Free")
	return l.Emulator.Free(address)
}

// FreeHost releases page-locked memory. No queued work may need it.
func (l *Late) FreeHost(p unsafe.Pointer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if slices.ContainsFunc(s.queue, func(w lateWork) bool { return w.locked == p }) {
			l.misuse = append(l.misuse, fmt.Errorf("FreeHost: queued work needs the memory at %p", p))
			l.advance(s, s.end())
		}
	}
	return l.Emulator.FreeHost(p)
}

// CopyToDevice queues a copy. If host memory is not page-locked, it reads it immediately.
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

// CopyToHost queues a copy. If host memory is not page-locked, it waits for the copy.
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

// Fill queues a fill of bytes with value.
func (l *Late) Fill(stream any, dst uintptr, value byte, bytes int64) error {
	if err := l.fails("Fill"); err != nil {
		return err
	}
	return l.push(stream, lateWork{run: func() error {
		fill(unsafe.Slice((*byte)(at(dst)), bytes), value)
		return nil
	}})
}

// Launch queues a launch, or returns an error if the launch exceeds real devices' limits.
func (l *Late) Launch(stream, k any, grid, block cuda.Dim, shared int, args []uint64) error {
	f := k.(kernel)
	if err := l.admit(f, grid, block, shared, args); err != nil {
		return err
	}
	args = slices.Clone(args)
	return l.push(stream, lateWork{run: func() error { return f.run(grid, block, shared, args) }})
}

// LaunchGraph queues the launches of a graph.
func (l *Late) LaunchGraph(stream, graph any) error {
	for _, n := range graph.([]cuda.KernelNode) {
		if err := l.Launch(stream, n.Kernel, n.Grid, n.Block, n.Shared, n.Args); err != nil {
			return err
		}
	}
	return nil
}
