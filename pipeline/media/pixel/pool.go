package pixel

import (
	"fmt"
	"sync"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
)

// Pool hands out frames as NewFrame does, whose memory serves again once they are
// released: the system clears memory that is new, which takes longer than to fill it.
// The zero value is ready; its methods may be called from several goroutines.
type Pool struct {
	// Memory is where samples lie as long as it has room; nil for FFmpeg's own. It is
	// set before the first frame.
	Memory frame.Memory

	mu            sync.Mutex
	own           bool // Memory had no room
	buffers       av.BufferPool
	width, height int
	format        astiav.PixelFormat
}

// NewFrame returns a frame of like's format and size with one reference and undefined
// samples. It describes its picture as like does.
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

// take gives f a buffer of the pool, which is made of memory if there is none, and
// says whether there was one.
func (p *Pool) take(f *astiav.Frame, memory frame.Memory) (ok bool) {
	if !p.buffers.Exists() {
		if p.buffers, ok = av.NewBufferPool(f, memory); !ok {
			return false
		}
	}
	return p.buffers.Fill(f)
}

// Close gives the memory back, that of frames which are still held when they are
// released.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
}

func (p *Pool) drop() { p.buffers.Free() }

// NewFrame returns a frame of like's format and size with one reference and
// undefined samples. It describes its picture as like does.
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
