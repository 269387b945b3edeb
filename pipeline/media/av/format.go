package av

/*
#cgo pkg-config: libavformat libavutil
#include <stdlib.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>

static int has_pb(const AVFormatContext *c) { return c->pb != NULL; }
static int pb_seekable(const AVFormatContext *c) { return c->pb && c->pb->seekable & AVIO_SEEKABLE_NORMAL; }
static int has_muxer_option(AVFormatContext *c, const char *name)
{
	const AVOption *o = av_opt_find(c, name, NULL, 0, AV_OPT_SEARCH_CHILDREN);
	return o && o->flags & AV_OPT_FLAG_ENCODING_PARAM;
}
static int is_muxer_text(AVFormatContext *c, const char *name)
{
	const AVOption *o = av_opt_find(c, name, NULL, 0, AV_OPT_SEARCH_CHILDREN);
	return o && (o->type == AV_OPT_TYPE_STRING || o->type == AV_OPT_TYPE_BINARY || o->type == AV_OPT_TYPE_DICT);
}
static int64_t muxer_option(AVFormatContext *c, const char *name)
{
	int64_t v = 0;
	av_opt_get_int(c, name, AV_OPT_SEARCH_CHILDREN, &v);
	return v;
}
static int pb_streamed(const AVFormatContext *c) { return c->pb && !(c->pb->seekable & AVIO_SEEKABLE_NORMAL); }
static int64_t pb_position(const AVFormatContext *c) { return avio_tell(c->pb); }
static int pb_error(const AVFormatContext *c) { return c->pb->error; }

static int copy_chapter(AVFormatContext *dst, const AVChapter *src, int64_t begin, int64_t end, AVRational unit)
{
	AVChapter *ch = av_mallocz(sizeof *ch);
	if (!ch)
		return AVERROR(ENOMEM);
	ch->id = src->id;
	ch->time_base = unit;
	ch->start = begin;
	ch->end = end;
	int r = av_dict_copy(&ch->metadata, src->metadata, 0);
	if (r >= 0)
		r = av_dynarray_add_nofree(&dst->chapters, (int *)&dst->nb_chapters, ch);
	if (r < 0) {
		av_dict_free(&ch->metadata);
		av_free(ch);
	}
	return r;
}

static int copy_programs(AVFormatContext *dst, const AVFormatContext *src, const int *out)
{
	for (unsigned i = 0; i < src->nb_programs; i++) {
		const AVProgram *from = src->programs[i];
		AVProgram *to = NULL;
		for (unsigned j = 0; j < from->nb_stream_indexes; j++) {
			int index = out[from->stream_index[j]];
			if (index < 0)
				continue;
			if (!to && !(to = av_new_program(dst, from->id)))
				return AVERROR(ENOMEM);
			av_program_add_stream_index(dst, from->id, index);
		}
		if (to && av_dict_copy(&to->metadata, from->metadata, 0) < 0)
			return AVERROR(ENOMEM);
	}
	return 0;
}

static int in_other_programs(AVFormatContext *c, int index, int video)
{
	int others = 0;
	for (const AVProgram *p = NULL; (p = av_find_program_from_stream(c, (AVProgram *)p, index)); others = 1)
		for (unsigned j = 0; j < p->nb_stream_indexes; j++)
			if ((int)p->stream_index[j] == video)
				return 0;
	return others;
}

// Returns the stream's codec tag, or 0 if the tag means another codec in the output's
// container.
static unsigned kept_tag(const AVFormatContext *c, const AVCodecParameters *p)
{
	const struct AVCodecTag *const *tags = c->oformat->codec_tag;
	unsigned tag;
	if (!tags || av_codec_get_id(tags, p->codec_tag) == p->codec_id || !av_codec_get_tag2(tags, p->codec_id, &tag))
		return p->codec_tag;
	return 0;
}
*/
import "C"

import (
	"unsafe"

	"github.com/asticode/go-astiav"
)

// StartTime returns AVFormatContext.start_time, the start of the earliest stream in
// microseconds, or NoTimestamp.
func StartTime(c *astiav.FormatContext) int64 { return int64(context(c).start_time) }

// DurationGuessed reports whether FFmpeg has estimated AVFormatContext.duration from the
// bit rate alone (AVFMT_DURATION_FROM_BITRATE).
func DurationGuessed(c *astiav.FormatContext) bool {
	return context(c).duration_estimation_method == C.AVFMT_DURATION_FROM_BITRATE
}

// MayJump reports whether the input's container allows discontinuous timestamps, as
// broadcast formats do (AVFMT_TS_DISCONT).
func MayJump(input *astiav.FormatContext) bool {
	return context(input).iformat.flags&C.AVFMT_TS_DISCONT != 0
}

// Position returns how many bytes of c's file were read (avio_tell); 0 if it has none.
func Position(c *astiav.FormatContext) int64 {
	if C.has_pb(context(c)) == 0 {
		return 0
	}
	return int64(C.pb_position(context(c)))
}

// IOError returns AVIOContext.error, the error of the last failed read or write of c's
// file; nil if none has failed.
func IOError(c *astiav.FormatContext) error {
	if C.has_pb(context(c)) == 0 {
		return nil
	}
	return status(C.pb_error(context(c)))
}

// IsSeekable reports whether c's file is open and can be written out of order
// (AVIOContext.seekable).
func IsSeekable(c *astiav.FormatContext) bool { return C.pb_seekable(context(c)) != 0 }

// IsStreamed reports whether c has a file that can only be read on, such as a pipe
// (AVIOContext.seekable).
func IsStreamed(c *astiav.FormatContext) bool { return C.pb_streamed(context(c)) != 0 }

// LacksHeader reports whether an input's streams are found only as packets are read
// (AVFMTCTX_NOHEADER).
func LacksHeader(input *astiav.FormatContext) bool {
	return context(input).ctx_flags&C.AVFMTCTX_NOHEADER != 0
}

// HasMuxerOption reports whether an output's muxer, or all muxers, have an option called
// name (av_opt_find).
func HasMuxerOption(output *astiav.FormatContext, name string) bool {
	return withString(name, func(n *C.char) C.int { return C.has_muxer_option(context(output), n) }) != 0
}

// IsMuxerTextOption reports whether the value of a muxer's option called name is text,
// bytes or a list of pairs (av_opt_find).
func IsMuxerTextOption(output *astiav.FormatContext, name string) bool {
	return withString(name, func(n *C.char) C.int { return C.is_muxer_text(context(output), n) }) != 0
}

// MuxerOption returns the value of an option of numbers of an output's muxer; 0 if it has none called name
// (av_opt_get_int).
func MuxerOption(output *astiav.FormatContext, name string) int64 {
	return int64(withString(name, func(n *C.char) C.int64_t { return C.muxer_option(context(output), n) }))
}

// SetMuxerOption sets an option of an output's muxer (av_opt_set).
func SetMuxerOption(output *astiav.FormatContext, name, value string) error {
	return status(withString(name, func(n *C.char) C.int {
		return withString(value, func(v *C.char) C.int {
			return C.av_opt_set(unsafe.Pointer(context(output)), n, v, C.AV_OPT_SEARCH_CHILDREN)
		})
	}))
}

// WantsGlobalHeader reports whether an output's container stores codec headers apart from
// the packets (AVFMT_GLOBALHEADER).
func WantsGlobalHeader(output *astiav.FormatContext) bool {
	return context(output).oformat.flags&C.AVFMT_GLOBALHEADER != 0
}

// OpensItself reports whether an output's muxer opens its files itself (AVFMT_NOFILE).
func OpensItself(output *astiav.FormatContext) bool {
	return context(output).oformat.flags&C.AVFMT_NOFILE != 0
}

// MayRepeat reports whether packets of one stream may share a decoding time
// (AVFMT_TS_NONSTRICT).
func MayRepeat(output *astiav.FormatContext) bool {
	return context(output).oformat.flags&C.AVFMT_TS_NONSTRICT != 0
}

// IsMuxer reports whether an output's muxer is one of names, a comma-separated list
// (av_match_name).
func IsMuxer(output *astiav.FormatContext, names string) bool {
	return withString(names, func(n *C.char) C.int { return C.av_match_name(context(output).oformat.name, n) }) != 0
}

// GuessMuxer returns the muxer for a file name's extension, empty if there is none
// (av_guess_format).
func GuessMuxer(file string) string {
	f := withString(file, func(n *C.char) *C.AVOutputFormat { return C.av_guess_format(nil, n, nil) })
	if f == nil {
		return ""
	}
	return C.GoString(f.name)
}

// QueryCodec returns 1 if an output's container takes a codec, 0 if it does not, and a
// negative number if FFmpeg does not know (avformat_query_codec).
func QueryCodec(output *astiav.FormatContext, id astiav.CodecID) int {
	return int(C.avformat_query_codec(context(output).oformat, C.enum_AVCodecID(id), C.FF_COMPLIANCE_NORMAL))
}

// GuessCodec returns the codec that an output's container usually holds for a kind of
// stream, taking the file name into account (av_guess_codec).
func GuessCodec(output *astiav.FormatContext, kind astiav.MediaType) astiav.CodecID {
	c := context(output)
	return astiav.CodecID(C.av_guess_codec(c.oformat, nil, c.url, nil, C.enum_AVMediaType(kind)))
}

// DefaultCodec returns the default codec of an output's container for a kind of stream,
// AV_CODEC_ID_NONE if the container has none (AVOutputFormat.video_codec, audio_codec,
// subtitle_codec).
func DefaultCodec(output *astiav.FormatContext, kind astiav.MediaType) astiav.CodecID {
	f := context(output).oformat
	switch kind {
	case astiav.MediaTypeVideo:
		return astiav.CodecID(f.video_codec)
	case astiav.MediaTypeAudio:
		return astiav.CodecID(f.audio_codec)
	case astiav.MediaTypeSubtitle:
		return astiav.CodecID(f.subtitle_codec)
	}
	return astiav.CodecIDNone
}

// KeptTag returns p's codec tag, or 0 if the tag means another codec in the output's
// container (av_codec_get_id, av_codec_get_tag2).
func KeptTag(output *astiav.FormatContext, p *astiav.CodecParameters) uint32 {
	return uint32(C.kept_tag(context(output), params(p)))
}

// MatchStream reports whether s matches an FFmpeg stream specifier
// (avformat_match_stream_specifier). ok is false if spec is not a valid specifier.
func MatchStream(input *astiav.FormatContext, s *astiav.Stream, spec string) (match, ok bool) {
	n := withString(spec, func(c *C.char) C.int {
		return C.avformat_match_stream_specifier(context(input), stream(s), c)
	})
	return n > 0, n >= 0
}

// Chapter holds the start and the end of an AVChapter in units of TimeBase.
type Chapter struct {
	Start, End int64
	TimeBase   astiav.Rational
}

// Chapters returns the times of AVFormatContext.chapters.
func Chapters(c *astiav.FormatContext) (list []Chapter) {
	p := context(c)
	for _, ch := range unsafe.Slice(p.chapters, p.nb_chapters) {
		list = append(list, Chapter{int64(ch.start), int64(ch.end), astiav.NewRational(int(ch.time_base.num), int(ch.time_base.den))})
	}
	return list
}

// CopyChapter appends a copy of src's chapter i to dst, with its times replaced by at
// (av_dict_copy, av_dynarray_add_nofree). It fails if there is no memory.
func CopyChapter(dst, src *astiav.FormatContext, i int, at Chapter) error {
	from := context(src)
	ch := unsafe.Slice(from.chapters, from.nb_chapters)[i]
	return status(C.copy_chapter(context(dst), ch, C.int64_t(at.Start), C.int64_t(at.End), rational(at.TimeBase)))
}

// InOtherPrograms reports whether a stream belongs to programs of c, but to none that video belongs to
// (av_find_program_from_stream).
func InOtherPrograms(c *astiav.FormatContext, s, video *astiav.Stream) bool {
	return C.in_other_programs(context(c), C.int(s.Index()), C.int(video.Index())) != 0
}

// CopyPrograms appends src's programs to dst (av_new_program,
// av_program_add_stream_index). outputs maps each stream index of src to one of dst, or
// to -1 if dst does not have the stream. It fails if there is no memory.
func CopyPrograms(dst, src *astiav.FormatContext, outputs []int) error {
	if len(outputs) == 0 {
		return nil
	}
	list := make([]C.int, len(outputs))
	for i, n := range outputs {
		list[i] = C.int(n)
	}
	return status(C.copy_programs(context(dst), context(src), &list[0]))
}
