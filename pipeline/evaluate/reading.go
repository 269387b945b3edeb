package evaluate

import (
	"context"
	"errors"
	"io"
	"sync"

	"retime/frame"
	"retime/pipeline/evaluate/exhibit"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// reading is one pass over the clip. As a pipeline.Source it delivers the kept frames, and it
// queues the held-out ones for take. Read and take may run in different goroutines.
type reading struct {
	clip   *clip
	reader *media.Reader
	next   int // index of the next frame to read
	passed int // held-out frames passed, of those with both neighbours

	mu    sync.Mutex
	last  *frame.Frame // the newest kept frame
	queue []heldOut
}

// heldOut is a frame that a method must make, and the kept frames around it.
type heldOut struct {
	index int
	exhibit.Scene
}

func (h heldOut) release() {
	h.Truth.Release()
	h.Before.Release()
	if h.After != nil {
		h.After.Release()
	}
}

// read begins a pass.
func (c *clip) read(ctx context.Context) (*reading, error) {
	reader, err := open(ctx, c.o, false)
	if err != nil {
		return nil, err
	}
	return &reading{clip: c, reader: reader}, nil
}

// Video describes the kept frames.
func (r *reading) Video() media.Video { return r.clip.video }

// Read returns the next kept frame, with its PTS in the time base of Video.
func (r *reading) Read() (*frame.Frame, error) {
	for r.next < len(r.clip.frames) {
		f, err := r.reader.Read()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		at := r.clip.frames[r.next]
		if err != nil || f.PTS != at.pts {
			if err == nil {
				f.Release()
			}
			return nil, fault.New(fault.BadData, "read %q: frame %d has changed; is the file still being written?", r.clip.o.Input.File, r.next)
		}
		f.PTS = at.stamp
		if r.clip.grid {
			f.Duration = 1
		}
		i := r.next
		r.next++
		if r.sort(i, f) {
			return f, nil
		}
	}
	return nil, io.EOF
}

// sort keeps f as the newest kept frame, with a reference of its own, or takes it over and queues
// it as held out. It reports whether it kept f.
func (r *reading) sort(i int, f *frame.Frame) (kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clip.holds(i) {
		r.queue = append(r.queue, heldOut{i, exhibit.Scene{Truth: f, Before: r.last.Retain()}})
		return false
	}
	if n := len(r.queue); n > 0 && r.queue[n-1].index == i-1 {
		r.queue[n-1].After = f.Retain()
	}
	if i > 0 && r.clip.holds(i-1) {
		r.passed++
	}
	if r.last != nil {
		r.last.Release()
	}
	r.last = f.Retain()
	return true
}

// take removes the earliest held-out frame from the queue. It fails if one of the frame's
// neighbours has not been read. The caller releases the frames.
func (r *reading) take() (heldOut, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 || r.queue[0].After == nil {
		return heldOut{}, errors.New("a frame was made before both its neighbours were read")
	}
	h := r.queue[0]
	r.queue = r.queue[1:]
	return h, nil
}

// forget drops the held-out frames whose neighbours have both been read.
func (r *reading) forget() {
	for {
		h, err := r.take()
		if err != nil {
			return
		}
		h.release()
	}
}

// close ends the pass and releases the frames that it still holds.
func (r *reading) close() {
	for _, h := range r.queue {
		h.release()
	}
	if r.last != nil {
		r.last.Release()
	}
	r.reader.Close()
}
