// This header adds textures to the part of CUDA that emulator.h declares.
#pragma once

// retime_texture is the target of a texture object: rows of texels, each a float or
// four fractions of one in 16 bits.
typedef struct {
	const void *texels;
	int width, height, depth, fractions;
	int address; // number of a gpu.AddressMode
	int linear, normalized;
} retime_texture;

#ifdef __cplusplus
#include "emulator.h"

typedef unsigned long long cudaTextureObject_t;

namespace emulator {
// texture_channel returns a channel's value at (x, y) of the first layer of texels.
float texture_channel(const retime_texture &t, float x, float y, int channel);
// texture_volume returns the value at (x, y, z) of a texture of single floats.
float texture_volume(const retime_texture &t, float x, float y, float z);
}

template <typename T> T tex2D(cudaTextureObject_t object, float x, float y);
template <> inline float tex2D(cudaTextureObject_t object, float x, float y) {
	return emulator::texture_channel(*(const retime_texture *)object, x, y, 0);
}
template <> inline float4 tex2D(cudaTextureObject_t object, float x, float y) {
	const retime_texture &t = *(const retime_texture *)object;
	return make_float4(emulator::texture_channel(t, x, y, 0), emulator::texture_channel(t, x, y, 1),
		emulator::texture_channel(t, x, y, 2), emulator::texture_channel(t, x, y, 3));
}

template <typename T> T tex3D(cudaTextureObject_t object, float x, float y, float z);
template <> inline float tex3D(cudaTextureObject_t object, float x, float y, float z) {
	return emulator::texture_volume(*(const retime_texture *)object, x, y, z);
}
#endif
