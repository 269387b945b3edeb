// The nearest known row of a column.
#pragma once

#include "host_device.cuh"

// lowest and highest return the number of a word's lowest and highest set bit.
HOST_DEVICE int lowest(uint32_t v) {
#ifdef __CUDA_ARCH__
	return __ffs(v) - 1;
#else
	return __builtin_ctz(v);
#endif
}

HOST_DEVICE int highest(uint32_t v) {
#ifdef __CUDA_ARCH__
	return 31 - __clz(v);
#else
	return 31 - __builtin_clz(v);
#endif
}

// nearest_row returns the known row of column x that is nearest to y and at most reach
// away, the upper one of two, or -1 if there is none. Bit y%32 of word (y/32, x) of
// known is set if the pixel is known.
HOST_DEVICE int nearest_row(const uint32_t *known, int width, int height, int x, int y, int reach) {
	int above = -1, first = y - reach < 0 ? 0 : y - reach;
	for (int w = y >> 5; w >= first >> 5; w--) {
		uint32_t v = known[(size_t)w * width + x];
		if (w == y >> 5) v &= 0xffffffffu >> (31 - (y & 31));
		if (v) {
			above = 32 * w + highest(v);
			break;
		}
	}
	if (above < first) above = -1;
	// Below y, only rows nearer than above can win.
	int last = y + (above < 0 ? reach : y - above - 1);
	if (last > height - 1) last = height - 1;
	for (int w = y >> 5; w <= last >> 5; w++) {
		uint32_t v = known[(size_t)w * width + x];
		if (w == y >> 5) v &= 0xffffffffu << (y & 31);
		if (v) {
			int below = 32 * w + lowest(v);
			return below <= last ? below : above;
		}
	}
	return above;
}
