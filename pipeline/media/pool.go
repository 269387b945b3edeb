package media

/*
#include <stdint.h>
#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>

enum { align = 64 }; // of rows, as av_frame_get_buffer has it

// lay_out sets where f's planes and rows lie in memory at p, which may be NULL, and
// returns how much they take.
static int lay_out(AVFrame *f, uint8_t *p)
{
	int r = av_image_fill_linesizes(f->linesize, f->format, FFALIGN(f->width, align));
	for (int i = 0; r >= 0 && i < 4; i++)
		f->linesize[i] = FFALIGN(f->linesize[i], align);
	if (r >= 0)
		r = av_image_fill_pointers(f->data, f->format, FFALIGN(f->height, 32), p, f->linesize);
	return r < 0 ? r : r + align; // vectors may read past the last row
}

// The pool's buffers are memory of the handle's frame.Memory; 0 stands for FFmpeg's own.
void *retime_alloc_samples(uintptr_t memory, size_t size);
void retime_free_samples(uintptr_t memory, void *p);
void retime_forget_memory(uintptr_t memory);

static void free_samples(void *memory, uint8_t *p) { retime_free_samples((uintptr_t)memory, p); }
static void forget_memory(void *memory) { retime_forget_memory((uintptr_t)memory); }
static AVBufferRef *alloc_samples(void *memory, size_t size)
{
	uint8_t *p = retime_alloc_samples((uintptr_t)memory, size);
	AVBufferRef *b = p ? av_buffer_create(p, size, free_samples, memory, 0) : NULL;
	if (p && !b)
		free_samples(memory, p);
	return b;
}
static AVBufferPool *new_pool(size_t size, uintptr_t memory)
{
	return memory ? av_buffer_pool_init2(size, (void *)memory, alloc_samples, forget_memory) : av_buffer_pool_init(size, NULL);
}

static int pooled_buffer(AVFrame *f, AVBufferPool *pool)
{
	f->buf[0] = av_buffer_pool_get(pool);
	if (!f->buf[0])
		return AVERROR(ENOMEM);
	f->extended_data = f->data;
	return lay_out(f, f->buf[0]->data);
}
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
	"sync"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/fault"
)

// FramePool hands out frames as NewFrame does, whose memory serves again once they are
// released: the system clears memory that is new, which takes longer than to fill it.
// The zero value is ready; its methods may be called from several goroutines.
type FramePool struct {
	// Memory is where samples lie as long as it has room; nil for FFmpeg's own. It is
	// set before the first frame.
	Memory frame.Memory

	mu            sync.Mutex
	own           bool // Memory had no room
	buffers       *C.AVBufferPool
	width, height int
	format        astiav.PixelFormat
}

// NewFrame returns a frame of like's format and size with one reference and undefined
// samples. It describes its picture as like does.
func (p *FramePool) NewFrame(like *frame.Frame) (*frame.Frame, error) {
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

func (p *FramePool) alloc(width, height int, format astiav.PixelFormat) (*astiav.Frame, frame.Memory, error) {
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
func (p *FramePool) take(f *astiav.Frame, memory frame.Memory) bool {
	raw := rawFrame(f)
	if p.buffers == nil {
		size := C.lay_out(raw, nil)
		if size <= 0 {
			return false
		}
		var handle cgo.Handle
		if memory != nil {
			handle = cgo.NewHandle(memory)
		}
		if p.buffers = C.new_pool(C.size_t(size), C.uintptr_t(handle)); p.buffers == nil {
			if memory != nil {
				handle.Delete()
			}
			return false
		}
	}
	return C.pooled_buffer(raw, p.buffers) >= 0
}

//export retime_alloc_samples
func retime_alloc_samples(memory C.uintptr_t, size C.size_t) unsafe.Pointer {
	return cgo.Handle(memory).Value().(frame.Memory).Alloc(int(size))
}

//export retime_free_samples
func retime_free_samples(memory C.uintptr_t, p unsafe.Pointer) {
	cgo.Handle(memory).Value().(frame.Memory).Free(p)
}

//export retime_forget_memory
func retime_forget_memory(memory C.uintptr_t) { cgo.Handle(memory).Delete() }

// Close gives the memory back, that of frames which are still held when they are
// released.
func (p *FramePool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
}

func (p *FramePool) drop() {
	if p.buffers != nil {
		C.av_buffer_pool_uninit(&p.buffers)
	}
}

// NewFrame returns a frame of like's format and size with one reference and
// undefined samples. It describes its picture as like does.
func NewFrame(like *frame.Frame) (*frame.Frame, error) { return newFrame(like, allocFrame) }

func newFrame(like *frame.Frame, alloc func(width, height int, format astiav.PixelFormat) (*astiav.Frame, error)) (*frame.Frame, error) {
	f, err := alloc(like.Width, like.Height, astiav.FindPixelFormatByName(like.Format.Name))
	if err != nil {
		return nil, fault.New(fault.TryAgain, "%w", err)
	}
	if from, ok := like.Native.(*astiav.Frame); ok {
		if err := copyProperties(f, from); err != nil {
			f.Free()
			return nil, err
		}
	}
	views, _ := framePlanes(f, like.Format)
	out := frame.Wrap(like.Format, like.Width, like.Height, views, func(*frame.Frame) { f.Free() })
	out.Native = f
	return out, nil
}
