package media

/*
#cgo pkg-config: libavcodec libavutil
#include <stdlib.h>
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavutil/buffer.h>
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>

static int is_for_device(const AVCodec *c)
{
	return c->capabilities & (AV_CODEC_CAP_HARDWARE | AV_CODEC_CAP_HYBRID) || (c->wrapper_name && !strcmp(c->wrapper_name, "omx"));
}

static int is_hardware(enum AVPixelFormat p)
{
	const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(p);
	return d && (d->flags & AV_PIX_FMT_FLAG_HWACCEL);
}

// The device's own format where the decoder offers it, else the first in memory.
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

// The context owns the device from then on.
static int use_device(AVCodecContext *c, enum AVHWDeviceType type)
{
	int r = av_hwdevice_ctx_create(&c->hw_device_ctx, type, NULL, NULL, 0);
	if (r >= 0)
		c->get_format = choose_format;
	return r;
}

static int on_device(const AVFrame *f) { return f->hw_frames_ctx != NULL; }
// Opens an encoder for a device on a small picture, to see whether the device
// answers. Others always open, and some do not close before they have encoded.
static int opens(const AVCodec *codec)
{
	if (!is_for_device(codec))
		return 1;
	AVCodecContext *c = avcodec_alloc_context3(codec);
	if (!c)
		return 0;
	c->width = 320;
	c->height = 256;
	c->time_base = (AVRational){1, 25};
	c->framerate = (AVRational){25, 1};
	c->thread_count = 1;
	c->pix_fmt = codec->pix_fmts ? codec->pix_fmts[0] : AV_PIX_FMT_YUV420P;
	if (c->pix_fmt == AV_PIX_FMT_VAAPI) { // whose pictures lie on the device
		int r = av_hwdevice_ctx_create(&c->hw_device_ctx, AV_HWDEVICE_TYPE_VAAPI, NULL, NULL, 0);
		avcodec_free_context(&c);
		return r >= 0;
	}
	int ok = !is_hardware(c->pix_fmt) && avcodec_open2(c, codec, NULL) >= 0;
	avcodec_free_context(&c);
	return ok;
}

static const AVCodec *next_encoder(void **state, enum AVCodecID id)
{
	const AVCodec *c;
	while ((c = av_codec_iterate(state)))
		if (av_codec_is_encoder(c) && (id == AV_CODEC_ID_NONE || c->id == id))
			return c;
	return NULL;
}

static enum AVCodecID codec_by_name(const char *name)
{
	const AVCodecDescriptor *d = avcodec_descriptor_get_by_name(name);
	return d ? d->id : AV_CODEC_ID_NONE;
}
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// HWDec says which device decodes.
type HWDec string

// The devices. Pictures that a device has decoded are downloaded.
const (
	HWNone  HWDec = "none"  // the processor
	HWAuto  HWDec = "auto"  // the first that answers, else the processor
	HWCUDA  HWDec = "cuda"  // NVIDIA's decoder
	HWVAAPI HWDec = "vaapi" // Intel's and AMD's
)

var hwTypes = map[HWDec]C.enum_AVHWDeviceType{HWCUDA: C.AV_HWDEVICE_TYPE_CUDA, HWVAAPI: C.AV_HWDEVICE_TYPE_VAAPI}

// useDevice lets a device decode, where one is wanted.
func (r *Reader) useDevice(codec *astiav.Codec) error {
	var tried []HWDec
	switch r.opt.HWDec {
	case "", HWNone:
		return nil
	case HWAuto:
		tried = []HWDec{HWCUDA, HWVAAPI}
	default:
		tried = []HWDec{r.opt.HWDec}
	}
	var reasons []string
	for _, name := range tried {
		kind, known := hwTypes[name]
		switch {
		case !known:
			return fault.New(fault.Usage, "Input.HWDec %s: choose from auto, none, cuda, vaapi", name)
		case C.decodes_on(native[C.AVCodec](codec), kind) == 0:
			reasons = append(reasons, fmt.Sprintf("%s: %s is not decoded there", name, codec.Name()))
			continue
		}
		message, err := withMessage(func() error { return status(C.use_device(native[C.AVCodecContext](r.decoder), kind)) })
		if err == nil {
			r.log.Debug("a device decodes", "device", name, "decoder", codec.Name())
			return nil
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v%s", name, err, detail(message)))
	}
	why := strings.Join(reasons, "; ")
	if r.opt.HWDec == HWAuto {
		r.log.Info("no device decodes this; the processor does", "why", why)
		return nil
	}
	return fault.New(fault.TryAgain, "Input.HWDec %s; Input.HWDec none decodes on the processor", why)
}

// download returns f, or a copy of it in memory where it lies on a device. It
// takes f over.
func download(f *astiav.Frame) (*astiav.Frame, error) {
	if C.on_device(rawFrame(f)) == 0 {
		return f, nil
	}
	defer f.Free()
	out := astiav.AllocFrame()
	err := f.TransferHardwareData(out)
	if err == nil {
		err = copyAllProperties(out, f)
	}
	if err != nil {
		out.Free()
		return nil, fmt.Errorf("download a picture from the device: %w", err)
	}
	return out, nil
}

// inMemory leaves out formats of pictures on devices.
func inMemory(formats []astiav.PixelFormat) []astiav.PixelFormat {
	var out []astiav.PixelFormat
	for _, p := range formats {
		if C.is_hardware(C.enum_AVPixelFormat(p)) == 0 {
			out = append(out, p)
		}
	}
	return out
}

// onlyOnDevice says whether an encoder takes no pictures in memory.
func onlyOnDevice(codec *astiav.Codec) bool {
	formats := codec.PixelFormats()
	return len(formats) > 0 && len(inMemory(formats)) == 0
}

// insteadOf says which encoders there are for the codec of one that is not to be
// had: those of this build that open on this machine. name may be of none, such as
// "av1_nvenc". It is empty where that is no help.
func insteadOf(name string) string {
	id := C.enum_AVCodecID(C.AV_CODEC_ID_NONE)
	if c := astiav.FindEncoderByName(name); c != nil {
		if C.is_for_device(native[C.AVCodec](c)) == 0 {
			return ""
		}
		id = C.enum_AVCodecID(c.ID())
	} else {
		base, _, _ := strings.Cut(strings.TrimPrefix(name, "lib"), "_")
		b := C.CString(base)
		id = C.codec_by_name(b)
		C.free(unsafe.Pointer(b))
	}
	if id == C.AV_CODEC_ID_NONE {
		return ""
	}
	var names []string
	var state unsafe.Pointer
	for c := C.next_encoder(&state, id); c != nil; c = C.next_encoder(&state, id) {
		if C.opens(c) != 0 {
			names = append(names, C.GoString(c.name))
		}
	}
	codec := C.GoString(C.avcodec_get_name(id))
	if len(names) == 0 {
		return fmt.Sprintf("; this build and machine have no encoder for %s", codec)
	}
	return fmt.Sprintf("; for %s this build and machine have %s", codec, strings.Join(names, ", "))
}
