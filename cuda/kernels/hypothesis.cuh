// Hypotheses about the motion through each pixel of the guides, with package
// warp's bits.
#pragma once

#include "motion.cuh"

// A Hypothesis describes one motion for every pixel: the mean of 1<<log projected
// flows, from number first on, read (dx, dy) pixels away. kind says how the hypothesis
// is made: projected, neighbour, or stationary, which moves nowhere.
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

// ShareTables holds package warp's tables: falloff, indexed by the difference, the
// gates, by the least difference along any flow, and the bonus, by the lead over that
// difference.
struct ShareTables {
	const uint16_t *falloff, *neighbour_gate, *still_gate;
	const uint32_t *still_bonus;
	int falloff_entries, gate_entries, bonus_entries;
};

HOST_DEVICE uint32_t fallen(const ShareTables &t, int32_t d) { return d < t.falloff_entries ? t.falloff[d] : 0; }

// share_of returns the share of a hypothesis of the given cost if the least cost of a
// projected one is least.
HOST_DEVICE uint16_t share_of(const ShareTables &t, int kind, int32_t cost, int32_t least) {
	int g = least < t.gate_entries ? least : t.gate_entries - 1;
	if (kind == projected) return (uint16_t)fallen(t, cost - least);
	if (kind == neighbour) return (uint16_t)(fallen(t, cost > least ? cost - least : 0) * t.neighbour_gate[g] >> 8);
	uint32_t gate = t.still_gate[g];
	int32_t lead = least - cost;
	if (lead > 0) return (uint16_t)(weight_one * gate * t.still_bonus[lead < t.bonus_entries ? lead : t.bonus_entries - 1] >> 16);
	return (uint16_t)(fallen(t, -lead) * gate * t.still_bonus[0] >> 16);
}
