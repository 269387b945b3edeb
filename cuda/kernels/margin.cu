// The coefficients beyond the edges of a plane, which continues whole-symmetrically.

#include "sampler.cuh"

// extend_margin sets the coefficients of the margin around a plane of width by height. coefficients
// points to the plane's first one. It uses one thread for each: y counts the rows including the
// margin, and x the columns, without the plane's own in the rows of the plane.
extern "C" __global__ void extend_margin(float *coefficients, int stride, int width, int height) {
	int y = (int)(blockIdx.y * blockDim.y + threadIdx.y) - coefficient_margin;
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	bool beside = y >= 0 && y < height;
	if (y >= height + coefficient_margin || i >= (beside ? 2 * coefficient_margin : width + 2 * coefficient_margin)) return;
	int x = beside && i >= coefficient_margin ? width + i - coefficient_margin : i - coefficient_margin;
	// Rows above and below are copies, including their margins.
	coefficients[(ptrdiff_t)y * stride + x] = coefficients[(ptrdiff_t)mirror(y, height) * stride + mirror(x, width)];
}
