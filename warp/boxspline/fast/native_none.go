//go:build !cgo || !(amd64 || arm64)

package fast

import "retime/frame/simd"

// loops holds the C loops for a level of instructions: this build has none.
type loops struct{}

func variant(simd.Level) loops { return loops{} }

func run[T Float](loops, element, *Grid[T], []T, []float64, []float64, []float64) (int, bool) {
	return 0, false
}
