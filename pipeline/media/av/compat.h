// Wrappers for everything that differs between versions of FFmpeg. The package uses no
// other way to it, so that support for another version changes this file only.

#ifndef RETIME_COMPAT_H
#define RETIME_COMPAT_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

// Returns a frame's duration in the unit of the packets' timestamps, 0 if it is unknown.
static inline int64_t compat_frame_duration(const AVFrame *f) { return f->pkt_duration; }

static inline int compat_frame_interlaced(const AVFrame *f) { return f->interlaced_frame; }

static inline void compat_frame_clear_key(AVFrame *f) { f->key_frame = 0; }

// Return the formats and rates that an encoder lists, NULL if it takes all.
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
