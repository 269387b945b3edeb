// The kernels, for the widest vectors that the including file's instructions have.

#include <string.h>

#include "native.h"

// -std=c11 keeps GCC from fusing products and sums; Clang needs this pragma.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

// Subregions are independent, so running several at once hides the latency of one.
#if defined(__AVX2__)
enum { width = 8, at_once = 4 };
typedef float floats __attribute__((vector_size(32)));
typedef float anywhere __attribute__((vector_size(32), aligned(4), may_alias));
#else
enum { width = 4, at_once = 2 };
typedef float floats __attribute__((vector_size(16)));
typedef float anywhere __attribute__((vector_size(16), aligned(4), may_alias));
#endif

enum { tile_lanes = 16, region = 256, vectors = tile_lanes / width };

static inline floats load(const float *p) { return *(const anywhere *)p; }
// With memcpy to an array's element, the compiler would keep the array in memory.
static inline void store(float *p, floats v) { *(anywhere *)p = v; }

// The loops over r and k must be unrolled completely, to keep c in registers.
#define EACH(i, n) _Pragma("GCC unroll 8") for (int i = 0; i < (n); i++)

// recur runs a recursion over n samples of some subregions in lockstep, and writes the outputs if
// asked to. It reads the same sample of every subregion before it writes one: the subregions are a
// multiple of 4096 bytes apart, a distance at which processors mistake a read for one of what has
// just been written.
static inline __attribute__((always_inline)) void recur(float *pix, floats c[at_once][vectors], float z, int count, int n, int back, int write) {
	for (int i = 0; i < n; i++) {
		float *p = pix + (back ? n - 1 - i : i) * tile_lanes;
		EACH(r, count) EACH(k, vectors) {
			floats v = load(p + r * region * tile_lanes + k * width);
			c[r][k] = back ? z * (c[r][k] - v) : v + z * c[r][k];
		}
		if (write)
			EACH(r, count) EACH(k, vectors) store(p + r * region * tile_lanes + k * width, c[r][k]);
	}
}

// regions runs the recursion, starting with the carries.
static inline __attribute__((always_inline)) void regions(float *pix, const float *carry, float z, int count, int n, int back) {
	floats c[at_once][vectors];
	EACH(r, count) EACH(k, vectors) c[r][k] = load(carry + r * tile_lanes + k * width);
	recur(pix, c, z, count, n, back, 1);
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

// starts sets the carries to the output of the recursion over n samples, starting with zero.
static inline __attribute__((always_inline)) void starts(float *pix, float *carry, float z, int count, int n, int back) {
	floats c[at_once][vectors];
	EACH(r, count) EACH(k, vectors) c[r][k] = (floats){0};
	recur(pix, c, z, count, n, back, 0);
	EACH(r, count) EACH(k, vectors) store(carry + r * tile_lanes + k * width, c[r][k]);
}

static inline __attribute__((always_inline)) void every_start(float *pix, float *carry, float z, int n, int64_t count, int back) {
	for (; count >= at_once; count -= at_once) {
		starts(pix, carry, z, at_once, n, back);
		pix += at_once * region * tile_lanes;
		carry += at_once * tile_lanes;
	}
	for (; count > 0; count--) {
		starts(pix, carry, z, 1, n, back);
		pix += region * tile_lanes;
		carry += tile_lanes;
	}
}

static void causal(float *pix, const float *carry, float z, int64_t end) { every_region(pix, carry, z, end, 0); }
static void anticausal(float *pix, const float *carry, float z, int64_t end) { every_region(pix, carry, z, end, 1); }

static void start_causal(const float *pix, float *carry, float z, int64_t n, int64_t count) {
	every_start((float *)pix + (region - n) * tile_lanes, carry + tile_lanes, z, (int)n, count - 1, 0);
}
static void start_anticausal(const float *pix, float *carry, float z, int64_t n, int64_t count) {
	every_start((float *)pix + region * tile_lanes, carry, z, (int)n, count, 1);
}

// move asks for the next 16 columns, too, which are far apart in memory, and are moved next.
static void move(float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n) {
	for (int64_t i = 0; i < n; i++, dst += dst_stride, src += src_stride) {
		EACH(k, vectors) store(dst + k * width, load(src + k * width));
		__builtin_prefetch(src + 2 * tile_lanes - 1);
	}
}

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

// add_taps adds the products of up to four taps, from the given addresses on, to the sums of four
// columns.
static inline __attribute__((always_inline)) f32x4 add_taps(f32x4 sum, const float *const row[4], const float *weights, int apart, int taps, int first) {
	f32x4 p[4];
	for (int j = 0; j < 4; j++) {
		f32x4 v, w;
		memcpy(&v, row[j], 16);
		memcpy(&w, weights + j * apart, 16);
		p[j] = v * w;
	}
	f32x4 ab = __builtin_shufflevector(p[0], p[1], 0, 4, 1, 5), cd = __builtin_shufflevector(p[2], p[3], 0, 4, 1, 5);
	f32x4 ef = __builtin_shufflevector(p[0], p[1], 2, 6, 3, 7), gh = __builtin_shufflevector(p[2], p[3], 2, 6, 3, 7);
	f32x4 v = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	sum = first ? v : sum + v;
	if (taps > 1)
		sum += __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	if (taps > 2)
		sum += __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
	if (taps > 3)
		sum += __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
	return sum;
}

// across reads taps as whole vectors, so it handles the last columns one at a time.
static inline __attribute__((always_inline)) void across_n(float *sums, const float *row, int64_t length, const int64_t *first, const float *weights, int64_t count, int n) {
	const int whole = (n + 3) / 4 * 4;
	int64_t i = 0;
	for (; i + 4 <= (n == whole ? count : count - 1); i += 4) {
		if (first[i] > length - whole || first[i + 3] > length - whole)
			break;
		const float *at[4] = {row + first[i], row + first[i + 1], row + first[i + 2], row + first[i + 3]};
		const float *w = weights + i * n;
		f32x4 sum = {0};
		if (n == 4) {
			sum = add_taps(sum, at, w, n, 4, 1);
		} else {
			for (int k = 0; k < n; k += 4) {
				sum = add_taps(sum, at, w + k, n, n - k, 0);
				for (int j = 0; j < 4; j++)
					at[j] += 4;
			}
		}
		memcpy(sums + i, &sum, 16);
	}
	for (; i < count; i++) {
		const float *p = row + first[i], *w = weights + i * n;
		float sum = n == 4 ? p[0] * w[0] : 0.0f + p[0] * w[0];
		for (int k = 1; k < n; k++)
			sum += p[k] * w[k];
		sums[i] = sum;
	}
}

static void across(float *sums, const float *row, int64_t length, const int64_t *first, const float *weights, int64_t count, int64_t n) {
	if (n == 4)
		across_n(sums, row, length, first, weights, count, 4);
	else
		across_n(sums, row, length, first, weights, count, (int)n);
}

enum { out_vectors = 4 };

static void down(float *out, const float *sums, int64_t stride, int64_t first, const float *weights, int64_t n, int64_t count) {
	int64_t x = 0;
	for (; x + out_vectors * width <= count; x += out_vectors * width) {
		floats v[out_vectors];
		EACH(k, out_vectors) v[k] = (floats){0};
		for (int64_t l = 0, row = first; l < n; l++, row = row + 1 == n ? 0 : row + 1)
			EACH(k, out_vectors) v[k] += weights[l] * load(sums + row * stride + x + k * width);
		EACH(k, out_vectors) store(out + x + k * width, v[k]);
	}
	for (; x < count; x++) {
		float v = 0;
		for (int64_t l = 0; l < n; l++)
			v += weights[l] * sums[(first + l) % n * stride + x];
		out[x] = v;
	}
}

#define KERNELS {causal, anticausal, start_causal, start_anticausal, move, transpose_in, transpose_out, across, down}
