package media

/*
#cgo pkg-config: libavcodec libavutil
#include <libavcodec/avcodec.h>
#include <libavutil/buffer.h>
#include <libavutil/hwcontext.h>

// Pictures of sw are uploaded for the encoder to a pool of the device that its
// codec is for.
static int prepare_upload(AVCodecContext *c, const AVCodec *codec, enum AVPixelFormat sw)
{
	enum AVPixelFormat hw = codec->pix_fmts[0];
	enum AVHWDeviceType type = hw == AV_PIX_FMT_VAAPI ? AV_HWDEVICE_TYPE_VAAPI : hw == AV_PIX_FMT_QSV ? AV_HWDEVICE_TYPE_QSV :
		hw == AV_PIX_FMT_CUDA ? AV_HWDEVICE_TYPE_CUDA : AV_HWDEVICE_TYPE_NONE;
	AVBufferRef *device = NULL;
	if (type == AV_HWDEVICE_TYPE_NONE)
		return AVERROR(ENOSYS);
	int r = av_hwdevice_ctx_create(&device, type, NULL, NULL, 0);
	if (r < 0)
		return r;
	c->hw_frames_ctx = av_hwframe_ctx_alloc(device);
	av_buffer_unref(&device);
	if (!c->hw_frames_ctx)
		return AVERROR(ENOMEM);
	AVHWFramesContext *pool = (AVHWFramesContext *)c->hw_frames_ctx->data;
	pool->format = hw;
	pool->sw_format = sw;
	pool->width = c->width;
	pool->height = c->height;
	pool->initial_pool_size = 32;
	c->pix_fmt = hw;
	return av_hwframe_ctx_init(c->hw_frames_ctx);
}

static int upload(AVCodecContext *c, AVFrame *dst, const AVFrame *src)
{
	int r = av_hwframe_get_buffer(c->hw_frames_ctx, dst, 0);
	if (r >= 0)
		r = av_hwframe_transfer_data(dst, src, 0);
	return r >= 0 ? av_frame_copy_props(dst, src) : r;
}
*/
import "C"

import (
	"fmt"

	"github.com/asticode/go-astiav"
)

// uploadable are the formats that devices with encoders of their own take.
var uploadable = []string{"nv12", "p010le"}

func prepareUpload(c *astiav.CodecContext, codec *astiav.Codec, format astiav.PixelFormat) (string, error) {
	return withMessage(func() error {
		return status(C.prepare_upload(native[C.AVCodecContext](c), native[C.AVCodec](codec), C.enum_AVPixelFormat(format)))
	})
}

// upload returns a copy of f on the encoder's device. It takes f over.
func (w *Writer) upload(f *astiav.Frame) (*astiav.Frame, error) {
	if native[C.AVCodecContext](w.encoder).hw_frames_ctx == nil {
		return f, nil
	}
	defer f.Free()
	out := astiav.AllocFrame()
	if err := status(C.upload(native[C.AVCodecContext](w.encoder), rawFrame(out), rawFrame(f))); err != nil {
		out.Free()
		return nil, fmt.Errorf("upload a picture to the device: %w", err)
	}
	return out, nil
}
