#pragma once

#include <stdint.h>

// The inner loops of package bspline in C, for float32, with the same results as the Go
// functions of the same names. A tile has 16 lanes.

typedef struct {
	// causal and anticausal run over the subregions of a tile, of 256 samples each; the last one
	// may be shorter. carry has 16 values for each subregion. end is the number of samples.
	void (*causal)(float *pix, const float *carry, float z, int64_t end);
	void (*anticausal)(float *pix, const float *carry, float z, int64_t end);
	// start_causal sets the carries of every subregion but the first to the output after the n
	// samples before it; start_anticausal sets those of the first count subregions to the output
	// before the n samples after it.
	void (*start_causal)(const float *pix, float *carry, float z, int64_t n, int64_t count);
	void (*start_anticausal)(const float *pix, float *carry, float z, int64_t n, int64_t count);
	// move copies n rows of 16 values.
	void (*move)(float *dst, int64_t dst_stride, const float *src, int64_t src_stride, int64_t n);
	// transpose_in and transpose_out move n columns of eight rows between a picture and eight lanes
	// of a tile.
	void (*transpose_in)(float *lanes, const float *rows, int64_t stride, int64_t n);
	void (*transpose_out)(const float *lanes, float *rows, int64_t stride, int64_t n);
	// across sets count sums, each to the weighted sum of n coefficients of a row with length of
	// them.
	void (*across)(float *sums, const float *row, int64_t length, const int64_t *first, const float *weights, int64_t count, int64_t n);
	// down sets count samples to the weighted sums of n rows, which form a ring that starts with
	// row first.
	void (*down)(float *out, const float *sums, int64_t stride, int64_t first, const float *weights, int64_t n, int64_t count);
} bspline_kernels;

extern const bspline_kernels bspline_kernels_128, bspline_kernels_avx2;
