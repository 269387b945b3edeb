package av

/*
#cgo pkg-config: libavutil
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

// The pool's buffers are memory of the handle's Memory; 0 stands for FFmpeg's own.
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
	"runtime/cgo"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// Memory is where the samples of a pool's frames lie.
type Memory interface {
	// Alloc returns memory that is aligned to 64 bytes, nil if there is none to be had.
	Alloc(bytes int) unsafe.Pointer
	Free(memory unsafe.Pointer)
}

// BufferPool hands out the memory of frames of one size and format, which serves again
// once they are freed (AVBufferPool). The zero value is none.
type BufferPool struct{ c *C.AVBufferPool }

// NewBufferPool returns a pool of buffers for frames like f, in memory or if that is nil
// FFmpeg's own (av_buffer_pool_init2); ok is false if there are no such frames.
func NewBufferPool(f *astiav.Frame, memory Memory) (p BufferPool, ok bool) {
	size := C.lay_out(raw(f), nil)
	if size <= 0 {
		return p, false
	}
	var handle cgo.Handle
	if memory != nil {
		handle = cgo.NewHandle(memory)
	}
	if p.c = C.new_pool(C.size_t(size), C.uintptr_t(handle)); p.c == nil && memory != nil {
		handle.Delete()
	}
	return p, p.c != nil
}

// Exists says whether p is a pool.
func (p BufferPool) Exists() bool { return p.c != nil }

// Fill gives f a buffer (av_buffer_pool_get); ok is false if there is no memory.
func (p BufferPool) Fill(f *astiav.Frame) (ok bool) { return C.pooled_buffer(raw(f), p.c) >= 0 }

// Free gives the memory back, that of frames which are still held once they are freed
// (av_buffer_pool_uninit).
func (p *BufferPool) Free() {
	if p.c != nil {
		C.av_buffer_pool_uninit(&p.c)
	}
}

//export retime_alloc_samples
func retime_alloc_samples(memory C.uintptr_t, size C.size_t) unsafe.Pointer {
	return cgo.Handle(memory).Value().(Memory).Alloc(int(size))
}

//export retime_free_samples
func retime_free_samples(memory C.uintptr_t, p unsafe.Pointer) {
	cgo.Handle(memory).Value().(Memory).Free(p)
}

//export retime_forget_memory
func retime_forget_memory(memory C.uintptr_t) { cgo.Handle(memory).Delete() }
