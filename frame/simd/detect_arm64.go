//go:build cgo

package simd

func detect() []Level { return []Level{NEON} }
