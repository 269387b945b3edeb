//go:build cgo

package bspline

// #include "native.h"
import "C"

import "retime/frame/simd"

// kernelsOf returns the kernels for a level of instructions, or nil if there are none.
func kernelsOf(l simd.Level) *C.bspline_kernels {
	if l == simd.NEON {
		return &C.bspline_kernels_128
	}
	return nil
}
