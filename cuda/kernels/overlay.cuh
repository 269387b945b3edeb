// Detection of overlays, which are still on top of a moving picture, with the same bits as package
// warp.
#pragma once

#include "motion.cuh"

// OverlayGuides holds the guides of an interval and of two more frames, the flow from a to b, and
// the flows beyond the interval, or null.
struct OverlayGuides {
	const uint8_t *a, *b, *c, *d;
	const Vec *flow, *beyond;
	int width, height, level;
};

HOST_DEVICE int least_of(int a, int b) { return a < b ? a : b; }
HOST_DEVICE int most_of(int a, int b) { return a > b ? a : b; }

// overlay_radius returns the radius of the square in which marked pixels count.
HOST_DEVICE int overlay_radius(int level) { return most_of(overlay_square >> level, overlay_least_square); }

// still_contrast returns the contrast of pixel (x, y) if it has structure and does not change, and
// 0 if not.
HOST_DEVICE int still_contrast(const OverlayGuides &g, int x, int y) {
	size_t at = (size_t)y * g.width + x;
	int a = g.a[at], b = g.b[at], c = g.c[at], d = g.d[at];
	int change = most_of(most_of(a, b), most_of(c, d)) - least_of(least_of(a, b), least_of(c, d));
	if (change > (255 >> overlay_coding)) return 0;
	int span = most_of(overlay_span >> g.level, 1), least = a, most = a;
	for (int j = -span; j <= span; j += span) {
		const uint8_t *row = g.a + (size_t)clamp_to(y + j, 0, g.height - 1) * g.width;
		for (int i = -span; i <= span; i += span) {
			int v = row[clamp_to(x + i, 0, g.width - 1)];
			least = least_of(least, v);
			most = most_of(most, v);
		}
	}
	int contrast = most - least;
	return contrast >= overlay_contrast && most_of(contrast >> overlay_coding, overlay_noise) >= change ? contrast : 0;
}

// moves_probe reports whether a motion is large enough to show that the surroundings move.
HOST_DEVICE bool moves_probe(Vec v) {
	return v.x >= overlay_motion || -v.x >= overlay_motion || v.y >= overlay_motion || -v.y >= overlay_motion;
}

// misfit reports whether pixel (x, y) of a, of the given contrast, does not follow the motion of its
// surroundings.
HOST_DEVICE bool misfit(const OverlayGuides &g, int x, int y, int contrast) {
	int reach = overlay_reach >> g.level, near = 3 * reach / 4, votes = 0;
	uint32_t here = (uint32_t)g.a[(size_t)y * g.width + x] << 16;
	for (int i = 0; i < 8; i++) {
		// Four probes are on the axes, and four on the diagonals.
		int along = i & 1 ? -1 : 1, across = i & 2 ? -1 : 1, dx, dy;
		if (i < 4) {
			dx = i & 2 ? 0 : along * reach;
			dy = i & 2 ? along * reach : 0;
		} else {
			dx = along * near;
			dy = across * near;
		}
		int px = clamp_to(x + dx, 0, g.width - 1), py = clamp_to(y + dy, 0, g.height - 1);
		size_t at = (size_t)py * g.width + px, size = (size_t)g.width * g.height;
		Vec v = g.flow[at];
		if (!moves_probe(v)) continue;
		if (contrast < overlay_bold && g.beyond && !(moves_probe(g.beyond[at]) && moves_probe(g.beyond[size + at]))) continue;
		int32_t tx = (x << position_bits) + v.x, ty = (y << position_bits) + v.y;
		if (!inside(g.width, g.height, tx, ty)) continue;
		bool fits = difference(here, lookup(g.b, g.width, g.height, tx, ty)) <= overlay_misfit * difference_one;
		votes += fits ? -1 : 1;
	}
	return votes >= overlay_votes;
}
