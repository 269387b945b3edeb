package av

/*
#cgo pkg-config: libavcodec libavutil
#include <stdint.h>
#include <libavutil/pixdesc.h>
#include "compat.h"

static void read_line(uint16_t *row, const AVFrame *f, int component, int y, int width)
{
	av_read_image_line2(row, (const uint8_t **)f->data, f->linesize, av_pix_fmt_desc_get(f->format), 0, y, component, width, 0, sizeof *row);
}

static void write_line(const uint16_t *row, AVFrame *f, int component, int y, int width)
{
	av_write_image_line2(row, f->data, f->linesize, av_pix_fmt_desc_get(f->format), 0, y, component, width, sizeof *row);
}
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// PixelFlags is a set of AV_PIX_FMT_FLAG_* flags.
type PixelFlags uint64

// The flags of pixel formats.
const (
	PixelBigEndian = PixelFlags(C.AV_PIX_FMT_FLAG_BE)
	PixelPalette   = PixelFlags(C.AV_PIX_FMT_FLAG_PAL)
	PixelBitstream = PixelFlags(C.AV_PIX_FMT_FLAG_BITSTREAM)
	PixelHardware  = PixelFlags(C.AV_PIX_FMT_FLAG_HWACCEL)
	PixelRGB       = PixelFlags(C.AV_PIX_FMT_FLAG_RGB)
	PixelAlpha     = PixelFlags(C.AV_PIX_FMT_FLAG_ALPHA)
	PixelBayer     = PixelFlags(C.AV_PIX_FMT_FLAG_BAYER)
	PixelFloat     = PixelFlags(C.AV_PIX_FMT_FLAG_FLOAT)
)

// PixelComponent is an AVComponentDescriptor, the location of a component's samples. Step
// and Offset count bytes, or bits in a bitstream format; Depth counts bits.
type PixelComponent struct{ Plane, Step, Offset, Shift, Depth int }

// PixelDescription is an AVPixFmtDescriptor. A chroma sample covers 2^Log2ChromaW by
// 2^Log2ChromaH pixels.
type PixelDescription struct {
	Name                     string
	Log2ChromaW, Log2ChromaH int
	Flags                    PixelFlags
	Components               []PixelComponent
	BitsPerPixel             int // including padding (av_get_padded_bits_per_pixel)
}

// Has reports whether any of flags is set.
func (d *PixelDescription) Has(flags PixelFlags) bool { return d.Flags&flags != 0 }

// pixelFormats maps every pixel format to its description.
var pixelFormats = sync.OnceValue(func() map[astiav.PixelFormat]*PixelDescription {
	all := map[astiav.PixelFormat]*PixelDescription{}
	for _, p := range PixelFormats() {
		c := C.av_pix_fmt_desc_get(C.enum_AVPixelFormat(p))
		d := &PixelDescription{
			Name: C.GoString(c.name), Log2ChromaW: int(c.log2_chroma_w), Log2ChromaH: int(c.log2_chroma_h),
			Flags: PixelFlags(c.flags), BitsPerPixel: int(C.av_get_padded_bits_per_pixel(c)),
		}
		for _, k := range c.comp[:c.nb_components] {
			d.Components = append(d.Components, PixelComponent{int(k.plane), int(k.step), int(k.offset), int(k.shift), int(k.depth)})
		}
		all[p] = d
	}
	return all
})

// DescribePixels returns FFmpeg's description of a pixel format, nil if FFmpeg does not
// know the format (av_pix_fmt_desc_get). Callers share the result and must not change it.
func DescribePixels(p astiav.PixelFormat) *PixelDescription { return pixelFormats()[p] }

// PixelFormats returns all pixel formats in FFmpeg's order (av_pix_fmt_desc_next).
var PixelFormats = sync.OnceValue(func() (all []astiav.PixelFormat) {
	for d := C.av_pix_fmt_desc_next(nil); d != nil; d = C.av_pix_fmt_desc_next(d) {
		all = append(all, astiav.PixelFormat(C.av_pix_fmt_desc_get_id(d)))
	}
	return all
})

// RawTag returns the tag that identifies a pixel format in raw video files, 0 if there is
// none (avcodec_pix_fmt_to_codec_tag).
func RawTag(p astiav.PixelFormat) uint32 {
	return uint32(C.avcodec_pix_fmt_to_codec_tag(C.enum_AVPixelFormat(p)))
}

// ReadLine reads the first len(row) samples of a component in picture row y
// (av_read_image_line2). f's format must not use a palette or floating point.
func ReadLine(row []uint16, f *astiav.Frame, component, y int) {
	C.read_line((*C.uint16_t)(unsafe.Pointer(unsafe.SliceData(row))), raw(f), C.int(component), C.int(y), C.int(len(row)))
}

// WriteLine writes row as the first len(row) samples of a component in picture row y
// (av_write_image_line2). If f's format packs several components into a byte or word,
// clear the picture row before the first call.
func WriteLine(row []uint16, f *astiav.Frame, component, y int) {
	C.write_line((*C.uint16_t)(unsafe.Pointer(unsafe.SliceData(row))), raw(f), C.int(component), C.int(y), C.int(len(row)))
}
