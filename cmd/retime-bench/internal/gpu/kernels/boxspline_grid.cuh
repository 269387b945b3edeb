// Coefficients of a box spline on a lattice, as the generated code reads them.
#pragma once

#include "host_device.cuh"

#define BOXSPLINE __device__ __forceinline__

// Grid is the layout of the arrays of the cosets: a coefficient's index is n0 + n1 stride + n2
// slice, and coset is the distance between two arrays.
struct Grid {
	int stride, slice;
	long long coset;
};

BOXSPLINE float lower(float x) { return floorf(x); }
BOXSPLINE double lower(double x) { return floor(x); }
