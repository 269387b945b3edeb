package media

/*
#cgo pkg-config: libavformat libavutil
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>

static int chapter_count(const AVFormatContext *c) { return c->nb_chapters; }

static int add_chapter(AVFormatContext *dst, const AVFormatContext *src, int i, int64_t begin, int64_t end)
{
	AVChapter *ch = av_mallocz(sizeof *ch);
	if (!ch)
		return AVERROR(ENOMEM);
	ch->id = src->chapters[i]->id;
	ch->time_base = (AVRational){1, 1000000000};
	ch->start = begin;
	ch->end = end;
	int r = av_dict_copy(&ch->metadata, src->chapters[i]->metadata, 0);
	if (r >= 0)
		r = av_dynarray_add_nofree(&dst->chapters, (int *)&dst->nb_chapters, ch);
	if (r < 0) {
		av_dict_free(&ch->metadata);
		av_free(ch);
	}
	return r;
}

static int holds_chapters(const AVFormatContext *c)
{
	return av_match_name(c->oformat->name, "matroska,webm,mp4,mov,ipod,ismv,3gp,3g2,psp,f4v,nut,ogg,ogv,asf,mp3,ffmetadata") != 0;
}
*/
import "C"

import (
	"math/big"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// nanosecond is the unit of the chapters that are written.
var nanosecond = astiav.NewRational(1, 1e9)

// addChapters carries the source's chapters, each for as long as the output
// shows what it holds.
func (w *Writer) addChapters() error {
	src, dst := native[C.AVFormatContext](w.source.input), native[C.AVFormatContext](w.output)
	n := int(C.chapter_count(src))
	if n > 0 && C.holds_chapters(dst) == 0 {
		w.log.Warn("chapters left out: the container does not take them", "chapters", n, "container", w.output.OutputFormat().Name())
		return nil
	}
	runs := w.opt.Curve.Runs()
	for i, ch := range unsafe.Slice(src.chapters, n) {
		at := func(t C.int64_t) *big.Rat {
			v := new(big.Rat).Mul(big.NewRat(int64(t), 1), big.NewRat(int64(ch.time_base.num), int64(ch.time_base.den)))
			return v.Sub(v, w.source.Video().Start)
		}
		begin, end := at(ch.start), at(max(ch.end, ch.start))
		for r := range runs {
			from, to, shown := w.shown(&runs[r], begin, end)
			if !shown {
				continue
			}
			if err := status(C.add_chapter(dst, src, C.int(i), C.int64_t(ticks(from, nanosecond)), C.int64_t(ticks(to, nanosecond)))); err != nil {
				return err
			}
			break
		}
	}
	return nil
}
