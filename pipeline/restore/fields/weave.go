// Package fields takes interlaced frames apart into pictures of one moment each, and weaves
// frames of such pictures.
//
// A Source delivers the frames of another source, and in places two pictures for a frame, one
// of each field. Whoever makes pictures between them need not know of fields: all have a
// frame's size, and a line of a picture lies where the frame's lies, whichever field it comes
// from. A Sink takes the pictures, and gives another sink whole frames, in which every line of
// a field that was not made is the input's.
package fields

import (
	"sync"

	"retime/frame"
)

// Set is a set of a frame's fields.
type Set uint8

// The fields of a frame. The top field holds line 0 and every second line from there.
const (
	Top Set = 1 << iota
	Bottom
	Both = Top | Bottom
)

// first returns the line that a field begins with.
func (s Set) first() int {
	if s == Bottom {
		return 1
	}
	return 0
}

// other returns the field that s, one field, is not.
func (s Set) other() Set { return Both ^ s }

// Weave says how the frames of an input become pictures, and pictures the frames of an output.
// Frames count from 0 in the input.
type Weave struct {
	// Split holds the frames of which two pictures are delivered, and the second one's timestamp,
	// in halves of the unit of the source's timestamps.
	Split map[int64]int64
	// Lost holds the fields that are made anew. The pictures that show them come from somewhere
	// else; all other lines stay.
	Lost map[int64]Set
	// Insert is how many frames come after a frame that the input does not have.
	Insert map[int64]int
	// TopFirst tells which field of a frame comes first.
	TopFirst func(n int64) bool

	mu    sync.Mutex
	whole map[int64]*frame.Frame // frames that the sink needs, with a reference to each
}

// Field returns field 0 or 1 of a frame, in the order of time.
func (w *Weave) Field(n int64, k int) Set {
	if (k == 0) == w.TopFirst(n) {
		return Top
	}
	return Bottom
}

// needs reports whether the sink needs frame n as it was.
func (w *Weave) needs(n int64) bool {
	_, split := w.Split[n]
	return split || w.Lost[n] != 0 || w.Insert[n] > 0
}

// put keeps f, which is frame n, for take.
func (w *Weave) put(n int64, f *frame.Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.whole == nil {
		w.whole = map[int64]*frame.Frame{}
	}
	w.whole[n] = f.Retain()
}

// take returns frame n with its reference.
func (w *Weave) take(n int64) *frame.Frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.whole[n]
	delete(w.whole, n)
	return f
}

// drop releases what nobody has taken.
func (w *Weave) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.whole {
		f.Release()
	}
	w.whole = nil
}

// View returns a frame of one field of f, half as high, over the same samples. It is valid as long
// as f is.
func View(f *frame.Frame, field Set) *frame.Frame {
	planes := make([]frame.Plane, len(f.Planes))
	for i, p := range f.Planes {
		planes[i] = frame.Plane{Width: p.Width, Height: (p.Height + 1 - field.first()) / 2, Stride: 2 * p.Stride, Pix: p.Pix[field.first()*p.Stride:]}
	}
	v := frame.Wrap(f.Format, f.Width, (f.Height+1-field.first())/2, planes, nil)
	v.PTS, v.Duration, v.Damaged = f.PTS, f.Duration, f.Damaged
	v.ShowLightAs(f)
	return v
}

// copyField copies the lines of a field.
func copyField(dst, src *frame.Frame, field Set) {
	frame.Copy(View(dst, field), View(src, field))
}
