package cuda

import (
	"fmt"
	"unsafe"

	"retime/frame"
)

// Buffer is an array of N values in device memory. T must hold no pointers and have the
// same layout in C. The zero value holds no memory.
type Buffer[T any] struct {
	N       int
	address uintptr
	room    int // number of values that fit
	device  *Device
}

func sizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// Resize makes b an array of n values with undefined contents. It reuses b's memory if
// that is large enough. No stream may still use b.
func (b *Buffer[T]) Resize(d *Device, n int) error {
	if n > b.room || b.device != d {
		b.Free()
		address, err := d.arena.alloc(int64(n) * int64(sizeOf[T]()))
		if err != nil {
			return err
		}
		b.address, b.room, b.device = address, n, d
	}
	b.N = n
	return nil
}

// Free releases b's memory and makes b the zero value. No stream may still use b.
func (b *Buffer[T]) Free() {
	if b.device != nil {
		b.device.arena.release(b.address)
	}
	*b = Buffer[T]{}
}

// part returns n values of b, starting with value first. The part shares b's memory; the caller
// must not resize or free it.
func (b Buffer[T]) part(first, n int) Buffer[T] {
	b.address += uintptr(first * sizeOf[T]())
	b.N, b.room = n, n
	return b
}

// bytes returns b as bytes. The view shares b's memory; the caller must not resize or
// free it.
func (b Buffer[T]) bytes() Buffer[byte] {
	n := sizeOf[T]()
	return Buffer[byte]{b.N * n, b.address, b.room * n, b.device}
}

// copyFrom queues a copy of src, which is on b's device, to the start of b.
func (b Buffer[T]) copyFrom(s *Stream, src Buffer[T]) error {
	n := src.N * sizeOf[T]()
	if src.N > b.N {
		return fmt.Errorf("%d values do not fit in a device buffer of %d", src.N, b.N)
	}
	if n == 0 {
		return nil
	}
	return s.device.driver.Copy(s.handle, b.address, n, src.address, n, n, 1)
}

// Arg returns b's address as an argument, or 0 if b holds no memory.
func (b Buffer[T]) Arg() Arg { return Arg{uint64(b.address)} }

// Upload queues a copy of src to the start of b. It returns an error if src does not
// fit.
func (b Buffer[T]) Upload(s *Stream, src []T) error {
	if len(src) > b.N {
		return fmt.Errorf("%d values do not fit in a device buffer of %d", len(src), b.N)
	}
	n := len(src) * sizeOf[T]()
	if n == 0 {
		return nil
	}
	return s.upload(b.address, n, unsafe.Pointer(unsafe.SliceData(src)), n, n, 1)
}

// Download queues a copy of the start of b to dst. It returns an error if b is shorter
// than dst.
func (b Buffer[T]) Download(s *Stream, dst []T) error {
	if len(dst) > b.N {
		return fmt.Errorf("%d values wanted of a device buffer of %d", len(dst), b.N)
	}
	n := len(dst) * sizeOf[T]()
	if n == 0 {
		return nil
	}
	return s.device.driver.CopyToHost(s.handle, unsafe.Pointer(unsafe.SliceData(dst)), n, b.address, n, n, 1)
}

// Clear queues a fill of b with zero bytes.
func (b Buffer[T]) Clear(s *Stream) error { return b.Fill(s, 0) }

// Fill queues a fill of b with bytes of the given value.
func (b Buffer[T]) Fill(s *Stream, value byte) error {
	if b.N == 0 {
		return nil
	}
	return s.device.driver.Fill(s.handle, b.address, value, int64(b.N)*int64(sizeOf[T]()))
}

// Image is a two-dimensional array in device memory: row y begins Stride values after
// row y-1. The zero value holds no memory.
type Image[T any] struct {
	Width, Height, Stride int
	buffer                Buffer[T]
	offset                int // of the first value in buffer
}

// rowBytes is the alignment in bytes of the rows that Resize lays out.
const rowBytes = 128

// Resize makes m width by height with undefined contents. It reuses m's memory if that
// is large enough. Rows begin at multiples of 128 bytes if the size of a value divides
// 128. No stream may still use m.
func (m *Image[T]) Resize(d *Device, width, height int) error {
	per := max(1, rowBytes/sizeOf[T]())
	stride := ceilDiv(width, per) * per
	if err := m.buffer.Resize(d, stride*height); err != nil {
		return err
	}
	m.Width, m.Height, m.Stride, m.offset = width, height, stride, 0
	return nil
}

// Free releases m's memory. The caller must not use parts of m afterwards.
func (m *Image[T]) Free() {
	m.buffer.Free()
	*m = Image[T]{}
}

// Part returns the width by height rectangle of m at (x, y). The part shares m's
// memory; the caller must not free it.
func (m Image[T]) Part(x, y, width, height int) Image[T] {
	if x < 0 || y < 0 || width < 0 || height < 0 || x+width > m.Width || y+height > m.Height {
		panic(fmt.Sprintf("cuda: part %dx%d at (%d, %d) of an image of %dx%d", width, height, x, y, m.Width, m.Height))
	}
	m.offset += y*m.Stride + x
	m.Width, m.Height = width, height
	return m
}

func (m Image[T]) address() uintptr { return m.buffer.address + uintptr(m.offset*sizeOf[T]()) }

// Arg returns the address of m's first value as an argument, or 0 if m holds no memory. Kernels
// expect the stride, in values, along with it.
func (m Image[T]) Arg() Arg { return Arg{uint64(m.address())} }

// Upload queues a copy of src, which must have m's size, to m.
func (m Image[T]) Upload(s *Stream, src frame.Image[T]) error {
	if err := m.same(src); err != nil || m.Width*m.Height == 0 {
		return err
	}
	size := sizeOf[T]()
	return s.upload(m.address(), m.Stride*size,
		unsafe.Pointer(unsafe.SliceData(src.Pix)), src.Stride*size, m.Width*size, m.Height)
}

// Download queues a copy of m to dst, which must have m's size.
func (m Image[T]) Download(s *Stream, dst frame.Image[T]) error {
	if err := m.same(dst); err != nil || m.Width*m.Height == 0 {
		return err
	}
	size := sizeOf[T]()
	return s.device.driver.CopyToHost(s.handle, unsafe.Pointer(unsafe.SliceData(dst.Pix)), dst.Stride*size,
		m.address(), m.Stride*size, m.Width*size, m.Height)
}

// CopyFrom queues a copy of src, which must have m's size and be on m's device, to m.
func (m Image[T]) CopyFrom(s *Stream, src Image[T]) error {
	if m.Width != src.Width || m.Height != src.Height {
		return fmt.Errorf("device image %dx%d copied to %dx%d", src.Width, src.Height, m.Width, m.Height)
	}
	if m.Width*m.Height == 0 {
		return nil
	}
	size := sizeOf[T]()
	return s.device.driver.Copy(s.handle, m.address(), m.Stride*size, src.address(), src.Stride*size, m.Width*size, m.Height)
}

// Clear queues a fill of all of m's memory with zero bytes, including the gaps between
// the rows. m must not be a part.
func (m Image[T]) Clear(s *Stream) error { return m.buffer.Clear(s) }

// Fill queues a fill of m's memory with bytes of the given value, as Clear does.
func (m Image[T]) Fill(s *Stream, value byte) error { return m.buffer.Fill(s, value) }

func (m Image[T]) same(h frame.Image[T]) error {
	if m.Width != h.Width || m.Height != h.Height {
		return fmt.Errorf("host image %dx%d for a device image of %dx%d", h.Width, h.Height, m.Width, m.Height)
	}
	return nil
}

// Pinned is page-locked host memory. The device copies from and to it directly while
// the host continues. The zero value holds no memory.
type Pinned[T any] struct {
	Values []T
	device *Device
	room   int
}

// Resize makes p hold n values with undefined contents. It reuses p's memory if that is
// large enough. No stream may still use p.
func (p *Pinned[T]) Resize(d *Device, n int) error {
	if n > p.room || p.device != d {
		if err := p.Free(); err != nil {
			return err
		}
		bytes := int64(max(n, 1)) * int64(sizeOf[T]())
		at, err := d.driver.AllocHost(bytes)
		if err != nil {
			return fmt.Errorf("%s of page-locked memory: %w", Bytes(bytes), err)
		}
		p.Values, p.device, p.room = unsafe.Slice((*T)(at), max(n, 1)), d, max(n, 1)
	}
	p.Values = p.Values[:n]
	return nil
}

// Free releases p's memory. No stream may still use p.
func (p *Pinned[T]) Free() error {
	if p.device == nil {
		return nil
	}
	err := p.device.driver.FreeHost(unsafe.Pointer(unsafe.SliceData(p.Values)))
	*p = Pinned[T]{}
	return err
}
