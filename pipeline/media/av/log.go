package av

/*
#cgo pkg-config: libavformat libavcodec libavutil
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <libavutil/log.h>
#include "compat.h"

// The errors that FFmpeg logged on this thread, which are more specific than the error
// code it returns afterwards: a line each, as many as fit, and the last.
#define MOST_LINES 16384
#define LONGEST_LINE 512
static _Thread_local char messages[MOST_LINES + LONGEST_LINE];
static _Thread_local size_t messages_end; // of the lines before the last

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
	char line[LONGEST_LINE];
	int prefix = 0;
	av_log_format_line2(avcl, level, fmt, args, line, sizeof line, &prefix);
	size_t n = strlen(line);
	while (n > 0 && (line[n-1] == '\n' || line[n-1] == ' '))
		line[--n] = 0;
	if (n == 0)
		return;
	size_t before = messages_end + strlen(messages + messages_end);
	if (before > 0 && before < MOST_LINES) {
		messages[before] = '\n';
		messages_end = before + 1;
	}
	memcpy(messages + messages_end, line, n + 1);
}

static void capture_log(void) { av_log_set_callback(keep_message); }
static const char *take_messages(void) { return messages; }
static void forget_messages(void) { messages[0] = 0, messages_end = 0; }

static struct error_count *new_count(void) { return calloc(1, sizeof(struct error_count)); }
static int count_of(struct error_count *c) { return atomic_load(&c->n); }
static void count_format(AVFormatContext *c, struct error_count *n) { c->opaque = n; }
static void count_codec(AVCodecContext *c, struct error_count *n) { c->opaque = n; }
*/
import "C"

import (
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// init installs a log callback, so that FFmpeg writes nothing to standard error
// (av_log_set_callback).
func init() { C.capture_log() }

// WithMessage runs f, which calls FFmpeg, on one OS thread and returns the first and the
// last error that FFmpeg logged on it together with f's own error.
func WithMessage(f func() error) (string, error) {
	lines, err := WithLines(f)
	if n := len(lines); n > 2 {
		lines = []string{lines[0], lines[n-1]}
	}
	return strings.Join(slices.Compact(lines), "; "), err
}

// WithLines runs f, which calls FFmpeg, on one OS thread and returns the errors that
// FFmpeg logged on it, a line each, together with f's own error. Of very many lines it
// returns the first ones and the last.
func WithLines(f func() error) ([]string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.forget_messages()
	err := f()
	return strings.FieldsFunc(C.GoString(C.take_messages()), func(r rune) bool { return r == '\n' }), err
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
