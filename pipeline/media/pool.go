package media

/*
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
	"sync"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/frame"
)

// FramePool hands out frames as NewFrame does, whose memory serves again once they are
// released: the system clears memory that is new, which takes longer than to fill it.
// The zero value is ready; its methods may be called from several goroutines.
type FramePool struct {
	mu            sync.Mutex
	buffers       *C.AVBufferPool
	width, height int
	format        astiav.PixelFormat
}

// NewFrame returns a frame of like's format and size with one reference and undefined
// samples. It describes its picture as like does.
func (p *FramePool) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return newFrame(like, p.alloc)
}

func (p *FramePool) alloc(width, height int, format astiav.PixelFormat) (*astiav.Frame, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := astiav.AllocFrame()
	f.SetWidth(width)
	f.SetHeight(height)
	f.SetPixelFormat(format)
	raw := rawFrame(f)
	if p.buffers == nil || p.width != width || p.height != height || p.format != format {
		p.drop()
		size := C.lay_out(raw, nil)
		if size > 0 {
			p.buffers = C.av_buffer_pool_init(C.size_t(size), nil)
		}
		p.width, p.height, p.format = width, height, format
	}
	if p.buffers == nil || C.pooled_buffer(raw, p.buffers) < 0 {
		f.Free()
		return nil, fmt.Errorf("allocate a %dx%d %s frame: out of memory", width, height, format)
	}
	return f, nil
}

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
