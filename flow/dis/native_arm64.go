//go:build cgo

package dis

// #include "native.h"
import "C"

// variants are the kernels that this processor can run, slowest first. All give the same
// bits.
func variants() []variant {
	return []variant{{"Go", portable}, {"NEON", native(&C.dis_kernels_128)}}
}
