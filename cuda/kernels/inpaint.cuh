// The directions and distances of package inpaint.
#pragma once

#include "constants.cuh"
#include "host_device.cuh"

// Direction is a direction of propagation, with the fields of inpaint.Direction.
struct alignas(16) Direction {
	int32_t vertical, sign, slope, step;
};

// minor_offset returns floor((major*slope + 1/2*65536) / 65536), the minor coordinate
// of the line through the origin.
HOST_DEVICE int minor_offset(int major, int slope) { return (int)(((int64_t)major * slope + (1 << 15)) >> 16); }

// travel_weight returns the weight of a sample after the given number of steps.
HOST_DEVICE uint32_t travel_weight(int steps, int step) {
	uint64_t distance = (uint64_t)steps * step;
	return (uint32_t)(((1ull << 32) + distance / 2) / distance);
}

// chamfer returns the distance of (dx, dy) from the origin, in thirds of a pixel (G.
// Borgefors, "Distance transformations in digital images", Computer Vision, Graphics,
// and Image Processing 34, 1986).
HOST_DEVICE int chamfer(int dx, int dy) {
	dx = dx < 0 ? -dx : dx;
	dy = dy < 0 ? -dy : dy;
	int most = dx > dy ? dx : dy, least = dx > dy ? dy : dx;
	return chamfer_axial * (most - least) + chamfer_diagonal * least;
}

// blur_radius returns the radius of the blur's box at a chamfer distance.
HOST_DEVICE int blur_radius(int distance) { return distance < 2 * chamfer_diagonal ? 1 : distance / chamfer_diagonal; }
