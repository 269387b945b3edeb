//go:build !cgo || !(amd64 || arm64)

package bspline

import "retime/frame/simd"

// variant returns the loops for a level of instructions: this build has one.
func variant(simd.Level) loopTable { return portable }
