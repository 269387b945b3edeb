// Package splines measures warp/bspline: its accuracy in single and double
// precision, its speed and how that grows with workers and image area, the cost
// of tabulated weights, and its standing among other libraries. Functions
// return figures; how they are shown is left to the caller.
//
// Tables are those of Briand and Davy, "Optimization of Image B-spline
// Interpolation for GPU Architectures", IPOL 9 (2019), unless said otherwise.
package splines
