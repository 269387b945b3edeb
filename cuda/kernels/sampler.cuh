// Samples of a plane's B-spline coefficients, with the same bits as package warp.
#pragma once

#include "motion.cuh"
#include "zp.cuh"

// Coefficients extend coefficient_margin beyond the edges of their plane.

// travel returns the part of a motion on the guides' grid that is travelled at the phase, in 1/256
// sample of the plane. 2^level columns of the picture make one of the grid, and 2^s make one of the
// plane.
HOST_DEVICE int32_t travel(int32_t v, int32_t phase, int level, int s) {
	int shift = 16 + s - level;
	return (int32_t)(wide_product(v, phase, (int64_t)1 << (shift - 1)) >> shift);
}

// place_along returns the index, counted from the margin's first, of the first of the four
// coefficients for a position in 1/256 sample, and sets the fraction. It leaves room for more
// further samples.
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

// mirror maps i into [0, n) by reflection about the first and last sample.
HOST_DEVICE int mirror(int i, int n) {
	if (n == 1) return 0;
	int period = 2 * (n - 1);
	i %= period;
	if (i < 0) i += period;
	return i < period - i ? i : period - i;
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

// zp_weights sets the weights of the seven coefficients of the element of Zwart and Powell at the
// fractions, and their offsets from the first of four by four, as package warp does. It is not
// inlined: compilers would compute the weights before the branch that decides whether they are
// needed.
HOST_DEVICE_CALL void zp_weights(uint32_t fx, uint32_t fy, int stride, float *w, int *at) {
	int nx = fx >> (position_bits - 1), ny = fy >> (position_bits - 1);
	zp_weights_at((int)fx - nx * position_one, (int)fy - ny * position_one, nx + 1 + (ny + 1) * stride, stride, w, at);
}

// add_zp adds w times a block of samples that share their fractions. p points to the first
// of the four by four coefficients.
template <int width, int height>
HOST_DEVICE void add_zp(float *sums, const float *p, int stride, uint32_t fx, uint32_t fy, float w) {
	float weights[7];
	int at[7];
	zp_weights(fx, fy, stride, weights, at);
#pragma unroll
	for (int j = 0; j < height; j++) {
#pragma unroll
		for (int i = 0; i < width; i++) {
			float v = p[i + at[0]] * weights[0];
#pragma unroll
			for (int k = 1; k < 7; k++) v += p[i + at[k]] * weights[k];
			sums[j * width + i] += v * w;
		}
		p += stride;
	}
}
