package frame

import (
	"bytes"
	"sync/atomic"
	"unsafe"
)

// Sample is the type of a stored sample: uint8 for up to eight bits, uint16 for more.
type Sample interface{ uint8 | uint16 }

// Plane is one plane of a frame. Stride is the distance between rows in bytes, which
// may exceed the length of a row.
type Plane struct {
	Width, Height, Stride int
	Pix                   []byte
}

// Samples returns p as an image of T that shares p's memory. T's size must be the
// format's Bytes, and a 16-bit plane must have an even stride and an aligned first
// byte, as the planes from New and from the decoder have.
func Samples[T Sample](p Plane) Image[T] {
	var t T
	size := int(unsafe.Sizeof(t))
	return Image[T]{
		p.Width, p.Height, p.Stride / size,
		unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p.Pix))), len(p.Pix)/size),
	}
}

// Memory allocates the planes of frames. Any goroutine, and any thread of C, may call
// its methods.
type Memory interface {
	// Alloc returns memory outside Go's heap, aligned to 64 bytes, or nil if none is
	// left.
	Alloc(bytes int) unsafe.Pointer
	Free(memory unsafe.Pointer)
}

// Frame is one picture. Frames are shared by reference: a function that keeps a frame
// beyond the call that passed it calls Retain, and every holder calls Release once.
// Nobody may write to a frame's samples after passing the frame on.
type Frame struct {
	Format        Format
	Width, Height int
	Planes        []Plane
	// Transfer and FullRange say how luma encodes light. They serve code that looks at the picture;
	// code that makes frames leaves them to the sink.
	Transfer  Transfer
	FullRange bool
	// Floats is set if the samples are 16-bit signals of PQ that stand for floating-point light, as in Light.
	Floats bool
	// Damaged is set if the decoder met errors in the picture.
	Damaged bool
	// PTS and Duration count units of the time base of the source or sink that the
	// frame belongs to.
	PTS, Duration int64
	// Native is the decoder's own frame, if there is one. An encoder that knows its
	// type encodes it without a copy.
	Native any
	// Memory allocates the planes, or is nil if it does not matter who does.
	Memory Memory

	refs atomic.Int32
	free func(*Frame)
}

// Wrap returns a frame over existing planes with one reference. The last Release calls
// free, which may be nil.
func Wrap(format Format, width, height int, planes []Plane, free func(*Frame)) *Frame {
	f := &Frame{Format: format, Width: width, Height: height, Planes: planes, free: free}
	f.refs.Store(1)
	return f
}

// New returns a zeroed frame with one reference, in Go's memory.
func New(format Format, width, height int) *Frame {
	planes := make([]Plane, format.Planes)
	for i := range planes {
		w, h := format.PlaneSize(i, width, height)
		stride := (w*format.Bytes() + rowAlign - 1) &^ (rowAlign - 1)
		// Words of 64 bits align 16-bit samples.
		words := make([]uint64, stride*h/8)
		planes[i] = Plane{w, h, stride, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), stride*h)}
	}
	return Wrap(format, width, height, planes, nil)
}

// rowAlign is the alignment in bytes of the rows that New lays out: encoders read rows
// with vector loads.
const rowAlign = 64

// Retain adds a reference and returns f.
func (f *Frame) Retain() *Frame {
	if f.refs.Add(1) <= 1 {
		panic("frame: retained after its last release")
	}
	return f
}

// Release drops a reference. The caller must not use the frame afterwards.
func (f *Frame) Release() {
	switch n := f.refs.Add(-1); {
	case n < 0:
		panic("frame: released more often than retained")
	case n == 0 && f.free != nil:
		f.free(f)
	}
}

// Equal reports whether a and b have the same format, size and samples.
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

// Copy copies the samples of src to dst, which must have the same format and size.
func Copy(dst, src *Frame) {
	for i, p := range src.Planes {
		q := dst.Planes[i]
		n := p.Width * src.Format.Bytes()
		for y := range p.Height {
			copy(q.Pix[y*q.Stride:][:n], p.Pix[y*p.Stride:])
		}
	}
}

// ShowLightAs gives f the encoding of light that g has.
func (f *Frame) ShowLightAs(g *Frame) {
	f.Transfer, f.FullRange, f.Floats = g.Transfer, g.FullRange, g.Floats
}
