package media

/*
#cgo pkg-config: libavcodec libavutil libswscale
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libswscale/swscale.h>

// Samples keep what they stand for on the way from one range and matrix to the
// other.
static void scale_set_colour(struct SwsContext *c, int from_matrix, int from_full, int to_matrix, int to_full)
{
	sws_setColorspaceDetails(c, sws_getCoefficients(from_matrix), from_full, sws_getCoefficients(to_matrix), to_full, 0, 1 << 16, 1 << 16);
}
*/
import "C"

import (
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/frame"
)

// colour says what samples stand for, in the code points of ITU-T H.273 as
// FFmpeg numbers them.
type colour struct {
	primaries, transfer, matrix, extent, chroma C.int
}

// colourOf returns what f says of itself, or else what its decoder says.
func colourOf(f *astiav.Frame, decoder *astiav.CodecContext) colour {
	p, d := rawFrame(f), native[C.AVCodecContext](decoder)
	either := func(v, fallback C.int, unknown C.int) C.int {
		if v == unknown {
			return fallback
		}
		return v
	}
	return colour{
		primaries: either(C.int(p.color_primaries), C.int(d.color_primaries), C.AVCOL_PRI_UNSPECIFIED),
		transfer:  either(C.int(p.color_trc), C.int(d.color_trc), C.AVCOL_TRC_UNSPECIFIED),
		matrix:    either(C.int(p.colorspace), C.int(d.colorspace), C.AVCOL_SPC_UNSPECIFIED),
		extent:    either(C.int(p.color_range), C.int(d.color_range), C.AVCOL_RANGE_UNSPECIFIED),
		chroma:    either(C.int(p.chroma_location), C.int(d.chroma_sample_location), C.AVCHROMA_LOC_UNSPECIFIED),
	}
}

func (c colour) tag(f *astiav.Frame) {
	p := rawFrame(f)
	p.color_primaries, p.color_trc, p.colorspace = uint32(c.primaries), uint32(c.transfer), uint32(c.matrix)
	p.color_range, p.chroma_location = uint32(c.extent), uint32(c.chroma)
}

// full says whether samples in p use their whole range. Where nothing tells,
// RGB and gray do.
func (c colour) full(p astiav.PixelFormat) bool {
	if alwaysFull(p) || c.extent == C.AVCOL_RANGE_JPEG {
		return true
	}
	d := describe(p)
	return c.extent == C.AVCOL_RANGE_UNSPECIFIED && (isRGB(d) || isXYZ(d) || colours(d) == 1)
}

// curve sorts c's transfer characteristics.
func (c colour) curve() frame.Transfer {
	switch c.transfer {
	case C.AVCOL_TRC_SMPTE2084:
		return frame.PQ
	case C.AVCOL_TRC_ARIB_STD_B67:
		return frame.HLG
	}
	return frame.SDR
}

// coefficients returns the matrix between RGB and YUV: c's own, or else what
// pictures of its primaries or height usually have.
func (c colour) coefficients(height int) C.int {
	switch {
	case c.matrix != C.AVCOL_SPC_UNSPECIFIED && c.matrix != C.AVCOL_SPC_RGB:
		return c.matrix
	case c.primaries == C.AVCOL_PRI_BT2020:
		return C.AVCOL_SPC_BT2020_NCL
	case c.primaries == C.AVCOL_PRI_SMPTE170M || c.primaries == C.AVCOL_PRI_BT470BG || c.primaries == C.AVCOL_PRI_UNSPECIFIED && height < 720:
		return C.AVCOL_SPC_SMPTE170M
	}
	return C.AVCOL_SPC_BT709
}

// in returns what the samples of pictures in p stand for once they are in t.
func (c colour) in(t, p astiav.PixelFormat, height int) colour {
	from, to := describe(p), describe(t)
	switch {
	case isRGB(to) && !isRGB(from):
		c.matrix, c.extent = C.AVCOL_SPC_RGB, C.AVCOL_RANGE_JPEG
	case !isRGB(to) && isRGB(from):
		c.matrix, c.extent = c.coefficients(height), C.AVCOL_RANGE_MPEG
	case colours(from) == 1 && colours(to) > 1 && c.full(p):
		c.extent = C.AVCOL_RANGE_JPEG
	}
	if alwaysFull(p) || alwaysFull(t) {
		c.extent = C.AVCOL_RANGE_JPEG
	}
	if to.log2_chroma_w != from.log2_chroma_w || to.log2_chroma_h != from.log2_chroma_h {
		c.chroma = C.AVCHROMA_LOC_UNSPECIFIED
	}
	return c
}

// layout is all that conversion between pictures has to know of them.
type layout struct {
	width, height int
	format        astiav.PixelFormat
	matrix        C.int
	full          bool
}

func (c colour) layout(width, height int, p astiav.PixelFormat) layout {
	return layout{width, height, p, c.coefficients(height), c.full(p)}
}

func setScalerColour(s *astiav.SoftwareScaleContext, from, to layout) {
	C.scale_set_colour(*(**C.struct_SwsContext)(unsafe.Pointer(s)), from.matrix, C.int(rank(from.full)), to.matrix, C.int(rank(to.full)))
}
