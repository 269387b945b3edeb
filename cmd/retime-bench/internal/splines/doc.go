// Package splines measures warp/bspline: its accuracy in single and double precision,
// its speed and the growth of the time with workers and image area, the cost of
// tabulated weights, and other libraries in comparison. Functions return figures, which
// the caller prints.
//
// Tables are those of Briand and Davy, "Optimization of Image B-spline Interpolation
// for GPU Architectures", IPOL 9 (2019), unless a comment names another source.
package splines
