//go:build cgo

package dis

// #include "native.h"
import "C"

import "retime/frame/simd"

// vectorized are the kernels that use vector instructions, slowest first. All give the
// same bits.
func vectorized() []variant {
	return []variant{{simd.SSE2, native(&C.dis_kernels_128)}, {simd.AVX2, native(&C.dis_kernels_avx2)}}
}
