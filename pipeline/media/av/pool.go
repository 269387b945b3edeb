package av

/*
#cgo pkg-config: libavutil
#include <stdint.h>
#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>

enum { align = 64 }; // bytes; the row alignment of av_frame_get_buffer

// lay_out sets the addresses and strides of f's planes for samples at p and returns how
// many bytes they take, or a negative error. p may be NULL.
static int lay_out(AVFrame *f, uint8_t *p)
{
	int r = av_image_fill_linesizes(f->linesize, f->format, FFALIGN(f->width, align));
	for (int i = 0; r >= 0 && i < 4; i++)
		f->linesize[i] = FFALIGN(f->linesize[i], align);
	if (r >= 0)
		r = av_image_fill_pointers(f->data, f->format, FFALIGN(f->height, 32), p, f->linesize);
	return r < 0 ? r : r + align; // vectors may read past the last row
}

// Callbacks of a pool's buffers. memory is the handle of a Memory, or 0 for FFmpeg's own
// allocator.
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

// Memory allocates the samples of a pool's frames.
type Memory interface {
	// Alloc returns bytes of memory, aligned to 64 bytes, or nil if there is not enough.
	Alloc(bytes int) unsafe.Pointer
	Free(memory unsafe.Pointer)
}

// BufferPool hands out buffers for frames of one size and format, and reuses the buffers
// of freed frames (AVBufferPool). The zero value is no pool.
type BufferPool struct{ c *C.AVBufferPool }

// NewBufferPool returns a pool of buffers for frames of f's size and format
// (av_buffer_pool_init2). memory allocates the buffers; nil means FFmpeg's own allocator.
// ok is false if no frame can have f's size and format.
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

// Exists reports whether p is a pool.
func (p BufferPool) Exists() bool { return p.c != nil }

// Fill gives f a buffer; ok is false if there is no memory (av_buffer_pool_get).
func (p BufferPool) Fill(f *astiav.Frame) (ok bool) { return C.pooled_buffer(raw(f), p.c) >= 0 }

// Free frees the pool (av_buffer_pool_uninit). The buffers of frames that are still in
// use are freed with these frames.
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
