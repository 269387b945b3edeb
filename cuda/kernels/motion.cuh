// Positions, motions and differences between guides, with the same bits as package warp.
#pragma once

#include "constants.cuh"
#include "host_device.cuh"

// Positions are fixed-point numbers in 1/position_one sample, phases in 1/phase_one
// interval, and differences between guides in 1/difference_one grey level.

// Vec is a motion in 1/256 pixel.
struct alignas(8) Vec {
	int32_t x, y;
};

// wide_product returns a * b + c. Compilers that move the widening of a factor out of a loop
// would multiply 64 bits by 64.
HOST_DEVICE int64_t wide_product(int32_t a, int32_t b, int64_t c) {
#ifdef __CUDA_ARCH__
	int64_t r;
	asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
	return r;
#else
	return (int64_t)a * b + c;
#endif
}

// toward returns the part of v that is travelled at the phase, rounded to the nearest
// with ties up.
HOST_DEVICE int32_t toward(int32_t v, int32_t phase) {
	return (int32_t)(wide_product(v, phase, phase_one / 2) >> 16);
}

HOST_DEVICE int clamp_to(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

// cell_before returns the last cell of size pixels whose centre is at or before pixel i, and the
// distance of i from that centre in 1/(2*size) cell.
HOST_DEVICE int cell_before(int i, int size, int *part) {
	int twice = 2 * i + 1 - size; // twice the distance from the first centre
	int c = twice < 0 ? -1 : twice / (2 * size);
	*part = twice - c * 2 * size;
	return c;
}

// larger returns the larger magnitude.
HOST_DEVICE int64_t larger(int64_t x, int64_t y) {
	if (x < 0) x = -x;
	if (y < 0) y = -y;
	return x < y ? y : x;
}

// missed sets miss to the distance by which the flow back, from the end of vector v at (x, y), misses
// that place, in x or in y. It returns false if v leads out of the picture.
HOST_DEVICE bool missed(const Vec *back, int width, int height, int x, int y, Vec v, int64_t *miss) {
	int64_t bx = x + (((int64_t)v.x + position_one / 2) >> position_bits), by = y + (((int64_t)v.y + position_one / 2) >> position_bits);
	if (bx < 0 || by < 0 || bx >= width || by >= height) return false;
	Vec w = back[by * width + bx];
	*miss = larger((int64_t)v.x + w.x, (int64_t)v.y + w.y);
	return true;
}

// inside reports whether (x, y), in 1/256 pixel, is at most half a pixel outside the
// outermost samples.
HOST_DEVICE bool inside(int width, int height, int32_t x, int32_t y) {
	return (uint32_t)(x + position_one / 2) <= (uint32_t)width << position_bits &&
	       (uint32_t)(y + position_one / 2) <= (uint32_t)height << position_bits;
}

// settle splits a position into an index and a fraction, after moving it to the edge if it is
// outside. step is the distance to the next sample, or 0 if that sample's weight is zero.
HOST_DEVICE void settle(int32_t position, int n, int *index, uint32_t *fraction, int *step) {
	int i = position >> position_bits;
	uint32_t f = position & (position_one - 1);
	if ((uint32_t)i >= (uint32_t)(n - 1)) {
		i = i < 0 ? 0 : n - 1;
		f = 0;
	}
	*index = i;
	*fraction = f;
	*step = f != 0;
}

// lookup returns the picture at (x, y), in 1/256 pixel, interpolated bilinearly, times
// 65536.
HOST_DEVICE uint32_t lookup(const uint8_t *pix, int width, int height, int32_t x, int32_t y) {
	int ix, iy, dx, dy;
	uint32_t fx, fy;
	settle(x, width, &ix, &fx, &dx);
	settle(y, height, &iy, &fy, &dy);
	const uint8_t *p = pix + (size_t)iy * width + ix, *q = p + (dy ? width : 0);
	uint32_t top = p[0] * (position_one - fx) + p[dx] * fx;
	uint32_t bottom = q[0] * (position_one - fx) + q[dx] * fx;
	return top * (position_one - fy) + bottom * fy;
}

// A quad holds the four samples around a place between them: the upper left one in its low byte,
// then the upper right one, and the two below. The edges' samples repeat.

// quad_at returns the quad whose first sample is (x, y).
HOST_DEVICE uint32_t quad_at(const uint8_t *pix, int width, int height, int x, int y) {
	const uint8_t *p = pix + (size_t)y * width + x, *q = p + (y + 1 < height ? width : 0);
	int right = x + 1 < width;
	return p[0] | p[right] << 8 | q[0] << 16 | (uint32_t)q[right] << 24;
}

// between_four returns the same as lookup, from the quad of the place's first sample.
__device__ inline uint32_t between_four(uint32_t quad, int32_t x, int32_t y) {
	uint32_t fx = x & (position_one - 1), fy = y & (position_one - 1);
	uint32_t weights = position_one + fx * 0xffff; // position_one - fx, and fx in the high half
	uint32_t top = __dp2a_lo(weights, quad, 0u), bottom = __dp2a_hi(weights, quad, 0u);
	return top * (position_one - fy) + bottom * fy;
}

// quad_of returns the number of the quad at (x, y), in 1/256 pixel, which must be inside.
HOST_DEVICE int quad_of(int width, int32_t x, int32_t y) { return (y >> position_bits) * width + (x >> position_bits); }

// lookup_quad returns the same as lookup, from the picture's quads.
__device__ inline uint32_t lookup_quad(const uint32_t *quads, int width, int height, int32_t x, int32_t y) {
	x = min(max(x, 0), (width - 1) << position_bits);
	y = min(max(y, 0), (height - 1) << position_bits);
	return between_four(quads[quad_of(width, x, y)], x, y);
}

// difference returns |a - b| of two lookups in units of 1/difference_one.
HOST_DEVICE uint32_t difference(uint32_t a, uint32_t b) {
	int32_t d = (int32_t)a - (int32_t)b;
	if (d < 0) d = -d;
	return (uint32_t)(d + (1 << 11)) >> 12;
}

// box_mean returns sum/count, rounded as warp's boxMean rounds it.
HOST_DEVICE uint16_t box_mean(uint32_t sum, uint64_t reciprocal) {
	return (uint16_t)((sum * reciprocal + (1ull << 31)) >> 32);
}

// reciprocal returns 2^32/n, rounded.
HOST_DEVICE uint64_t reciprocal(uint32_t n) { return ((1ull << 32) + n / 2) / n; }
