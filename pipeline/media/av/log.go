package av

/*
#cgo pkg-config: libavformat libavcodec libavutil
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <libavutil/log.h>
#include "compat.h"

// The last error that FFmpeg logged on this thread, which is more specific than the error
// code it returns afterwards.
static _Thread_local char last_message[512];

// The error counter of one input. The demuxer's and the decoder's contexts point to it
// through their opaque field, and FFmpeg copies that field to the contexts of the
// decoder's threads.
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

static struct error_count *new_count(void) { return calloc(1, sizeof(struct error_count)); }
static int count_of(struct error_count *c) { return atomic_load(&c->n); }
static void count_format(AVFormatContext *c, struct error_count *n) { c->opaque = n; }
static void count_codec(AVCodecContext *c, struct error_count *n) { c->opaque = n; }
*/
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// init installs a log callback, so that FFmpeg writes nothing to standard error
// (av_log_set_callback).
func init() { C.capture_log() }

// WithMessage runs f, which calls FFmpeg, on one OS thread and returns the last error
// that FFmpeg logged on it together with f's own error.
func WithMessage(f func() error) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.forget_message()
	err := f()
	return C.GoString(C.take_message()), err
}

// ErrorCount counts the errors that FFmpeg logs about an input.
type ErrorCount struct{ n *C.struct_error_count }

// NewErrorCount returns a counter at 0. Call Free after closing everything that it counts
// for.
func NewErrorCount() ErrorCount { return ErrorCount{C.new_count()} }

// Demuxer makes e count the errors of a demuxer (AVFormatContext.opaque).
func (e ErrorCount) Demuxer(input *astiav.FormatContext) { C.count_format(context(input), e.n) }

// Decoder makes e count the errors of a decoder (AVCodecContext.opaque).
func (e ErrorCount) Decoder(c *astiav.CodecContext) { C.count_codec(coder(c), e.n) }

// Value returns the count. Other goroutines may be decoding at the same time.
func (e ErrorCount) Value() int { return int(C.count_of(e.n)) }

// Free frees the counter.
func (e ErrorCount) Free() { C.free(unsafe.Pointer(e.n)) }
