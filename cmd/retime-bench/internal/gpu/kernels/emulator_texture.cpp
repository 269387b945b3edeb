// This file looks up values in textures.

#include "emulator_texture.h"

namespace emulator {
namespace {

int inside(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

float texel(const retime_texture &t, int x, int y) { return t.texels[(int64_t)inside(y, t.height) * t.width + inside(x, t.width)]; }

// split returns the integer part of x and sets the fraction, in 256ths, as the hardware
// computes it.
int split(float x, float &fraction) {
	float i = floorf(x);
	fraction = roundf((x - i) * 256) / 256;
	return (int)i;
}

}

float texture_value(const retime_texture &t, float x, float y) {
	float a, b;
	int i = split(x - 0.5f, a), j = split(y - 0.5f, b);
	return (1 - a) * (1 - b) * texel(t, i, j) + a * (1 - b) * texel(t, i + 1, j) +
		(1 - a) * b * texel(t, i, j + 1) + a * b * texel(t, i + 1, j + 1);
}

float texture_volume(const retime_texture &t, float x, float y, float z) {
	// Read the layer as a texture of its own.
	retime_texture layer = t;
	float c;
	int k = split(z - 0.5f, c);
	float v[2];
	for (int i = 0; i < 2; i++) {
		layer.texels = t.texels + (int64_t)inside(k + i, t.depth) * t.width * t.height;
		v[i] = texture_value(layer, x, y);
	}
	return (1 - c) * v[0] + c * v[1];
}

}
