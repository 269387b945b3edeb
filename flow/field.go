// Package flow holds, checks, stores and draws dense optical flow between two pictures.
// Packages flow/dis and flow/opencv estimate it.
//
// The flow v from A to B says where A's pixels went: B shows pixel p of A at p + v(p),
// with x to the right and y down. Vectors are canonical, integers of 1/256 pixel, so
// that everything computed from a field is exact and every backend reads the same
// numbers.
package flow

import (
	"math"

	"retime/frame"
)

// One is the length of a pixel in the units of a Vec.
const One = 256

// Vec is a displacement in 1/256 pixel.
type Vec struct{ X, Y int32 }

// Unknown marks a pixel whose flow is not known; files of ground truth have such
// pixels. No estimator returns it.
var Unknown = Vec{math.MinInt32, math.MinInt32}

// Known reports whether v is not Unknown.
func (v Vec) Known() bool { return v != Vec{math.MinInt32, math.MinInt32} }

// Field is a dense optical flow, with a vector for each pixel of the first picture.
type Field struct{ frame.Image[Vec] }

// NewField returns a field of zero vectors.
func NewField(width, height int) Field {
	return Field{frame.NewImage[Vec](width, height)}
}

// Limit returns the largest magnitude of a component of a canonical vector: twice the
// longer side of the picture, in 1/256 pixel, but at most 2^29.
func (f Field) Limit() int32 { return Limit(f.Width, f.Height) }

// Limit returns the limit of a field of width by height vectors.
func Limit(width, height int) int32 { return int32(min(2*One*max(width, height), 1<<29)) }

// Quantize sets dst to the canonical form of the vectors of src. It multiplies
// components by scale, a power of two, rounds them to the nearest integer with ties
// away from zero, and clamps them to ±limit; NaN and infinity become 0. src must be at
// least as long as dst and limit at most 2^29.
func Quantize(dst []Vec, src [][2]float32, scale float32, limit int32) {
	src = src[:len(dst)]
	const abs = 1<<31 - 1
	// The bits of positive floats have the order of the floats, with NaN above all.
	lim := math.Float32bits(2 * float32(limit))
	for i := range dst {
		x, y := src[i][0]*(2*scale), src[i][1]*(2*scale)
		if math.Float32bits(x)&abs <= lim && math.Float32bits(y)&abs <= lim {
			dst[i] = Vec{halve(int32(x)), halve(int32(y))}
		} else {
			dst[i] = Vec{settle(src[i][0], scale, limit), settle(src[i][1], scale, limit)}
		}
	}
}

// halve returns half of n, which is twice a value with its fraction cut off, rounded to
// the integer nearest to the value, ties away from zero.
func halve(n int32) int32 { return (n + (n>>31 | 1)) / 2 }

// settle does the work of Quantize for a component of any size.
func settle(v, scale float32, limit int32) int32 {
	s := math.Round(float64(v) * float64(scale))
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return 0
	}
	return int32(min(max(s, -float64(limit)), float64(limit)))
}
