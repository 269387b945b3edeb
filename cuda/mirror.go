package cuda

import (
	"cmp"
	"fmt"
	"sync"
	"unsafe"

	"retime/frame"
)

// Mirror is page-locked memory for frames, with a copy in device memory. It fills frames from
// pictures that a video decoder left on the device. A Synthesizer on a device with the same context
// reads the copy of such a frame and need not upload the frame.
//
// Only one goroutine at a time may call Import; any goroutine may call Alloc and Free.
type Mirror struct {
	device  *Device
	decoder *Stream    // the video decoder also works on it
	split   [2]*Kernel // by bytes of a sample

	mu     sync.Mutex
	pieces map[unsafe.Pointer]*mirrored
	closed bool
}

// mirrored is the copy of a piece of a Mirror's memory.
type mirrored struct {
	at    unsafe.Pointer
	bytes Buffer[byte]
	mu    sync.Mutex // guards read
	read  *Event     // happens when all readers of the copy are done
}

// NewMirror returns a Mirror on d, which it closes.
func NewMirror(d *Device) (*Mirror, error) {
	m := &Mirror{device: d, pieces: map[unsafe.Pointer]*mirrored{}}
	err := d.Do(func() (err error) {
		if m.decoder, err = d.NewUrgentStream(); err != nil {
			return err
		}
		return d.Kernels("split", map[string]**Kernel{"split_u8": &m.split[0], "split_u16": &m.split[1]})
	})
	if err != nil {
		_ = m.release()
		return nil, err
	}
	return m, nil
}

// release destroys the stream and closes the device.
func (m *Mirror) release() error {
	err := m.device.Do(func() error {
		if m.decoder == nil {
			return nil
		}
		return m.decoder.Close()
	})
	return cmp.Or(err, m.device.Close())
}

// Queue returns the stream, a CUstream, on which the decoder must queue its work. Kernels there
// start before those that make frames: a decoder waits for its kernels, and the device makes frames
// meanwhile.
func (m *Mirror) Queue() uintptr { return m.device.driver.Native(m.decoder.handle) }

// Check returns an error if the device has failed, for example after a kernel's fault.
func (m *Mirror) Check() error { return m.device.Do(m.decoder.Synchronize) }

// Close closes the device once all memory is freed.
func (m *Mirror) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return m.end()
}

// end closes the device if it is no longer needed. The caller holds m.mu.
func (m *Mirror) end() error {
	if !m.closed || len(m.pieces) > 0 {
		return nil
	}
	return m.release()
}

// Alloc implements frame.Memory.
func (m *Mirror) Alloc(bytes int) unsafe.Pointer {
	p := new(mirrored)
	err := m.device.Do(func() (err error) {
		if p.at, err = m.device.driver.AllocHost(int64(bytes)); err != nil {
			return err
		}
		if err = p.bytes.Resize(m.device, bytes); err == nil {
			p.read, err = m.device.NewEvent()
		}
		if err != nil {
			p.bytes.Free()
			_ = m.device.driver.FreeHost(p.at)
		}
		return err
	})
	if err != nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pieces[p.at] = p
	return p.at
}

// Free implements frame.Memory.
func (m *Mirror) Free(memory unsafe.Pointer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pieces[memory]
	delete(m.pieces, memory)
	// If the device has failed, there is nothing left to do about errors.
	_ = m.device.Do(func() error {
		_ = p.read.Synchronize()
		_ = p.read.Close()
		p.bytes.Free()
		return m.device.driver.FreeHost(p.at)
	})
	_ = m.end()
}

// find returns the copy of f if f's planes are in one piece of m's memory that begins with the
// first of them; ok is false for other frames.
func (m *Mirror) find(f *frame.Frame) (p *mirrored, copied planes, ok bool) {
	first := unsafe.Pointer(unsafe.SliceData(f.Planes[0].Pix))
	m.mu.Lock()
	p = m.pieces[first]
	m.mu.Unlock()
	if p == nil {
		return nil, copied, false
	}
	copied.format, copied.width, copied.height = f.Format, f.Width, f.Height
	for i, plane := range f.Planes {
		offset := int(uintptr(unsafe.Pointer(unsafe.SliceData(plane.Pix))) - uintptr(first))
		width := plane.Width * f.Format.Bytes()
		if offset < 0 || offset+(plane.Height-1)*plane.Stride+width > p.bytes.N {
			return nil, copied, false
		}
		copied.images[i] = Image[byte]{Width: width, Height: plane.Height, Stride: plane.Stride, buffer: p.bytes, offset: offset}
	}
	return p, copied, true
}

// Import fills dst, which is in m's memory, and dst's copy with the samples of src. The decoder's
// work on src must be queued in the stream of Queue. When Import returns, nothing reads src any
// more.
func (m *Mirror) Import(dst *frame.Frame, src frame.Surface) error {
	f := dst.Format
	if f.Planes != 3 || f.ChromaX != 1 || f.ChromaY != 1 || f.RGB || f.Bytes() != src.Bytes || dst.Width != src.Width || dst.Height != src.Height {
		return fmt.Errorf("a decoder's picture of %dx%d in 4:2:0 and %d bytes a sample does not fit a frame of %dx%d, %s",
			src.Width, src.Height, src.Bytes, dst.Width, dst.Height, f)
	}
	p, to, ok := m.find(dst)
	if !ok {
		return fmt.Errorf("a frame of %dx%d is not in the mirror's memory", dst.Width, dst.Height)
	}
	return m.device.Do(func() error {
		err := m.fill(p, &to, src)
		if err == nil {
			err = to.download(m.decoder, dst)
		}
		// Even after an error, queued work may still read src.
		return cmp.Or(err, m.decoder.Synchronize())
	})
}

// fill queues the kernel that makes the planes to, which are the copy in p, from src.
func (m *Mirror) fill(p *mirrored, to *planes, src frame.Surface) error {
	p.mu.Lock()
	err := m.decoder.WaitFor(p.read)
	p.mu.Unlock()
	if err != nil {
		return err
	}
	args := []Arg{
		{uint64(src.Luma.Address)}, Int(src.Luma.Stride / src.Bytes), {uint64(src.Chroma.Address)}, Int(src.Chroma.Stride / src.Bytes),
	}
	for i := range 3 {
		args = append(args, to.images[i].Arg(), Int(to.stride(i)))
	}
	args = append(args, Int(src.Width), Int(src.Height), Int(8*src.Bytes-to.format.Depth))
	return m.decoder.Launch(m.split[src.Bytes-1], over(ceilDiv(src.Width, 4), src.Height, 2, wideBlock), wideBlock, 0, args...)
}

// copyTo queues a copy of f's copy to dst, on the stream's device. It returns false if f is not in
// m, or the device has another context.
func (m *Mirror) copyTo(s *Stream, dst *planes, f *frame.Frame) (done bool, err error) {
	p, from, ok := m.find(f)
	if !ok || s.device.driver.Context() != m.device.driver.Context() {
		return false, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// This makes the event cover earlier readers as well.
	if err := s.WaitFor(p.read); err != nil {
		return true, err
	}
	for i := range f.Planes {
		if err := dst.images[i].CopyFrom(s, from.images[i]); err != nil {
			return true, err
		}
	}
	return true, s.Record(p.read)
}
