// The kernels, for the widest vectors that the including file's instructions have.

#include <string.h>

#include "native.h"

// GCC leaves products and sums apart because of -std=c11; Clang must be told.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

// Subregions do not depend on each other, so several of them hide the latency of one.
#if defined(__AVX2__)
enum { width = 8, at_once = 4 };
typedef float floats __attribute__((vector_size(32)));
#else
enum { width = 4, at_once = 2 };
typedef float floats __attribute__((vector_size(16)));
#endif

enum { tile_lanes = 16, region = 256, vectors = tile_lanes / width };

static inline floats load(const float *p) {
	floats v;
	memcpy(&v, p, sizeof v);
	return v;
}

// regions runs a recursion over n samples of some subregions in lockstep.
static inline __attribute__((always_inline)) void regions(float *pix, const float *carry, float z, int count, int n, int back) {
	floats c[at_once][vectors];
	for (int r = 0; r < count; r++)
		for (int k = 0; k < vectors; k++)
			c[r][k] = load(carry + r * tile_lanes + k * width);
	for (int i = 0; i < n; i++)
		for (int r = 0; r < count; r++)
			for (int k = 0; k < vectors; k++) {
				float *p = pix + (r * region + (back ? n - 1 - i : i)) * tile_lanes + k * width;
				floats v = load(p);
				c[r][k] = back ? z * (c[r][k] - v) : v + z * c[r][k];
				memcpy(p, &c[r][k], sizeof v);
			}
}

static inline __attribute__((always_inline)) void every_region(float *pix, const float *carry, float z, int64_t end, int back) {
	for (; end >= at_once * region; end -= at_once * region) {
		regions(pix, carry, z, at_once, region, back);
		pix += at_once * region * tile_lanes;
		carry += at_once * tile_lanes;
	}
	for (; end > 0; end -= region) {
		regions(pix, carry, z, 1, end < region ? (int)end : region, back);
		pix += region * tile_lanes;
		carry += tile_lanes;
	}
}

static void causal(float *pix, const float *carry, float z, int64_t end) { every_region(pix, carry, z, end, 0); }
static void anticausal(float *pix, const float *carry, float z, int64_t end) { every_region(pix, carry, z, end, 1); }

typedef float f32x4 __attribute__((vector_size(16)));

// transpose4 transposes four by four values.
static inline void transpose4(float *dst, int64_t dst_stride, const float *src, int64_t src_stride) {
	f32x4 a, b, c, d;
	memcpy(&a, src, 16);
	memcpy(&b, src + src_stride, 16);
	memcpy(&c, src + 2 * src_stride, 16);
	memcpy(&d, src + 3 * src_stride, 16);
	f32x4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	f32x4 ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	b = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	c = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
	d = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
	memcpy(dst, &a, 16);
	memcpy(dst + dst_stride, &b, 16);
	memcpy(dst + 2 * dst_stride, &c, 16);
	memcpy(dst + 3 * dst_stride, &d, 16);
}

static void transpose_in(float *lanes, const float *rows, int64_t stride, int64_t n) {
	int64_t x = 0;
	for (; x + 4 <= n; x += 4) {
		transpose4(lanes + x * tile_lanes, tile_lanes, rows + x, stride);
		transpose4(lanes + x * tile_lanes + 4, tile_lanes, rows + 4 * stride + x, stride);
	}
	for (; x < n; x++)
		for (int j = 0; j < 8; j++)
			lanes[x * tile_lanes + j] = rows[j * stride + x];
}

static void transpose_out(const float *lanes, float *rows, int64_t stride, int64_t n) {
	int64_t x = 0;
	for (; x + 4 <= n; x += 4) {
		transpose4(rows + x, stride, lanes + x * tile_lanes, tile_lanes);
		transpose4(rows + 4 * stride + x, stride, lanes + x * tile_lanes + 4, tile_lanes);
	}
	for (; x < n; x++)
		for (int j = 0; j < 8; j++)
			rows[j * stride + x] = lanes[x * tile_lanes + j];
}

#define KERNELS {causal, anticausal, transpose_in, transpose_out}
