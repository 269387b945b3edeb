package frame

import (
	"bytes"
	"sync/atomic"
	"unsafe"
)

// Sample is a stored sample: uint8 up to eight bits, uint16 above.
type Sample interface{ uint8 | uint16 }

// Plane is one plane of a frame; Stride is in bytes and may exceed the row.
type Plane struct {
	Width, Height, Stride int
	Pix                   []byte
}

// Samples views p as an image of T, without copying. T's size must be the
// format's Bytes, and 16-bit planes must have an even stride and an aligned
// first byte, as every plane made or decoded here has.
func Samples[T Sample](p Plane) Image[T] {
	var t T
	size := int(unsafe.Sizeof(t))
	return Image[T]{
		p.Width, p.Height, p.Stride / size,
		unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p.Pix))), len(p.Pix)/size),
	}
}

// Memory is where the planes of frames come from. Its methods may be called from any
// goroutine, and from threads of C.
type Memory interface {
	// Alloc returns memory outside of Go's, aligned to 64 bytes; nil where there is none
	// to be had.
	Alloc(bytes int) unsafe.Pointer
	Free(memory unsafe.Pointer)
}

// Frame is one picture. A frame is shared by reference: whoever keeps it
// beyond the call that handed it over calls Retain, and everyone who holds it
// calls Release once. Its samples are read-only once it has been handed over.
type Frame struct {
	Format        Format
	Width, Height int
	Planes        []Plane
	// Transfer and FullRange say how luma stands for light, for those who look at
	// the picture; whoever makes frames leaves them to the sink.
	Transfer  Transfer
	FullRange bool
	// Damaged is set where the decoder met errors in it.
	Damaged bool
	// PTS and Duration are in the time base of the source or sink that the frame
	// belongs to.
	PTS, Duration int64
	// Native is the decoder's own frame, if there is one; an encoder that knows
	// it passes it on as it is.
	Native any
	// Memory is where its planes come from, nil where that does not matter.
	Memory Memory

	refs atomic.Int32
	free func(*Frame)
}

// Wrap returns a frame over existing planes with one reference; free, which
// may be nil, runs when the last one is released.
func Wrap(format Format, width, height int, planes []Plane, free func(*Frame)) *Frame {
	f := &Frame{Format: format, Width: width, Height: height, Planes: planes, free: free}
	f.refs.Store(1)
	return f
}

// New returns a zeroed frame with one reference.
func New(format Format, width, height int) *Frame {
	planes := make([]Plane, format.Planes)
	for i := range planes {
		w, h := format.PlaneSize(i, width, height)
		stride := (w*format.Bytes() + rowAlign - 1) &^ (rowAlign - 1)
		// uint64 words, so that 16-bit views are aligned.
		words := make([]uint64, stride*h/8)
		planes[i] = Plane{w, h, stride, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), stride*h)}
	}
	return Wrap(format, width, height, planes, nil)
}

// rowAlign is the alignment of the rows that New lays out; encoders read them
// with vector loads.
const rowAlign = 64

// Retain adds a reference and returns f.
func (f *Frame) Retain() *Frame {
	if f.refs.Add(1) <= 1 {
		panic("frame: retained after its last release")
	}
	return f
}

// Release drops a reference. The frame must not be used afterwards by the
// caller.
func (f *Frame) Release() {
	switch n := f.refs.Add(-1); {
	case n < 0:
		panic("frame: released more often than retained")
	case n == 0 && f.free != nil:
		f.free(f)
	}
}

// Equal says whether a and b have the same format, size and samples.
func Equal(a, b *Frame) bool {
	if a.Format != b.Format || a.Width != b.Width || a.Height != b.Height {
		return false
	}
	for i, p := range a.Planes {
		q := b.Planes[i]
		n := p.Width * a.Format.Bytes()
		for y := range p.Height {
			if !bytes.Equal(p.Pix[y*p.Stride:][:n], q.Pix[y*q.Stride:][:n]) {
				return false
			}
		}
	}
	return true
}

// Copy copies src's samples to dst, which has the same format and size.
func Copy(dst, src *Frame) {
	for i, p := range src.Planes {
		q := dst.Planes[i]
		n := p.Width * src.Format.Bytes()
		for y := range p.Height {
			copy(q.Pix[y*q.Stride:][:n], p.Pix[y*p.Stride:])
		}
	}
}
