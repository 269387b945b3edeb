//go:build cgo

package dis

// #include "native.h"
import "C"

import "retime/frame/simd"

// vectorized are the kernels that use vector instructions. All give the same bits.
func vectorized() []variant { return []variant{{simd.NEON, native(&C.dis_kernels_128)}} }
