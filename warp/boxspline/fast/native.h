#pragma once

#include <stdint.h>

// The loops of package fast in C, with the same results as the Go functions.

// boxspline_layout describes how arrays are placed on the lattice and in memory: layout in grid.go.
typedef struct {
	int64_t dim, arrays, along;
	int64_t origin, stride, slice;
	double limit[3];
	double scale;
	double offsets[4][3];
} boxspline_layout;

// A loop evaluates an element at the first of n positions and returns their number: it stops before
// the first batch that has a position outside the box. It returns -1 if C has no code for the
// element, or the grid does not fit it.
typedef struct {
	int64_t (*f32)(int64_t element, const float *const *arrays, const boxspline_layout *g, float *dst,
		const double *const *x, int64_t n);
	int64_t (*f64)(int64_t element, const double *const *arrays, const boxspline_layout *g, double *dst,
		const double *const *x, int64_t n);
} boxspline_loops;

extern const boxspline_loops boxspline_loops_128, boxspline_loops_avx2;
