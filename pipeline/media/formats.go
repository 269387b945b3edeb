package media

/*
#include <libavutil/pixdesc.h>
*/
import "C"

import (
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/pipeline/frame"
)

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

// planarTwin returns the planar format that holds every sample of p: p itself
// where that is planar. lossless is false where p's samples do not all fit, as
// floating point ones do not.
func planarTwin(p astiav.PixelFormat) (twin astiav.PixelFormat, lossless, ok bool) {
	if _, planar := planarFormat(p); planar {
		return p, true, true
	}
	src := C.av_pix_fmt_desc_get(C.enum_AVPixelFormat(p))
	if src == nil || src.flags&C.AV_PIX_FMT_FLAG_HWACCEL != 0 {
		return 0, false, false
	}
	depth := 0
	for _, c := range src.comp[:src.nb_components] {
		depth = max(depth, int(c.depth))
	}
	lossless = depth <= 16 && src.flags&(C.AV_PIX_FMT_FLAG_FLOAT|C.AV_PIX_FMT_FLAG_BAYER) == 0
	depth = min(max(depth, 8), 16)
	alpha := src.flags&C.AV_PIX_FMT_FLAG_ALPHA != 0
	rgb := src.flags&(C.AV_PIX_FMT_FLAG_RGB|C.AV_PIX_FMT_FLAG_PAL|C.AV_PIX_FMT_FLAG_BAYER) != 0
	gray := !rgb && !alpha && src.nb_components == 1

	bestDepth := 17
	for d := C.av_pix_fmt_desc_next(nil); d != nil; d = C.av_pix_fmt_desc_next(d) {
		id := astiav.PixelFormat(C.av_pix_fmt_desc_get_id(d))
		f, planar := planarFormat(id)
		if !planar || strings.HasPrefix(f.Name, "yuvj") || f.Depth < depth || f.Depth >= bestDepth || f.Alpha() != alpha || f.RGB != rgb || (f.Planes == 1) != gray {
			continue
		}
		if !rgb && !gray && src.nb_components >= 3 && (f.ChromaX != int(src.log2_chroma_w) || f.ChromaY != int(src.log2_chroma_h)) {
			continue
		}
		if src.nb_components < 3 && f.Planes >= 3 && (f.ChromaX != 0 || f.ChromaY != 0) {
			continue // gray with alpha: its chroma is constant
		}
		twin, bestDepth, ok = id, f.Depth, true
	}
	return twin, lossless && ok, ok
}

var hostBigEndian = func() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 0
}()

// nearestFormat returns the format among those the encoder takes that loses
// least of p; p itself where the encoder takes it or does not say.
func nearestFormat(p astiav.PixelFormat, taken []astiav.PixelFormat) astiav.PixelFormat {
	if len(taken) == 0 {
		return p
	}
	best := taken[0]
	for _, t := range taken {
		if t == p {
			return p
		}
		d := C.av_pix_fmt_desc_get(C.enum_AVPixelFormat(p))
		alpha := C.int(0)
		if d != nil && d.flags&C.AV_PIX_FMT_FLAG_ALPHA != 0 {
			alpha = 1
		}
		best = astiav.PixelFormat(C.av_find_best_pix_fmt_of_2(C.enum_AVPixelFormat(best), C.enum_AVPixelFormat(t), C.enum_AVPixelFormat(p), alpha, nil))
	}
	return best
}
