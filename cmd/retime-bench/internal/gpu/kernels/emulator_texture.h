// This header adds textures to the part of CUDA that emulator.h declares.
#pragma once

// retime_texture is the target of a texture object.
typedef struct {
	float *texels;
	int width, height, depth;
} retime_texture;

#ifdef __cplusplus
#include "emulator.h"

typedef unsigned long long cudaTextureObject_t;

namespace emulator {
// texture_value returns the value at (x, y) of the first layer of texels.
float texture_value(const retime_texture &t, float x, float y);
// texture_volume returns the value at (x, y, z).
float texture_volume(const retime_texture &t, float x, float y, float z);
}

template <typename T> T tex2D(cudaTextureObject_t object, float x, float y);
template <> inline float tex2D(cudaTextureObject_t object, float x, float y) {
	return emulator::texture_value(*(const retime_texture *)object, x, y);
}

template <typename T> T tex3D(cudaTextureObject_t object, float x, float y, float z);
template <> inline float tex3D(cudaTextureObject_t object, float x, float y, float z) {
	return emulator::texture_volume(*(const retime_texture *)object, x, y, z);
}
#endif
