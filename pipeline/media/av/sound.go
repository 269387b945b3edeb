package av

/*
#cgo pkg-config: libavcodec libavutil libswresample
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include "compat.h"

static int resample(SwrContext *s, AVFrame *dst, const AVFrame *src, const AVCodecContext *e)
{
	AVChannelLayout layout = {0};
	int r;
	av_frame_unref(dst);
	if (src->ch_layout.nb_channels != e->ch_layout.nb_channels) {
		// Otherwise the sum of the channels may exceed full scale.
		if ((r = av_opt_set_double(s, "rematrix_maxval", 1.0, 0)) < 0)
			return r;
		if ((r = av_channel_layout_copy(&layout, &e->ch_layout)) < 0)
			return r;
	} else if (src->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
		av_channel_layout_default(&layout, src->ch_layout.nb_channels);
	else if ((r = av_channel_layout_copy(&layout, &src->ch_layout)) < 0)
		return r;
	r = av_channel_layout_copy(&dst->ch_layout, &layout);
	av_channel_layout_uninit(&layout);
	if (r < 0)
		return r;
	dst->format = AV_SAMPLE_FMT_FLTP;
	dst->sample_rate = e->sample_rate;
	r = swr_convert_frame(s, dst, src);
	if (r != AVERROR_INPUT_CHANGED && r != AVERROR_OUTPUT_CHANGED)
		return r;
	swr_close(s);
	return swr_convert_frame(s, dst, src);
}

// last is the frame that resample has filled last.
static int resample_rest(SwrContext *s, AVFrame *last)
{
	AVChannelLayout layout = {0};
	int rate = last->sample_rate, r = av_channel_layout_copy(&layout, &last->ch_layout);
	if (r < 0)
		return r;
	av_frame_unref(last);
	last->ch_layout = layout;
	last->format = AV_SAMPLE_FMT_FLTP;
	last->sample_rate = rate;
	return swr_convert_frame(s, last, NULL);
}

static int repack(SwrContext *s, AVFrame *dst, const AVFrame *src, enum AVSampleFormat format)
{
	int r = av_channel_layout_copy(&dst->ch_layout, &src->ch_layout);
	if (r < 0)
		return r;
	dst->format = format;
	dst->sample_rate = src->sample_rate;
	return swr_convert_frame(s, dst, src);
}

static int copy_sound(AVCodecContext *e, const AVCodecContext *d, int channels)
{
	e->bits_per_raw_sample = d->bits_per_raw_sample;
	if (channels || d->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC) {
		av_channel_layout_default(&e->ch_layout, channels ? channels : d->ch_layout.nb_channels);
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

static int usual_layout(const AVCodecContext *c)
{
	AVChannelLayout usual = {0};
	av_channel_layout_default(&usual, c->ch_layout.nb_channels);
	int same = av_channel_layout_compare(&usual, &c->ch_layout) == 0;
	av_channel_layout_uninit(&usual);
	return same;
}
static void name_channels(AVCodecParameters *p)
{
	if (p->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
		av_channel_layout_default(&p->ch_layout, p->ch_layout.nb_channels);
}
static int raw_bits(const AVCodecContext *c)
{
	return c->bits_per_raw_sample > 0 ? c->bits_per_raw_sample : 8 * av_get_bytes_per_sample(c->sample_fmt);
}
static int channels(const AVCodecContext *c) { return c->ch_layout.nb_channels; }
static uint8_t *channel_data(const AVFrame *f, int channel) { return f->extended_data[channel]; }
*/
import "C"

import (
	"unsafe"

	"github.com/asticode/go-astiav"
)

// Resampler converts samples to another format and sample rate (libswresample).
type Resampler struct{ c *C.SwrContext }

// NewResampler returns a resampler (swr_alloc). Call Free after use.
func NewResampler() *Resampler { return &Resampler{C.swr_alloc()} }

// Free frees the resampler (swr_free).
func (r *Resampler) Free() { C.swr_free(&r.c) }

// Delay returns how many samples, counted at rate (Hz), the resampler has buffered
// (swr_get_delay).
func (r *Resampler) Delay(rate int) int64 {
	if C.swr_is_initialized(r.c) == 0 {
		return 0
	}
	return int64(C.swr_get_delay(r.c, C.int64_t(rate)))
}

// Floats converts src to planar floats at the encoder's sample rate in dst. It keeps the
// channels, but mixes them if the encoder has another number of them (swr_convert_frame).
func (r *Resampler) Floats(dst, src *astiav.Frame, encoder *astiav.CodecContext) error {
	return status(C.resample(r.c, raw(dst), raw(src), coder(encoder)))
}

// Rest fills last, which Floats has filled last, with the samples that the resampler has buffered.
func (r *Resampler) Rest(last *astiav.Frame) error { return status(C.resample_rest(r.c, raw(last))) }

// Repack converts src, which holds planar floats, to another sample format in dst
// (swr_convert_frame).
func (r *Resampler) Repack(dst, src *astiav.Frame, format astiav.SampleFormat) error {
	return status(C.repack(r.c, raw(dst), raw(src), C.enum_AVSampleFormat(format)))
}

// SampleFormats returns the sample formats that an encoder lists (AVCodec.sample_fmts),
// nil if it takes all.
func SampleFormats(c *astiav.Codec) (list []astiav.SampleFormat) {
	p := C.compat_sample_formats(codec(c))
	for ; p != nil && *p >= 0; p = (*int32)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p))) {
		list = append(list, astiav.SampleFormat(*p))
	}
	return list
}

// SampleRates returns the sample rates in Hz that an encoder lists
// (AVCodec.supported_samplerates), nil if it takes all.
func SampleRates(c *astiav.Codec) (list []int) {
	p := C.compat_sample_rates(codec(c))
	for ; p != nil && *p != 0; p = (*C.int)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p))) {
		list = append(list, int(*p))
	}
	return list
}

// PackedFormat returns the interleaved form of a sample format
// (av_get_packed_sample_fmt).
func PackedFormat(f astiav.SampleFormat) astiav.SampleFormat {
	return astiav.SampleFormat(C.av_get_packed_sample_fmt(C.enum_AVSampleFormat(f)))
}

// CopyChannels copies a decoder's channel layout and sample depth to an encoder
// (av_channel_layout_copy). If channels is not 0, the encoder gets FFmpeg's default layout
// for that number of channels instead (av_channel_layout_default).
func CopyChannels(encoder, decoder *astiav.CodecContext, channels int) error {
	return status(C.copy_sound(coder(encoder), coder(decoder), C.int(channels)))
}

// HasUsualLayout reports whether c has FFmpeg's default layout for its number of channels
// (av_channel_layout_compare).
func HasUsualLayout(c *astiav.CodecContext) bool { return C.usual_layout(coder(c)) != 0 }

// IsAmbisonic reports whether c's channels are those of a sound field and not of loudspeakers (AV_CHANNEL_ORDER_AMBISONIC).
func IsAmbisonic(c *astiav.CodecContext) bool {
	return coder(c).ch_layout.order == C.AV_CHANNEL_ORDER_AMBISONIC
}

// Channels returns AVCodecContext.ch_layout.nb_channels.
func Channels(c *astiav.CodecContext) int { return int(C.channels(coder(c))) }

// ParameterChannels returns AVCodecParameters.ch_layout.nb_channels.
func ParameterChannels(p *astiav.CodecParameters) int { return int(params(p).ch_layout.nb_channels) }

// SampleBits returns how many bits of its samples a decoder uses (AVCodecContext.bits_per_raw_sample, or
// else those of sample_fmt), and whether they are floats.
func SampleBits(c *astiav.CodecContext) (bits int, float bool) {
	switch PackedFormat(c.SampleFormat()) {
	case astiav.SampleFormatFlt, astiav.SampleFormatDbl:
		float = true
	}
	return int(C.raw_bits(coder(c))), float
}

// LosslessProfile reports whether p is sound of a codec with and without losses whose profile, or
// which as a rule, has none: DTS-HD Master Audio (FF_PROFILE_DTS_HD_MA) and WavPack.
func LosslessProfile(p *astiav.CodecParameters) bool {
	id := p.CodecID()
	return id == astiav.CodecIDWavpack || id == astiav.CodecIDDts && (params(p).profile == 60 || params(p).profile == 61)
}

// InitialPadding returns AVCodecParameters.initial_padding, the number of samples that
// the encoder has inserted at the start.
func InitialPadding(p *astiav.CodecParameters) int { return int(params(p).initial_padding) }

// BlockAlign returns AVCodecParameters.block_align, the bytes of a block of samples, 0 if
// it is unknown.
func BlockAlign(p *astiav.CodecParameters) int { return int(params(p).block_align) }

// NameChannels gives p FFmpeg's default layout for its number of channels if the order of
// its channels is unspecified (av_channel_layout_default).
func NameChannels(p *astiav.CodecParameters) { C.name_channels(params(p)) }

// MatroskaOmitsOpusDelay reports whether FFmpeg's Matroska muxer leaves the delay of Opus
// out of timestamps, as before FFmpeg 6.0. Demuxers subtract it.
func MatroskaOmitsOpusDelay() bool { return C.compat_matroska_omits_opus_delay() != 0 }

// NewSamples allocates n samples of planar floats per channel in f, with the encoder's
// channels and sample rate (av_frame_get_buffer).
func NewSamples(f *astiav.Frame, encoder *astiav.CodecContext, n int) error {
	return status(C.new_samples(raw(f), coder(encoder), C.int(n)))
}

// FloatPlanes returns views of the channels of a frame of planar floats
// (AVFrame.extended_data).
func FloatPlanes(f *astiav.Frame, channels int) [][]float32 {
	planes := make([][]float32, channels)
	for c := range planes {
		planes[c] = unsafe.Slice((*float32)(unsafe.Pointer(C.channel_data(raw(f), C.int(c)))), f.NbSamples())
	}
	return planes
}
