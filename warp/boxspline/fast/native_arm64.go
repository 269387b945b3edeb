//go:build cgo

package fast

// #include "native.h"
import "C"

import "retime/frame/simd"

// loopsOf returns the loops for a level of instructions, or nil if there are none.
func loopsOf(l simd.Level) *C.boxspline_loops {
	if l == simd.NEON {
		return &C.boxspline_loops_128
	}
	return nil
}
