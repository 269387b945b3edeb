package media

/*
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
*/
import "C"

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/frame"
)

// paletted marks formats of indices into a palette, which nothing here makes.
const paletted = C.AV_PIX_FMT_FLAG_PAL

// planarFormat describes p where its planes can be worked on as they are: one
// component per plane, integer samples of one depth from 8 to 16 bits in the
// machine's byte order.
func planarFormat(p astiav.PixelFormat) (frame.Format, bool) {
	d := C.av_pix_fmt_desc_get(C.enum_AVPixelFormat(p))
	const unusable = C.AV_PIX_FMT_FLAG_HWACCEL | C.AV_PIX_FMT_FLAG_FLOAT | C.AV_PIX_FMT_FLAG_BITSTREAM |
		C.AV_PIX_FMT_FLAG_PAL | C.AV_PIX_FMT_FLAG_BAYER
	if d == nil || d.flags&unusable != 0 {
		return frame.Format{}, false
	}
	depth := int(d.comp[0].depth)
	bigEndian := d.flags&C.AV_PIX_FMT_FLAG_BE != 0
	if depth < 8 || depth > 16 || depth > 8 && bigEndian != hostBigEndian {
		return frame.Format{}, false
	}
	f := frame.Format{
		Name: C.GoString(d.name), Depth: depth, Planes: int(d.nb_components),
		ChromaX: int(d.log2_chroma_w), ChromaY: int(d.log2_chroma_h),
		RGB: d.flags&C.AV_PIX_FMT_FLAG_RGB != 0,
	}
	var planes [4]bool
	for _, c := range d.comp[:d.nb_components] {
		if int(c.depth) != depth || c.shift != 0 || c.offset != 0 || int(c.step) != f.Bytes() || planes[c.plane] {
			return frame.Format{}, false
		}
		planes[c.plane] = true
	}
	return f, true
}

// planarTwin returns the smallest planar format that holds every sample of p: p
// itself where that is planar. lossless is false where samples are rounded, as
// floating point ones are.
func planarTwin(p astiav.PixelFormat) (twin astiav.PixelFormat, lossless, ok bool) {
	if _, planar := planarFormat(p); planar {
		return p, true, true
	}
	src := describe(p)
	if src == nil {
		return 0, false, false
	}
	mosaic := has(src, C.AV_PIX_FMT_FLAG_BAYER)
	var best frame.Format
	for d := C.av_pix_fmt_desc_next(nil); d != nil; d = C.av_pix_fmt_desc_next(d) {
		id := astiav.PixelFormat(C.av_pix_fmt_desc_get_id(d))
		f, planar := planarFormat(id)
		if !planar || alwaysFull(id) || f.Depth < depthOf(src) || ok && !smaller(f, best) {
			continue
		}
		holds, exact := hasPlaces(id, p)
		if holds || mosaic && f.RGB && !f.Alpha() {
			twin, best, lossless, ok = id, f, exact, true
		}
	}
	return twin, lossless, ok
}

// smaller says whether pictures in a take less memory than in b.
func smaller(a, b frame.Format) bool {
	size := func(f frame.Format) int {
		n := 0
		for i := range f.Planes {
			w, h := f.PlaneSize(i, 16, 16)
			n += w * h
		}
		return n
	}
	if x, y := size(a), size(b); x != y {
		return x < y
	}
	return a.Depth < b.Depth
}

var hostBigEndian = func() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 0
}()

// loss is what becomes less where samples change their format, the gravest
// first; the zero value is nothing.
type loss struct {
	alpha, colour bool // gone altogether
	bits          int  // of depth
	chroma        bool // resolution
	bright        bool // values above 1
	exact         bool // values, which are rounded from YUV to RGB
}

func (l loss) String() string {
	var parts []string
	if l.alpha {
		parts = append(parts, "alpha")
	}
	if l.colour {
		parts = append(parts, "colour")
	}
	if l.bits > 0 {
		parts = append(parts, fmt.Sprintf("%d bits of depth", l.bits))
	}
	if l.chroma {
		parts = append(parts, "chroma resolution")
	}
	if l.bright {
		parts = append(parts, "what is brighter than white")
	}
	if l.exact {
		parts = append(parts, "exact values")
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

func (l loss) compare(m loss) int {
	return cmp.Or(cmp.Compare(rank(l.alpha), rank(m.alpha)), cmp.Compare(rank(l.colour), rank(m.colour)),
		cmp.Compare(l.bits, m.bits), cmp.Compare(rank(l.chroma), rank(m.chroma)), cmp.Compare(rank(l.bright), rank(m.bright)), cmp.Compare(rank(l.exact), rank(m.exact)))
}

// lossBetween says what pictures in p lose when they become t. RGB keeps its
// depth in YUV of two more bits: there each triple has a value of its own.
func lossBetween(p, t astiav.PixelFormat) loss {
	from, to := describe(p), describe(t)
	if from == nil || to == nil {
		return loss{}
	}
	need := depthOf(from)
	if has(to, C.AV_PIX_FMT_FLAG_PAL) {
		need += 8 // too few colours
	}
	if isRGB(from) && !isRGB(to) && colours(to) > 1 {
		need += 2
	}
	return loss{
		alpha:  hasAlpha(from) && !hasAlpha(to),
		colour: colours(from) > 1 && colours(to) == 1,
		bits:   max(0, need-depthOf(to)),
		chroma: colours(from) > 1 && (to.log2_chroma_w > from.log2_chroma_w || to.log2_chroma_h > from.log2_chroma_h),
		bright: has(from, C.AV_PIX_FMT_FLAG_FLOAT) && !has(to, C.AV_PIX_FMT_FLAG_FLOAT),
		exact:  isRGB(to) && !isRGB(from),
	}
}

// nearestFormat returns the format among those the encoder takes, and that fit,
// in which pictures in p lose least, the smallest of equals; p itself where the
// encoder takes it or does not say. ok is false where none fits.
func nearestFormat(p astiav.PixelFormat, taken []astiav.PixelFormat, fits func(astiav.PixelFormat) bool) (best astiav.PixelFormat, least loss, ok bool) {
	if len(taken) == 0 {
		return p, loss{}, fits(p)
	}
	for _, t := range taken {
		if !fits(t) {
			continue
		}
		if t == p {
			return p, loss{}, true
		}
		l := lossBetween(p, t)
		if !ok || cmp.Or(l.compare(least), compareFit(p, t, best)) < 0 {
			best, least, ok = t, l, true
		}
	}
	return best, least, ok
}

// compareFit orders formats in which p loses as much: those that only move
// samples first, then those of p's kind of colour and range, then the smallest.
func compareFit(p, a, b astiav.PixelFormat) int {
	key := func(t astiav.PixelFormat) []int {
		holds, exact := holdsAll(t, p)
		return []int{
			rank(!holds || !exact), rank(isRGB(describe(t)) != isRGB(describe(p)) || colours(describe(t)) != colours(describe(p))),
			rank(alwaysFull(t) != alwaysFull(p)),
			int(C.av_get_padded_bits_per_pixel(describe(t))), depthOf(describe(t)),
		}
	}
	return slices.Compare(key(a), key(b))
}

// rank orders false before true.
func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// alwaysFull says whether p is one of the formats that imply full range.
func alwaysFull(p astiav.PixelFormat) bool { return strings.HasPrefix(p.Name(), "yuvj") }

// filterFormats returns the formats that FFmpeg knows and keep does.
func filterFormats(keep func(astiav.PixelFormat) bool) []astiav.PixelFormat {
	var out []astiav.PixelFormat
	for d := C.av_pix_fmt_desc_next(nil); d != nil; d = C.av_pix_fmt_desc_next(d) {
		if p := astiav.PixelFormat(C.av_pix_fmt_desc_get_id(d)); keep(p) {
			out = append(out, p)
		}
	}
	return out
}

// hasRawTag says whether files of raw video can name p.
func hasRawTag(p astiav.PixelFormat) bool {
	return !alwaysFull(p) && C.avcodec_pix_fmt_to_codec_tag(C.enum_AVPixelFormat(p)) != 0
}

// yuv4mpegHolds says whether YUV4MPEG2 streams can name p.
func yuv4mpegHolds(p astiav.PixelFormat) bool {
	f, ok := planarFormat(p)
	switch {
	case !ok || f.RGB || f.Alpha() || alwaysFull(p):
		return false
	case f.Planes == 1:
		return f.Depth != 14
	case f.ChromaX == 2 && f.ChromaY == 0:
		return f.Depth == 8
	}
	return f.ChromaX <= 1 && f.ChromaY <= f.ChromaX
}
