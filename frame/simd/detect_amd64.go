//go:build cgo

package simd

import "golang.org/x/sys/cpu"

func detect() []Level {
	levels, x := []Level{SSE2}, &cpu.X86
	if !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasFMA {
		return levels
	}
	levels = append(levels, AVX2)
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL {
		levels = append(levels, AVX512)
	}
	return levels
}
