//go:build cgo

package native

// #include "native.h"
import "C"

import "retime/frame/simd"

// Of returns the kernels for a level of instructions, or nil if the functions in Go are
// all that there is.
func Of(l simd.Level) *Kernels {
	switch {
	case l >= simd.AVX2:
		return &Kernels{&C.warp_kernels_avx2}
	case l == simd.SSE2:
		return &Kernels{&C.warp_kernels_128}
	}
	return nil
}
