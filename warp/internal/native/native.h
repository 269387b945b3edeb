#pragma once

#include <stdint.h>

#include "constants.h"

// The inner loops of package warp in C, with the same results as the Go functions of the
// same names. Rows are [y0, y1) of a picture; strides count elements.

typedef struct {
	int32_t x, y;
} warp_vec;

typedef struct {
	const uint8_t *pix;
	int32_t width, height, stride;
} warp_guide;

enum { warp_most_planes = 4 };

// warp_plane is a plane of the made frame and of its neighbours. Coefficients begin in
// the margin.
typedef struct {
	void *dst;
	const void *samples[2];
	const float *coefficients[2];
	uint8_t *mask; // shared by planes of one geometry
	int32_t width, height, stride, sample_stride[2], coefficient_stride, mask_stride;
	int32_t sx, sy; // subsampling
} warp_plane;

// warp_scene is what the blocks of a made frame have in common. Means and errors are of the
// readings of guides in the middles of cells, of which a row has columns.
typedef struct {
	const warp_vec *motion[warp_most_hypotheses];
	int32_t stride[warp_most_hypotheses]; // of the motions
	const uint16_t *weight[warp_most_hypotheses];
	uint8_t seen[warp_most_hypotheses], bends[warp_most_hypotheses];
	int32_t hypotheses;
	const warp_vec *bend; // or NULL
	int32_t width, level, phase;
	float limit;
	const float *taps;
	// The light of signals of PQ, by which samples are read between those of a neighbour, or NULL, and the tables of its inverse.
	const float *light;
	const uint16_t *below;
	int32_t first;
	warp_plane plane[warp_most_planes];
	int32_t planes;
	warp_guide guide[2];
	uint32_t *mean, *error;
	int32_t columns;
} warp_scene;

// warp_energies is what weigh reads and writes. The gates have gate_length elements.
typedef struct {
	const uint16_t *cost[warp_most_hypotheses];
	int16_t *energy[warp_most_hypotheses];
	uint8_t kind[warp_most_hypotheses];
	int32_t hypotheses;
	const int16_t *neighbour_gate, *only_gate;
	int32_t gate_length;
} warp_energies;

// warp_shares is what share reads and writes. width counts pixels.
typedef struct {
	const int16_t *energy[warp_most_hypotheses];
	uint16_t *weight[warp_most_hypotheses];
	int32_t hypotheses;
	const int16_t *sums; // of the messages, by cell, then hypothesis
	int32_t cells, cell_rows, width;
	const uint16_t *likelihood;
	int32_t likelihood_length;
} warp_shares;

// warp_cells is what the means of cells are taken from and written to.
typedef struct {
	const int16_t *energy[warp_most_hypotheses];
	const warp_vec *motion[warp_most_hypotheses];
	int32_t stride[warp_most_hypotheses]; // of the motions
	int32_t hypotheses, width, height;
	int16_t *cell_energy;
	warp_vec *cell_motion;
} warp_cells;

// warp_paths is the cells along which messages go. Penalties are indexed by the difference
// of guide.
typedef struct {
	int32_t hypotheses, jump_bits;
	const int16_t *energies;
	const warp_vec *motions;
	int16_t *sums;
	const uint8_t *guide;
	const uint16_t *penalties;
} warp_paths;

typedef struct {
	int64_t x, y;
	uint64_t weight, unused;
} warp_vector_sum;

// warp_flight maps the pixels of a row to sums: the first one begins at (left, top), in
// 1/256 pixel of the sums.
typedef struct {
	int64_t left, top;
	uint64_t columns, lines;
	int64_t stride;
	int32_t phase;
} warp_flight;

typedef struct {
	const warp_vec *row[4];
} warp_rows;

// warp_change is the sums over a cell of accelerations times their credit, and of the credit.
typedef struct {
	int64_t x, y, credit;
} warp_change;

// warp_accelerations is what the accelerations of cells of size by size pixels are summed up
// from and written to. width and height count pixels.
typedef struct {
	const warp_vec *inner, *outer; // flows
	const uint16_t *inner_error, *outer_error;
	int64_t inner_factor, outer_factor, limit;
	const int64_t *credit;
	int32_t credit_length, most_credit;
	int32_t width, height, size;
	warp_change *change;
	warp_vec *motion;
} warp_accelerations;

// warp_span is the ends of a range: of cells' columns, or of components.
typedef struct {
	int32_t from, to;
} warp_span;

// warp_softening is how strongly the spans of rows are blurred. Strengths are those of cells;
// still, of the guides' grid, may be NULL.
typedef struct {
	const uint16_t *strength;
	int32_t columns, lines;
	const uint8_t *still;
	int32_t still_stride, level, sx, sy;
	const warp_span *span;
	int32_t spans;
} warp_softening;

typedef struct {
	void (*disagreement)(uint16_t *dst, warp_guide a, warp_guide b, const warp_vec *motion, int stride,
		const warp_vec *bend, int32_t phase, int y0, int y1);
	void (*disagreement_beyond)(uint16_t *dst, warp_guide near, warp_guide far, const warp_vec *motion, int32_t part,
		int32_t way, int y0, int y1);
	void (*warp_error)(uint16_t *dst, warp_guide a, warp_guide b, const warp_vec *flow, int y0, int y1);
	void (*box_mean)(uint16_t *dst, const uint16_t *src, int width, int height, int radius, const uint64_t *inverse,
		int y0, int y1);
	void (*halve)(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n);
	void (*median)(warp_vec *dst, const warp_vec *src, int32_t sign, int width, int height, int y0, int y1);
	int64_t (*weigh)(warp_energies e, int i0, int i1);
	void (*cell_means)(warp_cells c, int y0, int y1);
	void (*share)(warp_shares s, int y0, int y1);
	void (*smooth_across)(uint16_t *dst, const uint16_t *src, int width, int y0, int y1);
	void (*smooth_down)(uint16_t *dst, const uint16_t *src, int width, int height, int y0, int y1);
	void (*follow)(warp_paths p, int i, int apart, int paths, int step, int n);
	// extents takes the vertical components of runs of width vectors.
	void (*extents)(warp_span *cells, const warp_vec *v, int n, int width);
	// add_vectors is NULL where it would gain too little.
	void (*add_vectors)(warp_vector_sum *sums, const warp_vec *motion, const warp_vec *vectors, const uint16_t *weights,
		int n, warp_flight f);
	int (*store_vectors)(warp_vec *dst, uint8_t *mask, const warp_vector_sum *sums, int n, uint64_t least);
	// average sets dst to the sums of count rows, 2 or 4, shifted right.
	void (*average)(warp_vec *dst, warp_rows rows, int count, int shift, int n);
	void (*accelerations)(warp_accelerations a, int y0, int y1); // rows of cells
	void (*spread_bends)(warp_vec *dst, const float *cells, int columns, int rows, int size, float scale, int width, int y0, int y1);
	void (*floats8)(float *dst, const uint8_t *src, int64_t n);
	void (*floats16)(float *dst, const uint16_t *src, int64_t n);
	void (*render8)(warp_scene s, int y0, int y1);
	void (*render16)(warp_scene s, int y0, int y1);
	// soften8 and soften16 take rows of a plane between two lines of cells; dst has no gaps.
	void (*soften8)(warp_softening s, uint16_t *dst, const uint8_t *src, int width, int height, int64_t stride, int y0, int y1);
	void (*soften16)(warp_softening s, uint16_t *dst, const uint16_t *src, int width, int height, int64_t stride, int y0, int y1);
} warp_kernels;

extern const warp_kernels warp_kernels_128, warp_kernels_avx2;
