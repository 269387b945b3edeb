#pragma once

// What Go calls: it cannot call by a pointer.

#include "native.h"

static inline void call_disagreement(const warp_kernels *k, uint16_t *dst, warp_guide a, warp_guide b, const warp_vec *motion, int stride, const warp_vec *bend, int32_t phase, int y0, int y1) {
	k->disagreement(dst, a, b, motion, stride, bend, phase, y0, y1);
}
static inline void call_disagreement_beyond(const warp_kernels *k, uint16_t *dst, warp_guide near, warp_guide far, const warp_vec *motion, int32_t part, int32_t way, int y0, int y1) {
	k->disagreement_beyond(dst, near, far, motion, part, way, y0, y1);
}
static inline void call_warp_error(const warp_kernels *k, uint16_t *dst, warp_guide a, warp_guide b, const warp_vec *flow, int y0, int y1) {
	k->warp_error(dst, a, b, flow, y0, y1);
}
static inline void call_box_mean(const warp_kernels *k, uint16_t *dst, const uint16_t *src, int width, int height, int radius, const uint64_t *inverse, int y0, int y1) {
	k->box_mean(dst, src, width, height, radius, inverse, y0, y1);
}
static inline void call_halve(const warp_kernels *k, uint8_t *dst, const uint8_t *a, const uint8_t *b, int n) {
	k->halve(dst, a, b, n);
}
static inline void call_median(const warp_kernels *k, warp_vec *dst, const warp_vec *src, int32_t sign, int width, int height, int y0, int y1) {
	k->median(dst, src, sign, width, height, y0, y1);
}
static inline int64_t call_weigh(const warp_kernels *k, warp_energies e, int i0, int i1) {
	return k->weigh(e, i0, i1);
}
static inline void call_cell_means(const warp_kernels *k, warp_cells c, int y0, int y1) {
	k->cell_means(c, y0, y1);
}
static inline void call_share(const warp_kernels *k, warp_shares s, int y0, int y1) {
	k->share(s, y0, y1);
}
static inline void call_smooth_across(const warp_kernels *k, uint16_t *dst, const uint16_t *src, int width, int y0, int y1) {
	k->smooth_across(dst, src, width, y0, y1);
}
static inline void call_smooth_down(const warp_kernels *k, uint16_t *dst, const uint16_t *src, int width, int height, int y0, int y1) {
	k->smooth_down(dst, src, width, height, y0, y1);
}
static inline void call_follow(const warp_kernels *k, warp_paths p, int i, int apart, int paths, int step, int n) {
	k->follow(p, i, apart, paths, step, n);
}
static inline void call_extents(const warp_kernels *k, warp_span *cells, const warp_vec *v, int n, int width) {
	k->extents(cells, v, n, width);
}
static inline void call_add_vectors(const warp_kernels *k, warp_vector_sum *sums, const warp_vec *motion, const warp_vec *vectors, const uint16_t *weights, int n, warp_flight f) {
	k->add_vectors(sums, motion, vectors, weights, n, f);
}
static inline int call_store_vectors(const warp_kernels *k, warp_vec *dst, uint8_t *mask, const warp_vector_sum *sums, int n, uint64_t least) {
	return k->store_vectors(dst, mask, sums, n, least);
}
static inline void call_accelerations(const warp_kernels *k, warp_accelerations a, int y0, int y1) {
	k->accelerations(a, y0, y1);
}
static inline void call_spread_bends(const warp_kernels *k, warp_vec *dst, const float *cells, int columns, int rows, int size, float scale, int width, int y0, int y1) {
	k->spread_bends(dst, cells, columns, rows, size, scale, width, y0, y1);
}
static inline void call_average(const warp_kernels *k, warp_vec *dst, warp_rows rows, int count, int shift, int n) {
	k->average(dst, rows, count, shift, n);
}
static inline void call_floats8(const warp_kernels *k, float *dst, const uint8_t *src, int64_t n) {
	k->floats8(dst, src, n);
}
static inline void call_floats16(const warp_kernels *k, float *dst, const uint16_t *src, int64_t n) {
	k->floats16(dst, src, n);
}
static inline void call_render8(const warp_kernels *k, warp_scene s, int y0, int y1) {
	k->render8(s, y0, y1);
}
static inline void call_render16(const warp_kernels *k, warp_scene s, int y0, int y1) {
	k->render16(s, y0, y1);
}
static inline void call_soften8(const warp_kernels *k, warp_softening s, uint16_t *dst, const uint8_t *src, int width, int height, int64_t stride, int y0, int y1) {
	k->soften8(s, dst, src, width, height, stride, y0, y1);
}
static inline void call_soften16(const warp_kernels *k, warp_softening s, uint16_t *dst, const uint16_t *src, int width, int height, int64_t stride, int y0, int y1) {
	k->soften16(s, dst, src, width, height, stride, y0, y1);
}
