// Package native holds the inner loops of package warp in C, for vector instructions. The
// functions in Go of package warp define them: the bits are the same.
//
// The headers hold the loops, a file for each part of the synthesis. Each native_*.c compiles
// all of them for a level of package simd, and native.h lists them. vector.h has the vectors,
// which are as wide as the level's. Products and sums are never fused, and a sum keeps the
// order of its parts: loops take several results at once, never several parts of one.
package native
