// Hypotheses about the motion through each pixel of the guides, with the same bits as package warp.
#pragma once

#include "motion.cuh"

// Hypothesis describes one motion for every pixel: the one in plane number plane of the motions,
// read (dx, dy) pixels away. kind is projected, neighbour, or only_first or only_second, which only
// one neighbour shows. Hypotheses come in this order.
//
// Being stationary is not a hypothesis: the choice leaves it no share, and only cover gives it
// pixels. It is numbered between the projected ones and the neighbours.
struct alignas(16) Hypothesis {
	int32_t kind, plane, dx, dy;
};

HOST_DEVICE Vec motion_of(const Hypothesis &h, const Vec *motions, int width, int height, int x, int y) {
	return motions[(size_t)h.plane * width * height + (size_t)clamp_to(y + h.dy, 0, height - 1) * width + clamp_to(x + h.dx, 0, width - 1)];
}

// same reports whether two motions differ by no more than same_motion, and so count as one.
HOST_DEVICE bool same(Vec a, Vec b) {
	return max((uint32_t)a.x - (uint32_t)b.x + same_motion, (uint32_t)a.y - (uint32_t)b.y + same_motion) <= 2 * same_motion;
}

// bends reports whether the common acceleration applies to hypotheses of a kind.
HOST_DEVICE bool bends(int kind) { return kind == projected || kind == neighbour; }

// covered_share returns the weight, out of 256, that a certainty of up to 255 gives to what is
// still.
HOST_DEVICE uint32_t covered_share(uint32_t certainty) { return certainty + (certainty >> 7); }

// Comparison is how a hypothesis shows in the pictures: along a motion v through a place of the
// made frame, near is read at part times v from the place, and far at way times v from near. Either
// both of an interval's pictures show it, or one picture and the one beyond. half rounds the
// product of v and part.
struct Comparison {
	const uint32_t *near, *far; // quads
	int32_t part, way;
	int64_t half;
	bool both;
};

// compared_by returns how a hypothesis shows in the quads of A, B, and the pictures before and
// after, which are stored one after the other.
HOST_DEVICE Comparison compared_by(int kind, const uint32_t *quads, size_t size, int32_t phase) {
	if (kind == only_first) {
		Comparison c = {quads, quads + 2 * size, -phase, -1, phase_one / 2, false};
		return c;
	}
	if (kind == only_second) {
		Comparison c = {quads + size, quads + 3 * size, phase_one - phase, 1, phase_one / 2, false};
		return c;
	}
	// The negative of what toward returns, so ties go down.
	Comparison c = {quads, quads + size, -phase, 1, phase_one / 2 - 1, true};
	return c;
}

// Showing is a place of the made frame in the two pictures of a Comparison: the places' quads, and
// their positions, which are inside. If the pictures do not show the place, fixed is the
// disagreement, and otherwise negative.
struct Showing {
	uint32_t near, far;
	int32_t nx, ny, fx, fy, fixed;
};

// look returns what shows (x, y), in 1/256 pixel, along v. If the pictures show the place, the
// result has the given fixed.
__device__ inline Showing look(const Comparison &c, int width, int height, int32_t x, int32_t y, Vec v, int32_t fixed) {
	Showing s;
	s.nx = x + (int32_t)(wide_product(v.x, c.part, c.half) >> 16);
	s.ny = y + (int32_t)(wide_product(v.y, c.part, c.half) >> 16);
	s.fx = s.nx + c.way * v.x;
	s.fy = s.ny + c.way * v.y;
	s.fixed = fixed;
	const int32_t right = (width - 1) << position_bits, bottom = (height - 1) << position_bits;
	// Few places are outside.
	if (((uint32_t)s.nx > (uint32_t)right) | ((uint32_t)s.ny > (uint32_t)bottom) | ((uint32_t)s.fx > (uint32_t)right) | ((uint32_t)s.fy > (uint32_t)bottom)) {
		bool in_near = inside(width, height, s.nx, s.ny), in_far = inside(width, height, s.fx, s.fy);
		if (c.both)
			s.fixed &= in_near == in_far ? -1 : unseen;
		else
			s.fixed &= !in_near ? hidden : !in_far ? unseen_beyond : -1;
		s.nx = min(max(s.nx, 0), right);
		s.ny = min(max(s.ny, 0), bottom);
		s.fx = min(max(s.fx, 0), right);
		s.fy = min(max(s.fy, 0), bottom);
	}
	s.near = c.near[quad_of(width, s.nx, s.ny)];
	s.far = c.far[quad_of(width, s.fx, s.fy)];
	return s;
}

// disagreement returns the difference between what a Showing shows, or its fixed value.
__device__ inline uint32_t disagreement(const Showing &s) {
	uint32_t d = difference(between_four(s.near, s.nx, s.ny), between_four(s.far, s.fx, s.fy));
	return s.fixed < 0 ? d : (uint32_t)s.fixed;
}

// Gates holds package warp's gates, tables of equal length: what the energies of hypotheses have in
// addition to their costs, indexed by the lowest cost of a projected one.
struct Gates {
	const int16_t *neighbour, *only;
	int entries;
};

// Gate is how the hypotheses of a kind are admitted: an energy is the cost minus the lowest
// projected one's, at least low, halved if halve is 1, plus the table's entry, and at least least.
struct Gate {
	const int16_t *table; // or null
	int32_t low, halve, least, last;
};

HOST_DEVICE Gate gate_of(const Gates &g, int kind) {
	bool only = kind != projected && kind != neighbour;
	Gate gate = {only ? g.only : kind == neighbour ? g.neighbour : 0, kind == neighbour ? 0 : INT32_MIN, only, only ? least_only : INT32_MIN, g.entries - 1};
	return gate;
}

// energy_of returns the energy of a hypothesis with the given cost if the lowest cost of a
// projected one is least.
__device__ inline int16_t energy_of(const Gate &g, int32_t cost, int32_t least) {
	int32_t e = max(cost - least, g.low) >> g.halve;
	if (g.table) e += g.table[min(least, g.last)];
	return (int16_t)min(max(e, g.least), most_energy);
}

// most_threads bounds blocks of 32 threads for each hypothesis. With bounds as if a multiprocessor
// held two blocks of 576 threads, a thread takes 56 registers, and a multiprocessor holds three
// blocks of twelve hypotheses. Turing's multiprocessors have at most 1024 threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
enum { most_threads = 32 * max_hypotheses };
#else
enum { most_threads = 576 };
#endif
