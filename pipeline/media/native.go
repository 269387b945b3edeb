package media

// What go-astiav v0.16 does not bind, over the raw pointers of its types.

/*
#cgo pkg-config: libavformat libavcodec libavutil libswscale
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/avutil.h>
#include <libavutil/log.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

// The last message that FFmpeg logged as an error on this thread, which says
// more than the error code that follows it.
static _Thread_local char last_message[512];

// A reader's contexts carry a count of their errors, which their copies in the
// decoder's threads share.
struct error_count { atomic_int n; };

static struct error_count *errors_of(void *avcl)
{
	const AVClass *class = avcl ? *(const AVClass **)avcl : NULL;
	if (!class)
		return NULL;
	if (!strcmp(class->class_name, "AVCodecContext"))
		return ((AVCodecContext *)avcl)->opaque;
	if (!strcmp(class->class_name, "AVFormatContext"))
		return ((AVFormatContext *)avcl)->opaque;
	return NULL;
}

static void keep_message(void *avcl, int level, const char *fmt, va_list args)
{
	if (level > AV_LOG_ERROR)
		return;
	struct error_count *count = errors_of(avcl);
	if (count)
		atomic_fetch_add(&count->n, 1);
	char line[sizeof last_message];
	int prefix = 0;
	av_log_format_line2(avcl, level, fmt, args, line, sizeof line, &prefix);
	size_t n = strlen(line);
	while (n > 0 && (line[n-1] == '\n' || line[n-1] == ' '))
		line[--n] = 0;
	if (n > 0)
		memcpy(last_message, line, n + 1);
}

static void capture_log(void) { av_log_set_callback(keep_message); }
static const char *take_message(void) { return last_message; }
static void forget_message(void) { last_message[0] = 0; }

static int64_t frame_time(const AVFrame *f) { return f->best_effort_timestamp; }
static int64_t frame_duration(const AVFrame *f) { return f->pkt_duration; }
static int frame_damaged(const AVFrame *f)
{
	return f->decode_error_flags != 0 || (f->flags & AV_FRAME_FLAG_CORRUPT) != 0;
}
static void frame_reset_type(AVFrame *f) { f->pict_type = AV_PICTURE_TYPE_NONE; f->key_frame = 0; }

static struct error_count *new_count(void) { return calloc(1, sizeof(struct error_count)); }
static int count_of(struct error_count *c) { return atomic_load(&c->n); }
static void count_format(AVFormatContext *c, struct error_count *n) { c->opaque = n; }
static void count_codec(AVCodecContext *c, struct error_count *n) { c->opaque = n; }

static const char *timecode_of(const AVFormatContext *c, const AVStream *s)
{
	const AVDictionaryEntry *e = av_dict_get(s->metadata, "timecode", NULL, 0);
	if (!e)
		e = av_dict_get(c->metadata, "timecode", NULL, 0);
	return e ? e->value : NULL;
}

static int stream_attached_picture(const AVStream *s)
{
	return (s->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}
static int context_duration_guessed(const AVFormatContext *c)
{
	return c->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
}
static int64_t context_start(const AVFormatContext *c) { return c->start_time; }
static int context_io_error(const AVFormatContext *c) { return c->pb ? c->pb->error : 0; }
static int format_global_header(const AVFormatContext *c) { return c->oformat->flags & AVFMT_GLOBALHEADER; }
static int format_repeats(const AVFormatContext *c) { return c->oformat->flags & AVFMT_TS_NONSTRICT; }
static int format_no_file(const AVFormatContext *c) { return c->oformat->flags & AVFMT_NOFILE; }
// FFmpeg writes anything to transport streams, much of it as private data that
// nobody reads.
static int mpegts_holds(enum AVCodecID id)
{
	switch (id) {
	case AV_CODEC_ID_MPEG1VIDEO: case AV_CODEC_ID_MPEG2VIDEO: case AV_CODEC_ID_MPEG4: case AV_CODEC_ID_H264: case AV_CODEC_ID_HEVC:
	case AV_CODEC_ID_CAVS: case AV_CODEC_ID_DIRAC: case AV_CODEC_ID_VC1:
	case AV_CODEC_ID_MP1: case AV_CODEC_ID_MP2: case AV_CODEC_ID_MP3: case AV_CODEC_ID_AAC: case AV_CODEC_ID_AAC_LATM: case AV_CODEC_ID_AC3:
	case AV_CODEC_ID_EAC3: case AV_CODEC_ID_DTS: case AV_CODEC_ID_TRUEHD: case AV_CODEC_ID_OPUS: case AV_CODEC_ID_S302M:
	case AV_CODEC_ID_DVB_SUBTITLE: case AV_CODEC_ID_DVB_TELETEXT: case AV_CODEC_ID_HDMV_PGS_SUBTITLE:
	case AV_CODEC_ID_SMPTE_KLV: case AV_CODEC_ID_TIMED_ID3:
		return 1;
	default:
		return 0;
	}
}
// Containers whose muxers refuse, or in NUT garble, what their lists of codecs have.
static int misstated(const AVFormatContext *c, enum AVCodecID id)
{
	switch (id) {
	case AV_CODEC_ID_FLAC: case AV_CODEC_ID_OPUS: case AV_CODEC_ID_TRUEHD: case AV_CODEC_ID_VP9: case AV_CODEC_ID_AV1:
		return av_match_name(c->oformat->name, "mov,3gp,3g2,psp,ipod,ismv,f4v");
	case AV_CODEC_ID_MP3:
		return !strcmp(c->oformat->name, "nut");
	default:
		return 0;
	}
}
// Ogg's muxer does not tell what it takes.
static int ogg_holds(enum AVCodecID id)
{
	switch (id) {
	case AV_CODEC_ID_THEORA: case AV_CODEC_ID_VP8:
	case AV_CODEC_ID_VORBIS: case AV_CODEC_ID_OPUS: case AV_CODEC_ID_FLAC: case AV_CODEC_ID_SPEEX:
		return 1;
	default:
		return 0;
	}
}
// 1, 0, or negative where FFmpeg does not know.
static int format_holds_id(const AVFormatContext *c, enum AVCodecID id)
{
	if (misstated(c, id))
		return 0;
	if (av_match_name(c->oformat->name, "ogg,ogv,oga,opus,spx"))
		return ogg_holds(id);
	return strcmp(c->oformat->name, "mpegts") ? avformat_query_codec(c->oformat, id, FF_COMPLIANCE_NORMAL) : mpegts_holds(id);
}
// A container that has no default codec for a kind of stream holds none of it.
static int format_holds(const AVFormatContext *c, const AVCodecParameters *p)
{
	const AVOutputFormat *f = c->oformat;
	int known = format_holds_id(c, p->codec_id);
	if (known >= 0)
		return known;
	switch (p->codec_type) {
	case AVMEDIA_TYPE_VIDEO:    return f->video_codec != AV_CODEC_ID_NONE;
	case AVMEDIA_TYPE_AUDIO:    return f->audio_codec != AV_CODEC_ID_NONE;
	case AVMEDIA_TYPE_SUBTITLE: return f->subtitle_codec != AV_CODEC_ID_NONE;
	default:                    return 0;
	}
}
static enum AVCodecID format_default_video(const AVFormatContext *c)
{
	return av_guess_codec(c->oformat, NULL, c->url, NULL, AVMEDIA_TYPE_VIDEO);
}

// Captions and time codes belong to the frame that carried them; a made frame
// beside it must not repeat them.
static void frame_drop_moments(AVFrame *f)
{
	static const enum AVFrameSideDataType moments[] = {
		AV_FRAME_DATA_A53_CC, AV_FRAME_DATA_S12M_TIMECODE, AV_FRAME_DATA_GOP_TIMECODE,
		AV_FRAME_DATA_SEI_UNREGISTERED, AV_FRAME_DATA_MOTION_VECTORS, AV_FRAME_DATA_VIDEO_ENC_PARAMS,
	};
	for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
		av_frame_remove_side_data(f, moments[i]);
}

static int encoder_has_option(const AVCodec *c, const char *name)
{
	return c->priv_class && av_opt_find((void *)&c->priv_class, name, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ) != NULL;
}
static int metadata_copy(AVDictionary **dst, const AVDictionary *src) { return av_dict_copy(dst, src, 0); }
static int context_metadata(AVFormatContext *dst, const AVFormatContext *src) { return metadata_copy(&dst->metadata, src->metadata); }
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/frame"
)

// exactScale are swscale's flags against shortcuts that change samples.
const exactScale = C.SWS_ACCURATE_RND | C.SWS_FULL_CHR_H_INT | C.SWS_FULL_CHR_H_INP | C.SWS_BITEXACT

// wrappedFrame is the codec of containers that take frames as they are.
const wrappedFrame = astiav.CodecID(C.AV_CODEC_ID_WRAPPED_AVFRAME)

// noTimestamp is AV_NOPTS_VALUE.
const noTimestamp = -1 << 63

func init() { C.capture_log() }

// native is the C struct behind an astiav type, whose first field is the
// pointer to it.
func native[S, T any](t *T) *S { return *(**S)(unsafe.Pointer(t)) }

func rawFrame(f *astiav.Frame) *C.AVFrame { return (*C.AVFrame)(f.UnsafePointer()) }

func frameTime(f *astiav.Frame) int64     { return int64(C.frame_time(rawFrame(f))) }
func frameDuration(f *astiav.Frame) int64 { return int64(C.frame_duration(rawFrame(f))) }
func frameDamaged(f *astiav.Frame) bool   { return C.frame_damaged(rawFrame(f)) != 0 }

// copyAllProperties makes dst the same frame as src in other samples.
func copyAllProperties(dst, src *astiav.Frame) error {
	if r := C.av_frame_copy_props(rawFrame(dst), rawFrame(src)); r < 0 {
		return astiav.Error(r)
	}
	return nil
}

// copyProperties copies what describes src's picture (colour, aspect, side
// data), but neither its samples nor what belongs to its moment alone.
func copyProperties(dst, src *astiav.Frame) error {
	if err := copyAllProperties(dst, src); err != nil {
		return err
	}
	C.frame_drop_moments(rawFrame(dst))
	resetPictureType(dst)
	return nil
}

// resetPictureType leaves the choice of picture type to the encoder.
func resetPictureType(f *astiav.Frame) { C.frame_reset_type(rawFrame(f)) }

// framePlanes views f's planes without copying. ok is false where the layout
// cannot be viewed: bottom-up rows, or 16-bit samples at odd addresses.
func framePlanes(f *astiav.Frame, format frame.Format) (planes []frame.Plane, ok bool) {
	c := rawFrame(f)
	planes = make([]frame.Plane, format.Planes)
	size := format.Bytes()
	for i := range planes {
		w, h := format.PlaneSize(i, int(c.width), int(c.height))
		stride := int(c.linesize[i])
		data := unsafe.Pointer(c.data[i])
		if data == nil || stride < w*size || stride%size != 0 || uintptr(data)%uintptr(size) != 0 {
			return nil, false
		}
		planes[i] = frame.Plane{Width: w, Height: h, Stride: stride, Pix: unsafe.Slice((*byte)(data), stride*(h-1)+w*size)}
	}
	return planes, true
}

func attachedPicture(s *astiav.Stream) bool {
	return C.stream_attached_picture(native[C.AVStream](s)) != 0
}

// startTime returns when the earliest stream begins, in microseconds.
func startTime(c *astiav.FormatContext) int64 {
	if t := int64(C.context_start(native[C.AVFormatContext](c))); t != noTimestamp {
		return t
	}
	return 0
}

// duration returns c's duration in microseconds, 0 where nothing but the bit
// rate tells it.
func duration(c *astiav.FormatContext) int64 {
	d := c.Duration()
	if d <= 0 || C.context_duration_guessed(native[C.AVFormatContext](c)) != 0 {
		return 0
	}
	if c.InputFormat().Name() == "nut" {
		d -= startTime(c) // FFmpeg gives the time of the end
	}
	return max(d, 0)
}

// ioError is what the last failed read or write of c's file said.
func ioError(c *astiav.FormatContext) error {
	if r := C.context_io_error(native[C.AVFormatContext](c)); r < 0 {
		return astiav.Error(r)
	}
	return nil
}

func globalHeader(c *astiav.FormatContext) bool {
	return C.format_global_header(native[C.AVFormatContext](c)) != 0
}

func opensItself(c *astiav.FormatContext) bool {
	return C.format_no_file(native[C.AVFormatContext](c)) != 0
}

// mayRepeat says whether packets of a stream may share a decoding time.
func mayRepeat(c *astiav.FormatContext) bool {
	return C.format_repeats(native[C.AVFormatContext](c)) != 0
}

// holds says whether c's container takes the stream; where FFmpeg does not
// know, whether it takes any of its kind.
func holds(c *astiav.FormatContext, p *astiav.CodecParameters) bool {
	return C.format_holds(native[C.AVFormatContext](c), native[C.AVCodecParameters](p)) != 0
}

// refuses says whether c's container is known not to take the codec.
func refuses(c *astiav.FormatContext, id astiav.CodecID) bool {
	return C.format_holds_id(native[C.AVFormatContext](c), C.enum_AVCodecID(id)) == 0
}

// takes says whether c's container is known to take the codec.
func takes(c *astiav.FormatContext, id astiav.CodecID) bool {
	return C.format_holds_id(native[C.AVFormatContext](c), C.enum_AVCodecID(id)) == 1
}

// defaultVideoCodec is what the container is usually filled with.
func defaultVideoCodec(c *astiav.FormatContext) astiav.CodecID {
	return astiav.CodecID(C.format_default_video(native[C.AVFormatContext](c)))
}

func encoderHasOption(c *astiav.Codec, name string) bool {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return C.encoder_has_option(native[C.AVCodec](c), n) != 0
}

func copyMetadata(dst, src *astiav.FormatContext) error {
	if r := C.context_metadata(native[C.AVFormatContext](dst), native[C.AVFormatContext](src)); r < 0 {
		return astiav.Error(r)
	}
	return nil
}

func copyStreamMetadata(dst, src *astiav.Stream) error {
	d, s := native[C.AVStream](dst), native[C.AVStream](src)
	d.disposition = s.disposition
	d.sample_aspect_ratio = s.sample_aspect_ratio
	if r := C.metadata_copy(&d.metadata, s.metadata); r < 0 {
		return astiav.Error(r)
	}
	return nil
}

// timecode is the container's for the first frame of s, empty for none.
func timecode(c *astiav.FormatContext, s *astiav.Stream) string {
	return C.GoString(C.timecode_of(native[C.AVFormatContext](c), native[C.AVStream](s)))
}

func setPacketTimeBase(c *astiav.CodecContext, tb astiav.Rational) {
	native[C.AVCodecContext](c).pkt_timebase = C.AVRational{C.int(tb.Num()), C.int(tb.Den())}
}

func flushDecoder(c *astiav.CodecContext) { C.avcodec_flush_buffers(native[C.AVCodecContext](c)) }

// errorCount counts the errors that FFmpeg reports about an input.
type errorCount struct{ n *C.struct_error_count }

func newErrorCount() errorCount { return errorCount{C.new_count()} }

func (e errorCount) of(input *astiav.FormatContext) {
	C.count_format(native[C.AVFormatContext](input), e.n)
}

func (e errorCount) ofDecoder(c *astiav.CodecContext) {
	C.count_codec(native[C.AVCodecContext](c), e.n)
}

func (e errorCount) value() int { return int(C.count_of(e.n)) }
func (e errorCount) free()      { C.free(unsafe.Pointer(e.n)) }

// withMessage runs f, which calls into FFmpeg, on one thread and returns the
// last error that FFmpeg logged there beside f's own.
func withMessage(f func() error) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.forget_message()
	err := f()
	return C.GoString(C.take_message()), err
}
