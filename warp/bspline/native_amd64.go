//go:build cgo

package bspline

// #include "native.h"
import "C"

import "retime/frame/simd"

// kernelsOf returns the kernels for a level of instructions, or nil if there are none.
func kernelsOf(l simd.Level) *C.bspline_kernels {
	switch {
	case l >= simd.AVX2:
		return &C.bspline_kernels_avx2
	case l == simd.SSE2:
		return &C.bspline_kernels_128
	}
	return nil
}
