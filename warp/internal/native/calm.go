//go:build cgo && (amd64 || arm64)

package native

/*
#include "calls.h"
*/
import "C"

import (
	"unsafe"

	"retime/frame"
)

// Softening is how strongly the spans of rows are blurred: by the strengths of cells of eight
// by eight pixels of the picture. A span is the columns of two cells, int32 each. Still, of the
// guides' grid, may be empty.
type Softening[Span any] struct {
	Strengths     frame.Image[uint16]
	Still         frame.Image[uint8]
	Level, SX, SY int
	Spans         []Span
}

// Soften sets the spans of rows [y0, y1), which lie between two lines of cells, of dst to the
// blurred samples of src.
func Soften[Span any, T frame.Sample](k *Kernels, s Softening[Span], dst frame.Image[uint16], src frame.Image[T], y0, y1 int) {
	var span Span
	if unsafe.Sizeof(span) != C.sizeof_warp_span {
		panic("native: spans have another size in C")
	}
	c := C.warp_softening{
		strength: words(s.Strengths.Pix), columns: C.int32_t(s.Strengths.Width), lines: C.int32_t(s.Strengths.Height),
		level: C.int32_t(s.Level), sx: C.int32_t(s.SX), sy: C.int32_t(s.SY),
		span: (*C.warp_span)(unsafe.Pointer(unsafe.SliceData(s.Spans))), spans: C.int32_t(len(s.Spans)),
	}
	if s.Still.Height > 0 {
		c.still, c.still_stride = (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(s.Still.Pix))), C.int32_t(s.Still.Stride)
	}
	pix, w, h, stride := unsafe.Pointer(unsafe.SliceData(src.Pix)), C.int(src.Width), C.int(src.Height), C.int64_t(src.Stride)
	var sample T
	if unsafe.Sizeof(sample) == 1 {
		C.call_soften8(k.k, c, words(dst.Pix), (*C.uint8_t)(pix), w, h, stride, C.int(y0), C.int(y1))
	} else {
		C.call_soften16(k.k, c, words(dst.Pix), (*C.uint16_t)(pix), w, h, stride, C.int(y0), C.int(y1))
	}
}
