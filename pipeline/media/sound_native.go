package media

/*
#cgo pkg-config: libavformat libavcodec libavutil libswresample
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/channel_layout.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

// What a decoded frame holds becomes planar floats at a rate, channel for channel.
static int resample(SwrContext *s, AVFrame *dst, const AVFrame *src, int rate)
{
	AVChannelLayout layout = {0};
	int r;
	av_frame_unref(dst);
	if (src->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
		av_channel_layout_default(&layout, src->ch_layout.nb_channels);
	else if ((r = av_channel_layout_copy(&layout, &src->ch_layout)) < 0)
		return r;
	r = av_channel_layout_copy(&dst->ch_layout, &layout);
	av_channel_layout_uninit(&layout);
	if (r < 0)
		return r;
	dst->format = AV_SAMPLE_FMT_FLTP;
	dst->sample_rate = rate;
	r = swr_convert_frame(s, dst, src);
	if (r != AVERROR_INPUT_CHANGED && r != AVERROR_OUTPUT_CHANGED)
		return r;
	swr_close(s);
	return swr_convert_frame(s, dst, src);
}

// Planar floats become what an encoder takes.
static int repack(SwrContext *s, AVFrame *dst, const AVFrame *src, enum AVSampleFormat format)
{
	int r = av_channel_layout_copy(&dst->ch_layout, &src->ch_layout);
	if (r < 0)
		return r;
	dst->format = format;
	dst->sample_rate = src->sample_rate;
	return swr_convert_frame(s, dst, src);
}

static int uncompressed(enum AVCodecID id) { return av_get_exact_bits_per_sample(id) > 0; }

static enum AVSampleFormat pick_sample_format(const AVCodec *c, enum AVSampleFormat like)
{
	static const enum AVSampleFormat next[] = {
		AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_S32P, AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S16P, AV_SAMPLE_FMT_S16,
	};
	if (!c->sample_fmts)
		return like;
	for (const enum AVSampleFormat *f = c->sample_fmts; *f >= 0; f++)
		if (av_get_packed_sample_fmt(*f) == av_get_packed_sample_fmt(like))
			return *f;
	for (size_t i = 0; i < sizeof next / sizeof *next; i++)
		for (const enum AVSampleFormat *f = c->sample_fmts; *f >= 0; f++)
			if (*f == next[i])
				return *f;
	return c->sample_fmts[0];
}

// The rate itself where it is taken, else the next higher, else the highest.
static int pick_sample_rate(const AVCodec *c, int rate)
{
	int best = 0;
	if (!c->supported_samplerates)
		return rate;
	for (const int *r = c->supported_samplerates; *r; r++)
		if (*r >= rate ? best < rate || *r < best : best < rate && *r > best)
			best = *r;
	return best;
}

static int copy_sound(AVCodecContext *e, const AVCodecContext *d, int usual)
{
	e->bits_per_raw_sample = d->bits_per_raw_sample;
	if (usual || d->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC) {
		av_channel_layout_default(&e->ch_layout, d->ch_layout.nb_channels);
		return 0;
	}
	return av_channel_layout_copy(&e->ch_layout, &d->ch_layout);
}

static int new_samples(AVFrame *f, const AVCodecContext *e, int n)
{
	int r = av_channel_layout_copy(&f->ch_layout, &e->ch_layout);
	if (r < 0)
		return r;
	f->format = AV_SAMPLE_FMT_FLTP;
	f->sample_rate = e->sample_rate;
	f->nb_samples = n;
	return av_frame_get_buffer(f, 0);
}

// Matroska's timestamps of Opus stand behind its delay, which demuxers subtract;
// the muxer states the delay but leaves the timestamps.
static int64_t delay_left_out(const AVFormatContext *c, const AVStream *s, AVRational unit)
{
	const AVCodecParameters *p = s->codecpar;
	if (p->codec_id != AV_CODEC_ID_OPUS || !av_match_name(c->oformat->name, "matroska,webm"))
		return 0;
	return av_rescale_q(p->initial_padding, (AVRational){1, 48000}, unit);
}
static int lossless(enum AVCodecID id)
{
	const AVCodecDescriptor *d = avcodec_descriptor_get(id);
	return d && !(d->props & AV_CODEC_PROP_LOSSY);
}
// In transport streams FFmpeg's usual one is MP2, which is worse than AAC.
static enum AVCodecID usual_audio(const AVFormatContext *c)
{
	if (av_match_name(c->oformat->name, "mpegts"))
		return AV_CODEC_ID_AAC;
	return av_guess_codec(c->oformat, NULL, c->url, NULL, AVMEDIA_TYPE_AUDIO);
}
static int usual_layout(const AVCodecContext *c)
{
	AVChannelLayout usual = {0};
	av_channel_layout_default(&usual, c->ch_layout.nb_channels);
	int same = av_channel_layout_compare(&usual, &c->ch_layout) == 0;
	av_channel_layout_uninit(&usual);
	return same;
}
static const AVCodec *next_sound_encoder(void **state, const AVFormatContext *c)
{
	const AVCodec *e;
	while ((e = av_codec_iterate(state)))
		if (av_codec_is_encoder(e) && e->type == AVMEDIA_TYPE_AUDIO && avformat_query_codec(c->oformat, e->id, FF_COMPLIANCE_NORMAL) != 0)
			return e;
	return NULL;
}
static int encodes_sound(const AVCodec *c) { return av_codec_is_encoder(c) && c->type == AVMEDIA_TYPE_AUDIO; }
static int channels(const AVCodecContext *c) { return c->ch_layout.nb_channels; }
static uint8_t *plane(const AVFrame *f, int channel) { return f->extended_data[channel]; }
static int any_frame_size(const AVCodec *c) { return (c->capabilities & AV_CODEC_CAP_VARIABLE_FRAME_SIZE) != 0; }
*/
import "C"

import (
	"unsafe"

	"github.com/asticode/go-astiav"
)

// resampler turns samples into another format, and rate.
type resampler struct{ c *C.SwrContext }

func newResampler() resampler { return resampler{C.swr_alloc()} }

func (r *resampler) free() { C.swr_free(&r.c) }

// delay is how many samples at a rate it holds back.
func (r *resampler) delay(rate int) int64 {
	if C.swr_is_initialized(r.c) == 0 {
		return 0
	}
	return int64(C.swr_get_delay(r.c, C.int64_t(rate)))
}

// floats makes dst what src holds, as planar floats at a rate.
func (r *resampler) floats(dst, src *astiav.Frame, rate int) error {
	return status(C.resample(r.c, rawFrame(dst), rawFrame(src), C.int(rate)))
}

// repack makes dst what src, in planar floats, holds in another format.
func (r *resampler) repack(dst, src *astiav.Frame, format astiav.SampleFormat) error {
	return status(C.repack(r.c, rawFrame(dst), rawFrame(src), C.enum_AVSampleFormat(format)))
}

func status(r C.int) error {
	if r < 0 {
		return astiav.Error(r)
	}
	return nil
}

// pickSampleFormat returns what codec takes that is nearest to a format.
func pickSampleFormat(codec *astiav.Codec, like astiav.SampleFormat) astiav.SampleFormat {
	return astiav.SampleFormat(C.pick_sample_format(native[C.AVCodec](codec), C.enum_AVSampleFormat(like)))
}

func pickSampleRate(codec *astiav.Codec, rate int) int {
	return int(C.pick_sample_rate(native[C.AVCodec](codec), C.int(rate)))
}

// copySound gives an encoder the decoder's channels, or the usual ones of that number,
// and depth.
func copySound(encoder, decoder *astiav.CodecContext, usual bool) error {
	var u C.int
	if usual {
		u = 1
	}
	return status(C.copy_sound(native[C.AVCodecContext](encoder), native[C.AVCodecContext](decoder), u))
}

// usualLayout says whether c's channels are those that are meant by their number.
func usualLayout(c *astiav.CodecContext) bool {
	return C.usual_layout(native[C.AVCodecContext](c)) != 0
}

// usualAudioCodec is what the container's sound is usually in.
func usualAudioCodec(c *astiav.FormatContext) astiav.CodecID {
	return astiav.CodecID(C.usual_audio(native[C.AVFormatContext](c)))
}

func encodesSound(c *astiav.Codec) bool { return C.encodes_sound(native[C.AVCodec](c)) != 0 }

// soundEncoders names the encoders of sound that c's container may take.
func soundEncoders(c *astiav.FormatContext) (names []string) {
	var state unsafe.Pointer
	for e := C.next_sound_encoder(&state, native[C.AVFormatContext](c)); e != nil; e = C.next_sound_encoder(&state, native[C.AVFormatContext](c)) {
		names = append(names, C.GoString(e.name))
	}
	return names
}

// delayLeftOut is what must be added to a stream's timestamps, in units of tb, because
// c's muxer states the coder's delay without it.
func delayLeftOut(c *astiav.FormatContext, s *astiav.Stream, tb astiav.Rational) int64 {
	return int64(C.delay_left_out(native[C.AVFormatContext](c), native[C.AVStream](s), C.AVRational{C.int(tb.Num()), C.int(tb.Den())}))
}

// lossless says whether a codec never loses anything.
func lossless(id astiav.CodecID) bool { return C.lossless(C.enum_AVCodecID(id)) != 0 }

// uncompressed says whether each sample of a codec takes as many bits.
func uncompressed(id astiav.CodecID) bool { return C.uncompressed(C.enum_AVCodecID(id)) != 0 }

func channelCount(c *astiav.CodecContext) int { return int(C.channels(native[C.AVCodecContext](c))) }

// takesAnySize says whether an encoder takes frames of any number of samples.
func takesAnySize(c *astiav.Codec) bool { return C.any_frame_size(native[C.AVCodec](c)) != 0 }

// newSamples allocates n samples of planar floats for an encoder.
func newSamples(f *astiav.Frame, encoder *astiav.CodecContext, n int) error {
	return status(C.new_samples(rawFrame(f), native[C.AVCodecContext](encoder), C.int(n)))
}

// floatPlanes views the channels of a frame of planar floats.
func floatPlanes(f *astiav.Frame, channels int) [][]float32 {
	planes := make([][]float32, channels)
	for c := range planes {
		planes[c] = unsafe.Slice((*float32)(unsafe.Pointer(C.plane(rawFrame(f), C.int(c)))), f.NbSamples())
	}
	return planes
}
