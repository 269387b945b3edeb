//go:build cgo && (amd64 || arm64)

package bspline

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
#cgo noescape call_causal
#cgo nocallback call_causal
#cgo noescape call_anticausal
#cgo nocallback call_anticausal
#cgo noescape call_move
#cgo nocallback call_move
#cgo noescape call_transpose_in
#cgo nocallback call_transpose_in
#cgo noescape call_transpose_out
#cgo nocallback call_transpose_out
#cgo noescape call_start_causal
#cgo nocallback call_start_causal
#cgo noescape call_start_anticausal
#cgo nocallback call_start_anticausal
#cgo noescape call_across
#cgo nocallback call_across
#cgo noescape call_down
#cgo nocallback call_down
#include "native.h"

static void call_causal(const bspline_kernels *k, float *pix, const float *carry, float z, int64_t end) {
	k->causal(pix, carry, z, end);
}
static void call_anticausal(const bspline_kernels *k, float *pix, const float *carry, float z, int64_t end) {
	k->anticausal(pix, carry, z, end);
}
static void call_move(const bspline_kernels *k, float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n) {
	k->move(dst, dst_stride, src, src_stride, n);
}
static void call_transpose_in(const bspline_kernels *k, float *lanes, const float *rows, int64_t stride, int64_t n) {
	k->transpose_in(lanes, rows, stride, n);
}
static void call_transpose_out(const bspline_kernels *k, const float *lanes, float *rows, int64_t stride, int64_t n) {
	k->transpose_out(lanes, rows, stride, n);
}
static void call_start_causal(const bspline_kernels *k, const float *pix, float *carry, float z, int64_t n, int64_t count) {
	k->start_causal(pix, carry, z, n, count);
}
static void call_start_anticausal(const bspline_kernels *k, const float *pix, float *carry, float z, int64_t n, int64_t count) {
	k->start_anticausal(pix, carry, z, n, count);
}
static void call_across(const bspline_kernels *k, float *sums, const float *row, int64_t length, const int64_t *first, const float *weights, int64_t count, int64_t n) {
	k->across(sums, row, length, first, weights, count, n);
}
static void call_down(const bspline_kernels *k, float *out, const float *sums, int64_t stride, int64_t first, const float *weights, int64_t n, int64_t count) {
	k->down(out, sums, stride, first, weights, n, count);
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
	carry := func(t *tile[float32]) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(t.carry))) }
	return loopTable{
		causal: func(t *tile[float32], z float32) {
			C.call_causal(k, floats(t.pix), carry(t), C.float(z), C.int64_t(t.length()))
		},
		anticausal: func(t *tile[float32], z float32, end int) {
			C.call_anticausal(k, floats(t.pix), carry(t), C.float(z), C.int64_t(end))
		},
		startCausal: func(t *tile[float32], z float32, n int) {
			C.call_start_causal(k, floats(t.pix), carry(t), C.float(z), C.int64_t(n), C.int64_t(len(t.carry)))
		},
		startAnticausal: func(t *tile[float32], z float32, n, count int) {
			C.call_start_anticausal(k, floats(t.pix), carry(t), C.float(z), C.int64_t(n), C.int64_t(count))
		},
		move: func(dst []float32, dstStride int, src []float32, srcStride, n int) {
			C.call_move(k, floats(dst), C.int64_t(dstStride), floats(src), C.int64_t(srcStride), C.int64_t(n))
		},
		transposeIn: func(d []float32, img frame.Image[float32], y, x0, x1 int) {
			C.call_transpose_in(k, floats(d), floats(img.Pix[y*img.Stride+x0:]), C.int64_t(img.Stride), C.int64_t(x1-x0))
		},
		transposeOut: func(d []float32, img frame.Image[float32], y, x0, x1 int) {
			C.call_transpose_out(k, floats(d), floats(img.Pix[y*img.Stride+x0:]), C.int64_t(img.Stride), C.int64_t(x1-x0))
		},
		across: func(sums, row []float32, first []int, weights []float32, n int) {
			if n <= 2 {
				portable.across(sums, row, first, weights, n)
				return
			}
			C.call_across(k, floats(sums), floats(row), C.int64_t(len(row)), (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(first))), floats(weights), C.int64_t(len(sums)), C.int64_t(n))
		},
		down: func(out []float32, sums frame.Image[float32], first int, weights []float32) {
			C.call_down(k, floats(out), floats(sums.Pix), C.int64_t(sums.Stride), C.int64_t(first), floats(weights), C.int64_t(len(weights)), C.int64_t(len(out)))
		},
	}
}
