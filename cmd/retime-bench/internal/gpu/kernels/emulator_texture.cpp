// This file looks up values in textures.

#include "emulator_texture.h"

namespace emulator {
namespace {

enum { clamp, border, wrap, mirror };

// place returns the index of the texel at position i, or -1 if the value there is zero.
int place(int address, int i, int n) {
	if (i >= 0 && i < n) return i;
	switch (address) {
	case clamp:
		return i < 0 ? 0 : n - 1;
	case wrap:
		return (i % n + n) % n;
	case mirror:
		i = (i % (2 * n) + 2 * n) % (2 * n);
		return i < n ? i : 2 * n - 1 - i;
	}
	return -1;
}

float texel(const retime_texture &t, int x, int y, int channel) {
	x = place(t.address, x, t.width);
	y = place(t.address, y, t.height);
	if (x < 0 || y < 0) return 0;
	int64_t i = (int64_t)y * t.width + x;
	return t.fractions ? ((const uint16_t *)t.texels)[4 * i + channel] / 65535.0f : ((const float *)t.texels)[i];
}

// split returns the integer part of x and sets the fraction, in 256ths, as the hardware
// computes it.
int split(float x, float &fraction) {
	float i = floorf(x);
	fraction = roundf((x - i) * 256) / 256;
	return (int)i;
}

}

float texture_channel(const retime_texture &t, float x, float y, int channel) {
	if (t.normalized) x *= t.width, y *= t.height;
	if (!t.linear) return texel(t, (int)floorf(x), (int)floorf(y), channel);
	float a, b;
	int i = split(x - 0.5f, a), j = split(y - 0.5f, b);
	return (1 - a) * (1 - b) * texel(t, i, j, channel) + a * (1 - b) * texel(t, i + 1, j, channel) +
		(1 - a) * b * texel(t, i, j + 1, channel) + a * b * texel(t, i + 1, j + 1, channel);
}

float texture_volume(const retime_texture &t, float x, float y, float z) {
	// Read the layer as a texture of its own.
	retime_texture layer = t;
	float c = 0;
	int k = t.linear ? split(z - 0.5f, c) : (int)floorf(z);
	float v[2] = {0, 0};
	for (int i = 0; i < (t.linear ? 2 : 1); i++) {
		int at = place(t.address, k + i, t.depth);
		if (at < 0) continue;
		layer.texels = (const float *)t.texels + (int64_t)at * t.width * t.height;
		v[i] = texture_channel(layer, x, y, 0);
	}
	return (1 - c) * v[0] + c * v[1];
}

}
