// Package splines measures warp/bspline: its accuracy in single and double precision, its speed and
// how it scales with workers and image area, and other libraries for comparison. Its functions return figures, which the caller prints.
//
// Tables are from Briand and Davy, "Optimization of Image B-spline Interpolation for GPU
// Architectures", IPOL 9 (2019), unless a comment names another source.
package splines
