#pragma once

#include <stdint.h>

// The inner loops of package bspline in C, for float32, with the same results as the Go
// functions of the same names. A tile has 16 lanes.

typedef struct {
	// causal and anticausal run over subregions of 256 samples of a tile, of which the last
	// may be shorter. carry has 16 values for each subregion. end is the number of samples.
	void (*causal)(float *pix, const float *carry, float z, int64_t end);
	void (*anticausal)(float *pix, const float *carry, float z, int64_t end);
	// start_causal and start_anticausal set the carries of every subregion but the first, or
	// of the first count ones, to the output that n samples before it, or after it, give.
	void (*start_causal)(const float *pix, float *carry, float z, int64_t n, int64_t count);
	void (*start_anticausal)(const float *pix, float *carry, float z, int64_t n, int64_t count);
	// transpose_in and transpose_out move n columns of eight rows between a picture and eight
	// of a tile's lanes.
	void (*transpose_in)(float *lanes, const float *rows, int64_t stride, int64_t n);
	void (*transpose_out)(const float *lanes, float *rows, int64_t stride, int64_t n);
	// across sets count sums, each to that of n weighted coefficients of a row of length ones.
	void (*across)(float *sums, const float *row, int64_t length, const int64_t *first, const float *weights, int64_t count, int64_t n);
	// down sets count samples to the weighted sums of n rows, which follow each other in a ring
	// from row first on.
	void (*down)(float *out, const float *sums, int64_t stride, int64_t first, const float *weights, int64_t n, int64_t count);
} bspline_kernels;

extern const bspline_kernels bspline_kernels_128, bspline_kernels_avx2;
