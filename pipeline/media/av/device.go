package av

/*
#cgo pkg-config: libavcodec libavutil
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <libavutil/buffer.h>
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
#include "compat.h"

// hwcontext_cuda.h needs these names, or else CUDA's headers.
#define CUDA_VERSION 0
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
#include <libavutil/hwcontext_cuda.h>

static int is_for_device(const AVCodec *c)
{
	return c->capabilities & (AV_CODEC_CAP_HARDWARE | AV_CODEC_CAP_HYBRID) || (c->wrapper_name && !strcmp(c->wrapper_name, "omx"));
}

static int is_hardware(enum AVPixelFormat p)
{
	const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(p);
	return d && (d->flags & AV_PIX_FMT_FLAG_HWACCEL);
}

// Returns the device's own format if the decoder offers it, otherwise the first format in
// memory.
static enum AVPixelFormat choose_format(AVCodecContext *c, const enum AVPixelFormat *offered)
{
	enum AVHWDeviceType type = ((AVHWDeviceContext *)c->hw_device_ctx->data)->type;
	for (int i = 0;; i++) {
		const AVCodecHWConfig *config = avcodec_get_hw_config(c->codec, i);
		if (!config)
			break;
		if (config->device_type == type && (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX))
			for (const enum AVPixelFormat *p = offered; *p != AV_PIX_FMT_NONE; p++)
				if (*p == config->pix_fmt)
					return *p;
	}
	return avcodec_default_get_format(c, offered);
}

static int decodes_on(const AVCodec *codec, enum AVHWDeviceType type)
{
	for (int i = 0;; i++) {
		const AVCodecHWConfig *config = avcodec_get_hw_config(codec, i);
		if (!config)
			return 0;
		if (config->device_type == type && (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX))
			return 1;
	}
}

// Opens a device of the type. The context owns the device from then on.
static int use_device(AVCodecContext *c, enum AVHWDeviceType type, int number)
{
	char name[16];
	int cuda = type == AV_HWDEVICE_TYPE_CUDA;
	snprintf(name, sizeof name, "%d", number);
	int r = av_hwdevice_ctx_create(&c->hw_device_ctx, type, cuda ? name : NULL, NULL, cuda ? AV_CUDA_USE_PRIMARY_CONTEXT : 0);
	if (r >= 0)
		c->get_format = choose_format;
	return r;
}

static void use_stream(AVCodecContext *c, uintptr_t stream)
{
	AVCUDADeviceContext *device = ((AVHWDeviceContext *)c->hw_device_ctx->data)->hwctx;
	device->stream = (CUstream)stream;
}

static int on_device(const AVFrame *f) { return f->hw_frames_ctx != NULL; }

static enum AVPixelFormat device_format(const AVFrame *f)
{
	return ((const AVHWFramesContext *)f->hw_frames_ctx->data)->sw_format;
}

// Opens a device's encoder for a small picture. It reports 1 for software encoders
// without trying: these always open, and some cannot be closed before they have encoded a
// frame.
static int opens(const AVCodec *codec)
{
	if (!is_for_device(codec))
		return 1;
	AVCodecContext *c = avcodec_alloc_context3(codec);
	const enum AVPixelFormat *formats = compat_pixel_formats(codec);
	if (!c)
		return 0;
	c->width = 320;
	c->height = 256;
	c->time_base = (AVRational){1, 25};
	c->framerate = (AVRational){25, 1};
	c->thread_count = 1;
	c->pix_fmt = formats ? formats[0] : AV_PIX_FMT_YUV420P;
	if (c->pix_fmt == AV_PIX_FMT_VAAPI) { // the encoder takes pictures on the device only
		int r = av_hwdevice_ctx_create(&c->hw_device_ctx, AV_HWDEVICE_TYPE_VAAPI, NULL, NULL, 0);
		avcodec_free_context(&c);
		return r >= 0;
	}
	int ok = !is_hardware(c->pix_fmt) && avcodec_open2(c, codec, NULL) >= 0;
	avcodec_free_context(&c);
	return ok;
}

// Opens the device that the codec encodes on and gives the encoder a pool of its frames,
// to which pictures in format sw can be uploaded.
static int prepare_upload(AVCodecContext *c, const AVCodec *codec, enum AVPixelFormat sw)
{
	enum AVPixelFormat hw = compat_pixel_formats(codec)[0];
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
	"unsafe"

	"github.com/asticode/go-astiav"
)

// Device is an AVHWDeviceType.
type Device C.enum_AVHWDeviceType

// The devices that can decode.
const (
	DeviceCUDA  = Device(C.AV_HWDEVICE_TYPE_CUDA)
	DeviceVAAPI = Device(C.AV_HWDEVICE_TYPE_VAAPI)
)

// DecodesOn reports whether FFmpeg's decoder c can use a device of type d
// (avcodec_get_hw_config).
func DecodesOn(c *astiav.Codec, d Device) bool {
	return C.decodes_on(codec(c), C.enum_AVHWDeviceType(d)) != 0
}

// UseDevice makes a decoder run on a device of type d (av_hwdevice_ctx_create): the CUDA
// device with that number, in its primary context, or the first device of another type. Call
// it before opening the decoder.
func UseDevice(c *astiav.CodecContext, d Device, number int) error {
	return status(C.use_device(coder(c), C.enum_AVHWDeviceType(d), C.int(number)))
}

// UseStream makes a decoder on a CUDA device queue its work on a stream of the device's primary
// context, a CUstream (AVCUDADeviceContext.stream). Call it before the decoder gets a packet.
// The stream must live as long as the decoder and its frames.
func UseStream(c *astiav.CodecContext, stream uintptr) {
	C.use_stream(coder(c), C.uintptr_t(stream))
}

// OnDevice reports whether f's samples are in a device's memory (AVFrame.hw_frames_ctx).
func OnDevice(f *astiav.Frame) bool { return C.on_device(raw(f)) != 0 }

// DeviceFormat returns the format of f's samples in its device's memory
// (AVHWFramesContext.sw_format). f must be OnDevice.
func DeviceFormat(f *astiav.Frame) astiav.PixelFormat {
	return astiav.PixelFormat(C.device_format(raw(f)))
}

// IsForDevice reports whether an encoder needs hardware (AV_CODEC_CAP_HARDWARE,
// AV_CODEC_CAP_HYBRID).
func IsForDevice(c *astiav.Codec) bool { return C.is_for_device(codec(c)) != 0 }

// Opens reports whether an encoder that needs hardware opens on this machine
// (avcodec_open2). It is always true for software encoders.
func Opens(c *astiav.Codec) bool { return C.opens(codec(c)) != 0 }

// PrepareUpload opens the device that the encoder by runs on and gives c a pool of frames
// there (av_hwframe_ctx_init). Upload copies pictures in format, which is a format in
// main memory, to these frames. Call PrepareUpload before opening the encoder.
func PrepareUpload(c *astiav.CodecContext, by *astiav.Codec, format astiav.PixelFormat) error {
	return status(C.prepare_upload(coder(c), codec(by), C.enum_AVPixelFormat(format)))
}

// WantsUpload reports whether PrepareUpload has succeeded for c.
func WantsUpload(c *astiav.CodecContext) bool { return coder(c).hw_frames_ctx != nil }

// Upload makes dst a copy of src on the encoder's device (av_hwframe_transfer_data).
func Upload(c *astiav.CodecContext, dst, src *astiav.Frame) error {
	return status(C.upload(coder(c), raw(dst), raw(src)))
}

// EncoderFormats returns the pixel formats that an encoder lists (AVCodec.pix_fmts), nil
// if it takes all.
func EncoderFormats(c *astiav.Codec) (list []astiav.PixelFormat) {
	p := C.compat_pixel_formats(codec(c))
	for ; p != nil && *p != C.AV_PIX_FMT_NONE; p = (*int32)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p))) {
		list = append(list, astiav.PixelFormat(*p))
	}
	return list
}
