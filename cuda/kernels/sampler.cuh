// Samples of a plane's B-spline coefficients, with package warp's bits.
#pragma once

#include "motion.cuh"

// Coefficients continue by coefficient_margin beyond the edges of their plane.

// travel returns the part of a motion on the guides' grid that is travelled at the
// phase, in 1/256 sample of the plane. 2^level columns of the picture make one of the
// grid, and 2^s one of the plane.
HOST_DEVICE int32_t travel(int32_t v, int32_t phase, int level, int s) {
	int shift = 16 + s - level;
	return (int32_t)(((int64_t)v * phase + ((int64_t)1 << (shift - 1))) >> shift);
}

// place_along returns the index, counted from the margin's first, of the first of the
// four coefficients of a position in 1/256 sample, and sets the fraction. It leaves
// room for more further samples.
HOST_DEVICE int place_along(int32_t position, int n, int more, uint32_t *fraction) {
	int i = position >> position_bits, last = n + coefficient_margin - 3 - more;
	*fraction = position & (position_one - 1);
	if (i < 1 - coefficient_margin) {
		i = 1 - coefficient_margin;
		*fraction = 0;
	} else if (i > last) {
		i = last;
		*fraction = 0;
	}
	return i + coefficient_margin - 1;
}

// across returns the weighted sum of four coefficients.
HOST_DEVICE float across(const float *p, const float *w) { return p[0] * w[0] + p[1] * w[1] + p[2] * w[2] + p[3] * w[3]; }

// add_block adds w times a block of samples that share their fractions. p points to the
// first of their coefficients; wx and wy are the weights of the fractions.
template <int width, int height>
HOST_DEVICE void add_block(float *sums, const float *p, int stride, const float *wx, const float *wy, float w) {
	float v[width * height] = {0};
#pragma unroll
	for (int row = 0; row < height + 3; row++) {
#pragma unroll
		for (int i = 0; i < width; i++) {
			float a = across(p + i, wx);
#pragma unroll
			for (int k = 0; k < 4; k++) {
				int j = row - k;
				if (j < 0 || j >= height) continue;
				// The first of the four terms begins the sum.
				v[j * width + i] = k == 0 ? a * wy[0] : v[j * width + i] + a * wy[k];
			}
		}
		p += stride;
	}
#pragma unroll
	for (int i = 0; i < width * height; i++) sums[i] += v[i] * w;
}
