package media

/*
#cgo pkg-config: libavutil
#include <stdint.h>
#include <string.h>
#include <libavutil/bswap.h>
#include <libavutil/common.h>
#include <libavutil/frame.h>
#include <libavutil/intfloat.h>
#include <libavutil/pixdesc.h>

enum { MAX_SIDE = 1 << 15 };

// Whether d's samples lie in the other byte order.
static int swapped(const AVPixFmtDescriptor *d) { return !(d->flags & AV_PIX_FMT_FLAG_BE) != !AV_HAVE_BIGENDIAN; }

static int alpha_component(const AVPixFmtDescriptor *d)
{
	return d->flags & AV_PIX_FMT_FLAG_ALPHA ? d->nb_components - 1 : -1;
}

// The index of dst's component c in src: -1 where src has none.
static int matching_component(const AVPixFmtDescriptor *dst, int c, const AVPixFmtDescriptor *src)
{
	if (c == alpha_component(dst))
		return alpha_component(src);
	return c < src->nb_components && c != alpha_component(src) ? c : -1;
}

// Between light in floating point and signals of 16 bits; see light.go. NULL stands
// for even steps from 0 to 1.
struct light { const float *value; const uint16_t *guess; };

// The signal whose value is nearest to v.
static uint16_t signal_of(const struct light *l, union av_intfloat32 v)
{
	if (!(v.f > 0))
		return 0;
	if (v.f >= l->value[65535])
		return 65535;
	int low = l->guess[v.i >> 16], high = l->guess[(v.i >> 16) + 1] + 1;
	while (high - low > 1) {
		int middle = (low + high) / 2;
		if (l->value[middle] <= v.f)
			low = middle;
		else
			high = middle;
	}
	return low < 65535 && l->value[low + 1] - v.f < v.f - l->value[low] ? low + 1 : low;
}

static void read_floats(uint16_t *row, const AVFrame *f, const AVPixFmtDescriptor *d, int c, int y, int w, const struct light *l)
{
	const AVComponentDescriptor *k = &d->comp[c];
	const uint8_t *p = f->data[k->plane] + (ptrdiff_t)y * f->linesize[k->plane] + k->offset;
	for (int x = 0; x < w; x++, p += k->step) {
		union av_intfloat32 v;
		memcpy(&v, p, sizeof v);
		if (swapped(d))
			v.i = av_bswap32(v.i);
		if (l)
			row[x] = signal_of(l, v);
		else
			row[x] = v.f > 0 ? v.f < 1 ? (uint16_t)(v.f * 65535.0f + 0.5f) : 65535 : 0;
	}
}

static void write_floats(const uint16_t *row, AVFrame *f, const AVPixFmtDescriptor *d, int c, int y, int w, const struct light *l)
{
	const AVComponentDescriptor *k = &d->comp[c];
	uint8_t *p = f->data[k->plane] + (ptrdiff_t)y * f->linesize[k->plane] + k->offset;
	for (int x = 0; x < w; x++, p += k->step) {
		union av_intfloat32 v = { .f = l ? l->value[row[x]] : row[x] / 65535.0f };
		if (swapped(d))
			v.i = av_bswap32(v.i);
		memcpy(p, &v, sizeof v);
	}
}

static void read_row(uint16_t *row, const AVFrame *f, const AVPixFmtDescriptor *d, int c, int y, int w, const struct light *l)
{
	if (d->flags & AV_PIX_FMT_FLAG_FLOAT) {
		read_floats(row, f, d, c, y, w, l);
	} else if (d->flags & AV_PIX_FMT_FLAG_PAL) {
		// A palette's entries are words of alpha, red, green, blue.
		static const int bytes[2][4] = { { 2, 1, 0, 3 }, { 1, 2, 3, 0 } };
		const uint8_t *p = f->data[0] + (ptrdiff_t)y * f->linesize[0];
		int at = bytes[AV_HAVE_BIGENDIAN][c];
		for (int x = 0; x < w; x++)
			row[x] = f->data[1][4 * p[x] + at];
	} else {
		av_read_image_line2(row, (const uint8_t **)f->data, f->linesize, d, 0, y, c, w, 0, sizeof *row);
		if (f->format == AV_PIX_FMT_MONOWHITE)
			for (int x = 0; x < w; x++)
				row[x] ^= 1;
	}
}

static int component_depth(const AVPixFmtDescriptor *d, int c)
{
	if (d->flags & AV_PIX_FMT_FLAG_FLOAT)
		return 16;
	return d->flags & AV_PIX_FMT_FLAG_PAL ? 8 : d->comp[c].depth;
}

// Between depths the largest values correspond in full range, and whole steps in
// limited range; up and down again is exact.
static void rescale_row(uint16_t *row, int w, int from, int to, int full)
{
	uint32_t a = (1u << from) - 1, b = (1u << to) - 1;
	if (from == to)
		return;
	for (int x = 0; x < w; x++) {
		if (full)
			row[x] = ((uint64_t)row[x] * b + a / 2) / a;
		else if (from < to)
			row[x] <<= to - from;
		else
			row[x] = FFMIN((row[x] + (1u << (from - to - 1))) >> (from - to), b);
	}
}

static void clear_planes(AVFrame *f)
{
	int sy = av_pix_fmt_desc_get(f->format)->log2_chroma_h;
	for (int i = 0; i < 4 && f->data[i]; i++) {
		int h = i == 1 || i == 2 ? AV_CEIL_RSHIFT(f->height, sy) : f->height;
		memset(f->data[i], 0, (size_t)h * f->linesize[i]);
	}
}

// Components that src lacks are opaque, or without colour.
static void relayout(AVFrame *dst, const AVFrame *src, int full, const float *value, const uint16_t *guess)
{
	const struct light table = { value, guess }, *l = value ? &table : NULL;
	const AVPixFmtDescriptor *to = av_pix_fmt_desc_get(dst->format), *from = av_pix_fmt_desc_get(src->format);
	uint16_t row[MAX_SIDE];
	int alpha = alpha_component(to);
	clear_planes(dst);
	for (int c = 0; c < to->nb_components; c++) {
		int chroma = (c == 1 || c == 2) && c != alpha;
		int w = chroma ? AV_CEIL_RSHIFT(dst->width, to->log2_chroma_w) : dst->width;
		int h = chroma ? AV_CEIL_RSHIFT(dst->height, to->log2_chroma_h) : dst->height;
		int s = matching_component(to, c, from), depth = component_depth(to, c);
		for (int x = 0; s < 0 && x < w; x++)
			row[x] = c == alpha ? (1u << depth) - 1 : 1u << (depth - 1);
		for (int y = 0; y < h; y++) {
			if (s >= 0) {
				read_row(row, src, from, s, y, w, l);
				rescale_row(row, w, component_depth(from, s), depth, full || c == alpha);
			}
			if (to->flags & AV_PIX_FMT_FLAG_FLOAT)
				write_floats(row, dst, to, c, y, w, l);
			else
				av_write_image_line2(row, dst->data, dst->linesize, to, 0, y, c, w, sizeof *row);
		}
	}
}
*/
import "C"

import (
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// description is what FFmpeg tells about a sample format.
type description = C.AVPixFmtDescriptor

func describe(p astiav.PixelFormat) *description {
	return C.av_pix_fmt_desc_get(C.enum_AVPixelFormat(p))
}

func has(d *description, flag C.uint64_t) bool { return d.flags&flag != 0 }

func hasAlpha(d *description) bool { return has(d, C.AV_PIX_FMT_FLAG_ALPHA) }

// isRGB says whether d holds three primaries: red, green and blue, be it through
// a palette or a colour filter array, or tristimulus values.
func isRGB(d *description) bool {
	return has(d, C.AV_PIX_FMT_FLAG_RGB|C.AV_PIX_FMT_FLAG_PAL|C.AV_PIX_FMT_FLAG_BAYER) || isXYZ(d)
}

// isXYZ says whether d holds CIE tristimulus values.
func isXYZ(d *description) bool { return strings.HasPrefix(C.GoString(d.name), "xyz") }

// colours counts d's components without alpha.
func colours(d *description) int {
	n := int(d.nb_components)
	if hasAlpha(d) {
		n--
	}
	return n
}

// depthOf is the depth of d's deepest component; floating point counts as 16.
func depthOf(d *description) int {
	depth := 0
	for c := range d.nb_components {
		depth = max(depth, int(C.component_depth(d, C.int(c))))
	}
	return depth
}

// holdsAll says whether every sample of from has its place in to and means the
// same there, so that pictures change from one to the other by moving samples
// alone. exact is set where no sample is rounded.
func holdsAll(to, from astiav.PixelFormat) (holds, exact bool) {
	holds, exact = hasPlaces(to, from)
	return holds && isXYZ(describe(to)) == isXYZ(describe(from)), exact
}

// restores says whether pictures in p come back from their planar twin.
func restores(p, twin astiav.PixelFormat) bool {
	back, _ := hasPlaces(p, twin)
	there, _ := hasPlaces(twin, p)
	return back || there && hasAlpha(describe(p)) && colours(describe(p)) == 1 // their twin has chroma planes in vain
}

// hasPlaces is holdsAll whatever the samples mean.
func hasPlaces(to, from astiav.PixelFormat) (holds, exact bool) {
	const unknown = C.AV_PIX_FMT_FLAG_HWACCEL | C.AV_PIX_FMT_FLAG_BAYER
	const packed411 = astiav.PixelFormat(C.AV_PIX_FMT_UYYVYY411) // its description is not to be trusted
	t, f := describe(to), describe(from)
	switch {
	case t == nil || f == nil || has(t, unknown|C.AV_PIX_FMT_FLAG_PAL) || has(f, unknown) || to == packed411 || from == packed411:
		return false, false
	case to == astiav.PixelFormat(C.AV_PIX_FMT_MONOWHITE), isRGB(t) != isRGB(f), hasAlpha(f) && !hasAlpha(t):
		return false, false
	case colours(f) > 1 && (colours(t) == 1 || t.log2_chroma_w != f.log2_chroma_w || t.log2_chroma_h != f.log2_chroma_h):
		return false, false
	}
	exact = !has(f, C.AV_PIX_FMT_FLAG_FLOAT)
	for c := range t.nb_components {
		if s := C.matching_component(t, C.int(c), f); s >= 0 {
			exact = exact && C.component_depth(f, s) <= C.component_depth(t, C.int(c))
		}
	}
	return true, exact
}

// moveSamples fills dst with what it has places for of src, which is of its size.
// full says whether samples use their whole range, which matters between depths, and
// light whether integers are signals for the other's floating point.
func moveSamples(dst, src *astiav.Frame, full, light bool) {
	var value *C.float
	var guess *C.uint16_t
	if light {
		s := lightSignals()
		value, guess = (*C.float)(unsafe.Pointer(&s.value[0])), (*C.uint16_t)(unsafe.Pointer(&s.guess[0]))
	}
	C.relayout(rawFrame(dst), rawFrame(src), C.int(rank(full)), value, guess)
}
