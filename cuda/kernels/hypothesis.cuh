// Hypotheses about the motion through each pixel of the guides, with package
// warp's bits.
#pragma once

#include "motion.cuh"

// A Hypothesis describes one motion for every pixel: the mean of 1<<log projected
// flows, from number first on, read (dx, dy) pixels away. kind says how the hypothesis
// is made: projected, neighbour, stationary, which moves nowhere, or only_first or
// only_second, which one neighbour shows.
struct alignas(8) Hypothesis {
	int32_t kind, first, log, dx, dy, unused;
};

HOST_DEVICE Vec motion_of(const Hypothesis &h, const Vec *motions, int width, int height, int x, int y) {
	Vec v = {0, 0};
	if (h.kind == stationary) return v;
	size_t size = (size_t)width * height;
	size_t at = (size_t)clamp_to(y + h.dy, 0, height - 1) * width + clamp_to(x + h.dx, 0, width - 1);
	for (int k = 0; k < 1 << h.log; k++) {
		Vec w = motions[(h.first + k) * size + at];
		v.x += w.x;
		v.y += w.y;
	}
	v.x >>= h.log;
	v.y >>= h.log;
	return v;
}

// bends reports whether the common acceleration applies to hypotheses of a kind.
HOST_DEVICE bool bends(int kind) { return kind == projected || kind == neighbour; }

// disagreement returns the difference between the guides along v through pixel (x, y),
// which lies bend off the straight line, or unseen if only one of the guides shows the
// place.
HOST_DEVICE uint16_t disagreement(const uint8_t *a, const uint8_t *b, int width, int height, int x, int y, Vec v, Vec bend, int32_t phase) {
	int32_t ax = (x << position_bits) - toward(v.x, phase) - bend.x;
	int32_t ay = (y << position_bits) - toward(v.y, phase) - bend.y;
	int32_t bx = ax + v.x, by = ay + v.y;
	if (inside(width, height, ax, ay) != inside(width, height, bx, by)) return unseen;
	return difference(lookup(a, width, height, ax, ay), lookup(b, width, height, bx, by));
}

// disagreement_beyond returns the difference along v through pixel (x, y) between near,
// at the distance part of an interval, and far, one interval further in direction way.
HOST_DEVICE uint16_t disagreement_beyond(const uint8_t *near, const uint8_t *far, int width, int height, int x, int y, Vec v, int32_t part, int way) {
	int32_t nx = (x << position_bits) + toward(v.x, part), ny = (y << position_bits) + toward(v.y, part);
	int32_t fx = nx + way * v.x, fy = ny + way * v.y;
	if (!inside(width, height, nx, ny)) return hidden;
	if (!inside(width, height, fx, fy)) return unseen_beyond;
	return difference(lookup(near, width, height, nx, ny), lookup(far, width, height, fx, fy));
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
	if (kind == stationary) return covering;
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
