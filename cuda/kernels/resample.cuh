// A flow and its weights, fitted to the grid of a plane as package warp's ResampleFlow
// and ResampleWeights fit them.
#pragma once

#include "motion.cuh"

// covered returns the first old pixel that new pixel i, 2^s times as large, covers.
HOST_DEVICE int covered(int i, int s) { return s <= 0 ? i >> -s : i << s; }

// shrink returns v / 2^s rounded to the nearest integer, ties away from zero, and clamped to 32
// bits.
HOST_DEVICE int32_t shrink(int64_t v, int s) {
	if (s <= 0) {
		v = (int64_t)((uint64_t)v << -s);
	} else {
		int64_t sign = v >> 63;
		v = ((((v ^ sign) - sign) + ((int64_t)1 << (s - 1))) >> s ^ sign) - sign;
	}
	return (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
}

// Guide is a flow with its weights. 2^sx columns and 2^sy rows of the flow make one of the plane.
struct Guide {
	const Vec *flow;
	const uint16_t *weights;
	int width, height, sx, sy;
};

// area returns log2 of the number of pixels that a pixel of the plane covers.
HOST_DEVICE int area(const Guide &g) { return (g.sx > 0 ? g.sx : 0) + (g.sy > 0 ? g.sy : 0); }

// cell returns the index of pixel (x, y), or of the last one before the edge.
HOST_DEVICE size_t cell(const Guide &g, int x, int y) {
	return (size_t)(y < g.height ? y : g.height - 1) * g.width + (x < g.width ? x : g.width - 1);
}

HOST_DEVICE Vec motion_at(const Guide &g, int x, int y) {
	int64_t sum_x = 0, sum_y = 0;
	int left = covered(x, g.sx), top = covered(y, g.sy);
	for (int j = 0; j < 1 << (g.sy > 0 ? g.sy : 0); j++)
		for (int i = 0; i < 1 << (g.sx > 0 ? g.sx : 0); i++) {
			Vec v = g.flow[cell(g, left + i, top + j)];
			sum_x += v.x;
			sum_y += v.y;
		}
	Vec v = {shrink(sum_x, area(g) + g.sx), shrink(sum_y, area(g) + g.sy)};
	return v;
}

HOST_DEVICE uint32_t weight_at(const Guide &g, int x, int y) {
	uint32_t sum = 0;
	int left = covered(x, g.sx), top = covered(y, g.sy);
	for (int j = 0; j < 1 << (g.sy > 0 ? g.sy : 0); j++)
		for (int i = 0; i < 1 << (g.sx > 0 ? g.sx : 0); i++) sum += g.weights[cell(g, left + i, top + j)];
	return (sum + ((1u << area(g)) >> 1)) >> area(g);
}
