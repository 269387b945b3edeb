// What differs between versions of FFmpeg, or is of FFmpeg's macros and unions that Go
// cannot read. All of this package reaches these things through here, so that a further
// version is a change of this file only.

#ifndef RETIME_COMPAT_H
#define RETIME_COMPAT_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

// How long a frame is shown, in the unit of its packets; 0 if nothing says it.
static inline int64_t compat_frame_duration(const AVFrame *f) { return f->pkt_duration; }

static inline int compat_frame_interlaced(const AVFrame *f) { return f->interlaced_frame; }

static inline void compat_frame_clear_key(AVFrame *f) { f->key_frame = 0; }

// The formats and rates that an encoder lists, NULL for one that takes all.
static inline const enum AVPixelFormat *compat_pixel_formats(const AVCodec *c) { return c->pix_fmts; }
static inline const enum AVSampleFormat *compat_sample_formats(const AVCodec *c) { return c->sample_fmts; }
static inline const int *compat_sample_rates(const AVCodec *c) { return c->supported_samplerates; }

static inline const uint8_t *compat_stream_side_data(const AVStream *s, enum AVPacketSideDataType kind, size_t *size)
{
	return av_stream_get_side_data(s, kind, size);
}
static inline uint8_t *compat_new_stream_side_data(AVStream *s, enum AVPacketSideDataType kind, size_t size)
{
	return av_stream_new_side_data(s, kind, size);
}

#endif
