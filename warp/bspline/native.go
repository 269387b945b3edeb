//go:build cgo && (amd64 || arm64)

package bspline

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
#cgo noescape call_causal
#cgo nocallback call_causal
#cgo noescape call_anticausal
#cgo nocallback call_anticausal
#cgo noescape call_transpose_in
#cgo nocallback call_transpose_in
#cgo noescape call_transpose_out
#cgo nocallback call_transpose_out
#include "native.h"

static void call_causal(const bspline_kernels *k, float *pix, const float *carry, float z, int64_t end) {
	k->causal(pix, carry, z, end);
}
static void call_anticausal(const bspline_kernels *k, float *pix, const float *carry, float z, int64_t end) {
	k->anticausal(pix, carry, z, end);
}
static void call_transpose_in(const bspline_kernels *k, float *lanes, const float *rows, int64_t stride, int64_t n) {
	k->transpose_in(lanes, rows, stride, n);
}
static void call_transpose_out(const bspline_kernels *k, const float *lanes, float *rows, int64_t stride, int64_t n) {
	k->transpose_out(lanes, rows, stride, n);
}
*/
import "C"

import (
	"unsafe"

	"retime/frame"
	"retime/frame/simd"
)

func floats(s []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(s))) }

// variant returns the loops for a level of instructions.
func variant(l simd.Level) loopTable {
	k := kernelsOf(l)
	if k == nil {
		return portable
	}
	carry := func(t *tile[float32, float32]) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(t.carry))) }
	return loopTable{
		causal: func(t *tile[float32, float32], z float32) {
			C.call_causal(k, floats(t.pix), carry(t), C.float(z), C.int64_t(t.length()))
		},
		anticausal: func(t *tile[float32, float32], z float32, end int) {
			C.call_anticausal(k, floats(t.pix), carry(t), C.float(z), C.int64_t(end))
		},
		transposeIn: func(d []float32, img frame.Image[float32], y, x0, x1 int) {
			C.call_transpose_in(k, floats(d), floats(img.Pix[y*img.Stride+x0:]), C.int64_t(img.Stride), C.int64_t(x1-x0))
		},
		transposeOut: func(d []float32, img frame.Image[float32], y, x0, x1 int) {
			C.call_transpose_out(k, floats(d), floats(img.Pix[y*img.Stride+x0:]), C.int64_t(img.Stride), C.int64_t(x1-x0))
		},
	}
}
