#pragma once

#include <stdint.h>

// The kernels of package dis in C, with the same results as the Go functions of the same
// names in search.go and densify.go.

typedef struct {
	int32_t x, y;
} dis_vector;

// dis_best is Go's best.
typedef struct {
	dis_vector v;
	int32_t cost;
	uint8_t fixed, moved;
} dis_best;

// dis_search holds what all patches of a level have in common. Sample pointers point to sample (0,
// 0) of the level in a pyramid, and borders repeat for 16 samples on each side.
typedef struct {
	int32_t width, height, pitch;
	int32_t columns, rows, stride;
	int32_t candidates, distance, reach, neighbours, iterations, normalize;
} dis_search;

typedef struct {
	void (*first)(const dis_search *s, const uint8_t *a, const uint8_t *b, dis_best *dst, int row,
		const dis_vector *coarse, int coarse_width, int coarse_height, int reach);
	void (*propagate)(const dis_search *s, const uint8_t *a, const uint8_t *b, dis_best *dst, int row,
		const dis_best *own, const dis_best *other);
	// densify sets up to four rows of the dense flow, from row 4*row on. The stride must be 4. dst
	// has width vectors in a row and begins with the first of these rows.
	void (*densify)(const dis_search *s, const uint8_t *a, const uint8_t *b, dis_vector *dst, int row,
		const dis_best *patches);
	void (*settle)(dis_vector *dst, const dis_vector *src, int n, int32_t limit);
	// settle_halved sets half of n vectors, rounding up.
	void (*settle_halved)(dis_vector *dst, const dis_vector *upper, const dis_vector *lower, int n, int32_t limit);
} dis_kernels;

extern const dis_kernels dis_kernels_128, dis_kernels_avx2;
