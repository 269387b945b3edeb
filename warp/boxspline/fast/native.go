//go:build cgo && (amd64 || arm64)

package fast

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
#cgo noescape call_f32
#cgo nocallback call_f32
#cgo noescape call_f64
#cgo nocallback call_f64
#include "native.h"

static int64_t call_f32(const boxspline_loops *l, int64_t element, const float *c0, const float *c1, const float *c2, const float *c3,
	const void *g, float *dst, const double *x, const double *y, const double *z, int64_t n) {
	const float *const arrays[4] = {c0, c1, c2, c3};
	const double *const at[3] = {x, y, z};
	return l->f32(element, arrays, g, dst, at, n);
}
static int64_t call_f64(const boxspline_loops *l, int64_t element, const double *c0, const double *c1, const double *c2, const double *c3,
	const void *g, double *dst, const double *x, const double *y, const double *z, int64_t n) {
	const double *const arrays[4] = {c0, c1, c2, c3};
	const double *const at[3] = {x, y, z};
	return l->f64(element, arrays, g, dst, at, n);
}
*/
import "C"

import (
	"unsafe"

	"retime/frame/simd"
)

// The layouts are the same in C; a line fails to compile if one of them is larger.
var (
	_ [unsafe.Sizeof(layout{}) - unsafe.Sizeof(C.boxspline_layout{})]byte
	_ [unsafe.Sizeof(C.boxspline_layout{}) - unsafe.Sizeof(layout{})]byte
)

// loops holds the C loops for a level of instructions, or nil if there are none.
type loops struct{ in *C.boxspline_loops }

func variant(l simd.Level) loops { return loops{loopsOf(l)} }

func doubles(s []float64) *C.double { return (*C.double)(unsafe.Pointer(unsafe.SliceData(s))) }
func floats(s []float32) *C.float   { return (*C.float)(unsafe.Pointer(unsafe.SliceData(s))) }

// run evaluates an element at the first positions and returns their number, or false if C has no
// code for the element or the grid does not fit it.
func run[T Float](l loops, e element, g *Grid[T], dst []T, xs, ys, zs []float64) (int, bool) {
	if l.in == nil {
		return 0, false
	}
	var n C.int64_t
	// Pass a copy, because the grid also contains pointers.
	about := g.layout
	switch dst := any(dst).(type) {
	case []float32:
		c := any(&g.cosets).(*[][]float32)
		n = C.call_f32(l.in, C.int64_t(e), floats(array(*c, 0)), floats(array(*c, 1)), floats(array(*c, 2)), floats(array(*c, 3)),
			unsafe.Pointer(&about), floats(dst), doubles(xs), doubles(ys), doubles(zs), C.int64_t(len(dst)))
	case []float64:
		c := any(&g.cosets).(*[][]float64)
		n = C.call_f64(l.in, C.int64_t(e), doubles(array(*c, 0)), doubles(array(*c, 1)), doubles(array(*c, 2)), doubles(array(*c, 3)),
			unsafe.Pointer(&about), doubles(dst), doubles(xs), doubles(ys), doubles(zs), C.int64_t(len(dst)))
	}
	return max(int(n), 0), n >= 0
}

// array returns array i, or nil if there are fewer.
func array[T Float](c [][]T, i int) []T {
	if i < len(c) {
		return c[i]
	}
	return nil
}
