package av

/*
#cgo pkg-config: libavcodec libavformat libavutil
#include <stdlib.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include "compat.h"

static int has_option(const AVCodec *c, const char *name)
{
	return c->priv_class && av_opt_find((void *)&c->priv_class, name, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ) != NULL;
}
static int is_text(const AVCodec *c, const char *name)
{
	const AVClass *all = avcodec_get_class();
	const AVOption *o = c->priv_class ? av_opt_find((void *)&c->priv_class, name, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ) : NULL;
	if (!o)
		o = av_opt_find(&all, name, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ);
	return o && (o->type == AV_OPT_TYPE_STRING || o->type == AV_OPT_TYPE_BINARY || o->type == AV_OPT_TYPE_DICT);
}
static int props(enum AVCodecID id)
{
	const AVCodecDescriptor *d = avcodec_descriptor_get(id);
	return d ? d->props : -1;
}
static int has_riff_tag(enum AVCodecID id)
{
	const struct AVCodecTag *const lists[] = { avformat_get_riff_audio_tags(), avformat_get_riff_video_tags(), NULL };
	return av_codec_get_tag(lists, id) != 0;
}
static enum AVCodecID riff_codec(unsigned tag)
{
	const struct AVCodecTag *const lists[] = { avformat_get_riff_video_tags(), NULL };
	return av_codec_get_id(lists, tag);
}
static enum AVCodecID codec_by_name(const char *name)
{
	const AVCodecDescriptor *d = avcodec_descriptor_get_by_name(name);
	return d ? d->id : AV_CODEC_ID_NONE;
}
*/
import "C"

import (
	"unsafe"

	"github.com/asticode/go-astiav"
)

// SetFieldOrder states the pictures' field order (AVCodecParameters.field_order).
func SetFieldOrder(p *astiav.CodecParameters, order FieldOrder) {
	params(p).field_order = C.enum_AVFieldOrder(order)
}

// StatedFieldOrder returns the field order that a container states for a stream's pictures (AVCodecParameters.field_order),
// Progressive if it states none.
func StatedFieldOrder(p *astiav.CodecParameters) FieldOrder {
	switch params(p).field_order {
	case C.AV_FIELD_TT, C.AV_FIELD_TB:
		return TopFirst
	case C.AV_FIELD_BB, C.AV_FIELD_BT:
		return BottomFirst
	}
	return Progressive
}

// VideoDelay returns AVCodecParameters.video_delay, the number of pictures by which decoding runs ahead of showing.
func VideoDelay(p *astiav.CodecParameters) int { return int(params(p).video_delay) }

// MarksInThreads reports whether FFmpeg's decoder of a stream marks the damaged pictures (AVFrame.decode_error_flags), and no
// others, however many threads decode.
func MarksInThreads(p *astiav.CodecParameters) bool {
	switch p.CodecID() {
	case astiav.CodecIDH264:
		return C.compat_h264_marks_in_threads() != 0 && StatedFieldOrder(p) == Progressive
	case astiav.CodecIDMpeg4, astiav.CodecIDRv30, astiav.CodecIDRv40:
		return false
	}
	return true
}

// CodecIDWrapped is AV_CODEC_ID_WRAPPED_AVFRAME, the codec of containers whose muxer
// takes whole frames.
const CodecIDWrapped = astiav.CodecID(C.AV_CODEC_ID_WRAPPED_AVFRAME)

// CodecIDAV1 is AV_CODEC_ID_AV1.
const CodecIDAV1 = astiav.CodecID(C.AV_CODEC_ID_AV1)

// LambdaPerQuantiser is FF_QP2LAMBDA, the value of AVCodecContext.global_quality for one
// step of the quantiser.
const LambdaPerQuantiser = C.FF_QP2LAMBDA

// HasOption reports whether the encoder c has a private option called name (av_opt_find).
func HasOption(c *astiav.Codec, name string) bool {
	return withString(name, func(n *C.char) C.int { return C.has_option(codec(c), n) }) != 0
}

// IsTextOption reports whether the encoder c has an option called name, of its own or of
// all codecs, whose value is text, bytes or a list of pairs (av_opt_find).
func IsTextOption(c *astiav.Codec, name string) bool {
	return withString(name, func(n *C.char) C.int { return C.is_text(codec(c), n) }) != 0
}

// CodecNamed returns the codec called name, such as "h264", or AV_CODEC_ID_NONE if there
// is none (avcodec_descriptor_get_by_name).
func CodecNamed(name string) astiav.CodecID {
	return astiav.CodecID(withString(name, func(n *C.char) C.enum_AVCodecID { return C.codec_by_name(n) }))
}

// HasRIFFTag reports whether a codec has a tag for AVI or WAV files
// (avformat_get_riff_audio_tags, avformat_get_riff_video_tags).
func HasRIFFTag(id astiav.CodecID) bool { return C.has_riff_tag(C.enum_AVCodecID(id)) != 0 }

// RIFFCodec returns the codec of video that a tag stands for in AVI files, AV_CODEC_ID_NONE if it stands for none
// (avformat_get_riff_video_tags).
func RIFFCodec(tag uint32) astiav.CodecID { return astiav.CodecID(C.riff_codec(C.uint(tag))) }

// CodecName returns the name of a codec (avcodec_get_name).
func CodecName(id astiav.CodecID) string { return C.GoString(C.avcodec_get_name(C.enum_AVCodecID(id))) }

// IsLossless reports whether a codec is always lossless (AV_CODEC_PROP_LOSSY is not set).
func IsLossless(id astiav.CodecID) bool {
	p := C.props(C.enum_AVCodecID(id))
	return p >= 0 && p&C.AV_CODEC_PROP_LOSSY == 0
}

// IsIntraOnly reports whether every picture of a codec can be decoded alone
// (AV_CODEC_PROP_INTRA_ONLY).
func IsIntraOnly(id astiav.CodecID) bool {
	p := C.props(C.enum_AVCodecID(id))
	return p >= 0 && p&C.AV_CODEC_PROP_INTRA_ONLY != 0
}

// ExactBits returns the bits per sample of an uncompressed codec, 0 for all others
// (av_get_exact_bits_per_sample).
func ExactBits(id astiav.CodecID) int {
	return int(C.av_get_exact_bits_per_sample(C.enum_AVCodecID(id)))
}

// Encoders returns the encoders of a codec, or all encoders if id is AV_CODEC_ID_NONE, in
// FFmpeg's order (av_codec_iterate).
func Encoders(id astiav.CodecID) (list []*astiav.Codec) {
	for _, c := range astiav.Codecs() {
		if c.IsEncoder() && (id == astiav.CodecIDNone || c.ID() == id) {
			list = append(list, c)
		}
	}
	return list
}

// EncodesSound reports whether c is an audio encoder (AVCodec.type).
func EncodesSound(c *astiav.Codec) bool {
	return c.IsEncoder() && codec(c)._type == C.AVMEDIA_TYPE_AUDIO
}

// TakesAnySize reports whether an audio encoder accepts frames with any number of samples
// (AV_CODEC_CAP_VARIABLE_FRAME_SIZE).
func TakesAnySize(c *astiav.Codec) bool {
	return codec(c).capabilities&C.AV_CODEC_CAP_VARIABLE_FRAME_SIZE != 0
}

// Header returns a copy of AVCodecContext.extradata, the header that all packets of a
// stream share; nil if there is none.
func Header(c *astiav.CodecContext) []byte {
	p := coder(c)
	if p.extradata_size <= 0 {
		return nil
	}
	return C.GoBytes(unsafe.Pointer(p.extradata), p.extradata_size)
}

// SetPacketTimeBase sets AVCodecContext.pkt_timebase, the unit of packet timestamps in
// seconds.
func SetPacketTimeBase(c *astiav.CodecContext, tb astiav.Rational) {
	coder(c).pkt_timebase = rational(tb)
}

// FlushCoder discards everything that a decoder has buffered (avcodec_flush_buffers).
func FlushCoder(c *astiav.CodecContext) { C.avcodec_flush_buffers(coder(c)) }
