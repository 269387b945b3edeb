// Wrappers for everything that differs between versions of FFmpeg, from 5.1 on. The
// package uses no other way to it, so that support for another version changes this file
// only.

#ifndef RETIME_COMPAT_H
#define RETIME_COMPAT_H

#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

// Returns a frame's duration in the unit of the packets' timestamps, 0 if it is unknown.
static inline int64_t compat_frame_duration(const AVFrame *f)
{
#if LIBAVUTIL_VERSION_MAJOR >= 58 // FFmpeg 6.0
	return f->duration;
#else
	return f->pkt_duration;
#endif
}

// Returns the field order of f's picture, whose lines are in their places, as the ffmpeg program
// states it.
static inline enum AVFieldOrder compat_frame_fields(const AVFrame *f)
{
#ifdef AV_FRAME_FLAG_INTERLACED // FFmpeg 6.1
	int interlaced = f->flags & AV_FRAME_FLAG_INTERLACED, top = f->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
	int interlaced = f->interlaced_frame, top = f->top_field_first;
#endif
	return !interlaced ? AV_FIELD_PROGRESSIVE : top ? AV_FIELD_TB : AV_FIELD_BT;
}

// Marks f as compat_frame_fields reports it.
static inline void compat_set_frame_fields(AVFrame *f, enum AVFieldOrder order)
{
	int interlaced = order != AV_FIELD_PROGRESSIVE, top = order == AV_FIELD_TB;
#ifdef AV_FRAME_FLAG_INTERLACED // FFmpeg 6.1
	f->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
	f->flags |= (interlaced ? AV_FRAME_FLAG_INTERLACED : 0) | (top ? AV_FRAME_FLAG_TOP_FIELD_FIRST : 0);
#else
	f->interlaced_frame = interlaced;
	f->top_field_first = top;
#endif
}

static inline void compat_frame_clear_key(AVFrame *f)
{
#ifdef AV_FRAME_FLAG_KEY // FFmpeg 6.1
	f->flags &= ~AV_FRAME_FLAG_KEY;
#else
	f->key_frame = 0;
#endif
}

// Return the formats and rates that an encoder lists, NULL if it takes all.
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100) // FFmpeg 7.1
static inline const void *compat_supported(const AVCodec *c, enum AVCodecConfig what)
{
	const void *list = NULL;
	return avcodec_get_supported_config(NULL, c, what, 0, &list, NULL) < 0 ? NULL : list;
}
static inline const enum AVPixelFormat *compat_pixel_formats(const AVCodec *c) { return compat_supported(c, AV_CODEC_CONFIG_PIX_FORMAT); }
static inline const enum AVSampleFormat *compat_sample_formats(const AVCodec *c) { return compat_supported(c, AV_CODEC_CONFIG_SAMPLE_FORMAT); }
static inline const int *compat_sample_rates(const AVCodec *c) { return compat_supported(c, AV_CODEC_CONFIG_SAMPLE_RATE); }
#else
static inline const enum AVPixelFormat *compat_pixel_formats(const AVCodec *c) { return c->pix_fmts; }
static inline const enum AVSampleFormat *compat_sample_formats(const AVCodec *c) { return c->sample_fmts; }
static inline const int *compat_sample_rates(const AVCodec *c) { return c->supported_samplerates; }
#endif

// Reports whether the Matroska muxer leaves Opus's delay out of timestamps, although
// demuxers subtract it.
static inline int compat_matroska_omits_opus_delay(void) { return LIBAVFORMAT_VERSION_MAJOR < 60; } // FFmpeg 6.0

// Reports whether the wrapper of libaom's encoder writes frames' HDR10+ metadata.
static inline int compat_libaom_writes_hdr10plus(void) { return LIBAVCODEC_VERSION_MAJOR >= 63; } // FFmpeg 9; 7.1 does not, and 8 was not tried

// Reports whether the decoder of H.264 marks all damaged progressive pictures if several threads decode.
static inline int compat_h264_marks_in_threads(void) { return LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 0); } // FFmpeg 6.1

// Side data of a whole stream.
#if LIBAVFORMAT_VERSION_MAJOR >= 61 // FFmpeg 7.0
static inline const uint8_t *compat_stream_side_data(const AVStream *s, enum AVPacketSideDataType kind, size_t *size)
{
	const AVCodecParameters *p = s->codecpar;
	const AVPacketSideData *d = av_packet_side_data_get(p->coded_side_data, p->nb_coded_side_data, kind);
	*size = d ? d->size : 0;
	return d ? d->data : NULL;
}
static inline uint8_t *compat_new_stream_side_data(AVStream *s, enum AVPacketSideDataType kind, size_t size)
{
	AVCodecParameters *p = s->codecpar;
	AVPacketSideData *d = av_packet_side_data_new(&p->coded_side_data, &p->nb_coded_side_data, kind, size, 0);
	return d ? d->data : NULL;
}
static inline int compat_copy_stream_side_data(AVStream *dst, const AVStream *src) { return 0; } // avcodec_parameters_copy does that
#else
static inline const uint8_t *compat_stream_side_data(const AVStream *s, enum AVPacketSideDataType kind, size_t *size)
{
	return av_stream_get_side_data(s, kind, size);
}
static inline uint8_t *compat_new_stream_side_data(AVStream *s, enum AVPacketSideDataType kind, size_t size)
{
	return av_stream_new_side_data(s, kind, size);
}
static inline int compat_copy_stream_side_data(AVStream *dst, const AVStream *src)
{
	for (int i = 0; i < src->nb_side_data; i++) {
		const AVPacketSideData *from = &src->side_data[i];
		uint8_t *to = av_stream_new_side_data(dst, from->type, from->size);
		if (!to)
			return AVERROR(ENOMEM);
		memcpy(to, from->data, from->size);
	}
	return 0;
}
#endif

#endif
