// Hypotheses about the motion through each pixel of the guides, with package
// warp's bits.
#pragma once

#include "motion.cuh"

// A Hypothesis describes one motion for every pixel: the one in plane number plane of the
// motions, read (dx, dy) pixels away. kind is projected, neighbour, or only_first or
// only_second, which one neighbour shows. Hypotheses come in this order.
//
// Being stationary, which moves nowhere, is none of them: the choice leaves it no share, and
// cover alone gives it pixels. It counts between the projected ones and the neighbours.
struct alignas(16) Hypothesis {
	int32_t kind, plane, dx, dy;
};

HOST_DEVICE Vec motion_of(const Hypothesis &h, const Vec *motions, int width, int height, int x, int y) {
	return motions[(size_t)h.plane * width * height + (size_t)clamp_to(y + h.dy, 0, height - 1) * width + clamp_to(x + h.dx, 0, width - 1)];
}

// same reports whether two motions differ by no more than same_motion, and so count as one.
HOST_DEVICE bool same(Vec a, Vec b) {
	return max((uint32_t)(a.x - b.x + same_motion), (uint32_t)(a.y - b.y + same_motion)) <= 2 * same_motion;
}

// bends reports whether the common acceleration applies to hypotheses of a kind.
HOST_DEVICE bool bends(int kind) { return kind == projected || kind == neighbour; }

// covered_share returns the weight out of 256 that a certainty of up to 255 gives to what
// lies still.
HOST_DEVICE uint32_t covered_share(uint32_t certainty) { return certainty + (certainty >> 7); }

// A Comparison says how a hypothesis shows in the pictures: along a motion v through a place
// of the made frame, near is read at sign times the part of v away from the place and far at
// way times v beyond. Both of an interval's pictures show it, or one picture and the one
// beyond.
struct Comparison {
	const uint32_t *near, *far; // quads
	int32_t part, sign, way;
	bool both;
};

// compared_by returns how a hypothesis shows in the quads of A, B, and the pictures before
// and after, which lie one after the other.
HOST_DEVICE Comparison compared_by(int kind, const uint32_t *quads, size_t size, int32_t phase) {
	if (kind == only_first) {
		Comparison c = {quads, quads + 2 * size, -phase, 1, -1, false};
		return c;
	}
	if (kind == only_second) {
		Comparison c = {quads + size, quads + 3 * size, phase_one - phase, 1, 1, false};
		return c;
	}
	Comparison c = {quads, quads + size, phase, -1, 1, true};
	return c;
}

// disagreement returns the difference between the pictures along v through pixel (x, y),
// which lies bend off the straight line, or a fixed value if they do not show the place.
__device__ inline uint32_t disagreement(const Comparison &c, int width, int height, int x, int y, Vec v, Vec bend) {
	int32_t nx = (x << position_bits) + c.sign * toward(v.x, c.part) - bend.x;
	int32_t ny = (y << position_bits) + c.sign * toward(v.y, c.part) - bend.y;
	int32_t fx = nx + c.way * v.x, fy = ny + c.way * v.y;
	bool in_near = inside(width, height, nx, ny), in_far = inside(width, height, fx, fy);
	uint32_t d = difference(lookup_quad(c.near, width, height, nx, ny), lookup_quad(c.far, width, height, fx, fy));
	if (c.both) return in_near == in_far ? d : unseen;
	return !in_near ? hidden : !in_far ? unseen_beyond : d;
}

// Gates holds package warp's gates, which have one number of entries: the energies of
// hypotheses beside their costs, indexed by the least cost of a projected one.
struct Gates {
	const int16_t *neighbour, *only;
	int entries;
};

// energy_of returns the energy of a hypothesis of the given cost if the least cost of a
// projected one is least.
HOST_DEVICE int16_t energy_of(const Gates &g, int kind, int32_t cost, int32_t least) {
	int at = least < g.entries ? least : g.entries - 1;
	int32_t e = cost - least;
	if (kind == neighbour)
		e = (e > 0 ? e : 0) + g.neighbour[at];
	else if (kind != projected) {
		e = (e >> 1) + g.only[at];
		if (e < least_only) e = least_only;
	}
	return (int16_t)(e < most_energy ? e : most_energy);
}
