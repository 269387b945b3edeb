//go:build cgo

package dis

// #include "native.h"
import "C"

// variants are the kernels that this processor can run, slowest first. All give the same
// bits.
func variants() []variant {
	all := []variant{{"Go", portable}, {"SSE2", native(&C.dis_kernels_128)}}
	if C.dis_has_avx2() != 0 {
		all = append(all, variant{"AVX2", native(&C.dis_kernels_avx2)})
	}
	return all
}
