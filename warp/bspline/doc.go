// Package bspline interpolates images with B-splines of order 0 to 16.
//
// It implements the method of Briand and Monasse, "Theory and Practice of Image
// B-spline Interpolation", IPOL 8 (2018), in the optimised form of Briand and Davy,
// "Optimization of Image B-spline Interpolation for GPU Architectures", IPOL 9 (2019);
// comments cite the equations and algorithms of these papers by their numbers. A
// [Prefilter] turns samples into B-spline coefficients to a chosen precision; a
// [Spline] evaluates them anywhere.
//
// Coordinates are in samples: the first sample of a row is at x = 0, the centre of its
// pixel, and a picture of width w spans [-1/2, w-1/2].
//
// Results depend on the input alone. An explicit conversion rounds every floating-point
// operation, so that no platform may fuse two of them; sums have a stated order; and
// neither the number of workers nor the tiling of a picture affects the output.
package bspline

// Float is the type of samples and coefficients.
type Float interface{ float32 | float64 }
