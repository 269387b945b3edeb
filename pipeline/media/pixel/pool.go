package pixel

import (
	"fmt"
	"sync"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
)

// Pool allocates frames like NewFrame, but reuses the memory of released frames: the
// operating system clears new memory, which takes longer than filling it. The zero value
// is ready to use. Several goroutines may call its methods.
type Pool struct {
	// Memory allocates the samples until it has no more room; nil means FFmpeg's own
	// allocator. Set it before the first call of NewFrame.
	Memory frame.Memory

	mu            sync.Mutex
	own           bool // Memory has run out; use FFmpeg's allocator
	buffers       av.BufferPool
	width, height int
	format        astiav.PixelFormat
}

// NewFrame returns a frame from the pool with like's format, size and properties, one
// reference and undefined samples. If there is no memory, it fails with a fault.TryAgain
// error.
func (p *Pool) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	var memory frame.Memory
	f, err := newFrame(like, func(width, height int, format astiav.PixelFormat) (f *astiav.Frame, err error) {
		f, memory, err = p.alloc(width, height, format)
		return f, err
	})
	if err == nil {
		f.Memory = memory
	}
	return f, err
}

// NewPicture returns a picture from the pool with undefined samples, and the memory in which
// it lies: Memory, or nil for FFmpeg's own allocator.
func (p *Pool) NewPicture(width, height int, format astiav.PixelFormat) (*astiav.Frame, frame.Memory, error) {
	return p.alloc(width, height, format)
}

func (p *Pool) alloc(width, height int, format astiav.PixelFormat) (*astiav.Frame, frame.Memory, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := astiav.AllocFrame()
	f.SetWidth(width)
	f.SetHeight(height)
	f.SetPixelFormat(format)
	if p.width != width || p.height != height || p.format != format {
		p.drop()
		p.width, p.height, p.format = width, height, format
	}
	if p.Memory != nil && !p.own {
		if p.take(f, p.Memory) {
			return f, p.Memory, nil
		}
		p.drop()
		p.own = true
	}
	if p.take(f, nil) {
		return f, nil, nil
	}
	f.Free()
	return nil, nil, fmt.Errorf("allocate a %dx%d %s frame: out of memory", width, height, format)
}

// take gives f a buffer from the pool, which it first creates from memory if necessary;
// ok is false if there is no memory.
func (p *Pool) take(f *astiav.Frame, memory frame.Memory) (ok bool) {
	if !p.buffers.Exists() {
		if p.buffers, ok = av.NewBufferPool(f, memory); !ok {
			return false
		}
	}
	return p.buffers.Fill(f)
}

// Close frees the pool's memory. The memory of frames in use is freed when they are
// released.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
}

func (p *Pool) drop() { p.buffers.Free() }

// NewFrame returns a frame with like's format, size and properties, one reference and
// undefined samples. If there is no memory, it fails with a fault.TryAgain error.
func NewFrame(like *frame.Frame) (*frame.Frame, error) { return newFrame(like, newPicture) }

func newFrame(like *frame.Frame, alloc func(width, height int, format astiav.PixelFormat) (*astiav.Frame, error)) (*frame.Frame, error) {
	f, err := alloc(like.Width, like.Height, astiav.FindPixelFormatByName(like.Format.Name))
	if err != nil {
		return nil, fault.New(fault.TryAgain, "%w", err)
	}
	if from, ok := like.Native.(*astiav.Frame); ok {
		if err := describeAs(f, from); err != nil {
			f.Free()
			return nil, err
		}
	}
	views, _ := Planes(f, like.Format)
	out := frame.Wrap(like.Format, like.Width, like.Height, views, func(*frame.Frame) { f.Free() })
	out.Native = f
	return out, nil
}
