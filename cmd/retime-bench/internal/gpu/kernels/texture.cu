// Pictures transformed by look-ups in a texture, which continues beyond its edges by
// its own address mode: dst(x, y) is the value at (m0 x + m1 y + m2, m3 x + m4 y + m5).
// Coordinates in the texture are coordinates in samples times (scale_x, scale_y).

#include "texture.cuh"

// Texture looks up values by coordinates in samples.
struct Texture {
	cudaTextureObject_t object;
	float scale_x, scale_y;

	__device__ float operator()(float x, float y) const {
		return tex2D<float>(object, (x + 0.5f) * scale_x, (y + 0.5f) * scale_y);
	}
};

// kTableEntries is the width of the texture of weights. Its channels are the weight of
// the first pair and the positions of the look-ups in the first and second pair.
const int kTableEntries = 128;

__device__ Pairs pairs_from_table(cudaTextureObject_t table, float i, float t) {
	float4 w = tex2D<float4>(table, t * kTableEntries, 0.5f);
	return {i - 1 + w.y, i + 1 + w.z, w.x};
}

// Method is the way to compute a value.
enum Method { kLookUp, kPairs, kPairsFromTable, kCubic, kCatmullRomCubic };

template <int METHOD>
__device__ float value_at(const Texture &fetch, cudaTextureObject_t table, double px, double py) {
	if (METHOD == kLookUp) return fetch((float)px, (float)py);
	double fx = floor(px), fy = floor(py);
	float x = (float)fx, y = (float)fy, tx = (float)(px - fx), ty = (float)(py - fy);
	if (METHOD == kPairs) return weighted(pairs_on_the_fly(x, tx), pairs_on_the_fly(y, ty), fetch);
	if (METHOD == kPairsFromTable) return weighted(pairs_from_table(table, x, tx), pairs_from_table(table, y, ty), fetch);
	float wx[4], wy[4];
	if (METHOD == kCubic) {
		cubic_weights(tx, wx);
		cubic_weights(ty, wy);
		return sixteen(x, y, wx, wy, fetch);
	}
	catmull_rom_weights(tx, wx);
	catmull_rom_weights(ty, wy);
	return 0.25f * sixteen(x, y, wx, wy, fetch);
}

#define TEXTURE(NAME, METHOD) \
	extern "C" __global__ void NAME(cudaTextureObject_t object, float scale_x, float scale_y, cudaTextureObject_t table, \
		double m0, double m1, double m2, double m3, double m4, double m5, float *dst, int dst_stride, int width, int height) { \
		int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; \
		if (x >= width || y >= height) return; \
		Texture t = {object, scale_x, scale_y}; \
		dst[(size_t)y * dst_stride + x] = value_at<METHOD>(t, table, m0 * x + m1 * y + m2, m3 * x + m4 * y + m5); \
	}

TEXTURE(look_up, kLookUp)
TEXTURE(pairs, kPairs)
TEXTURE(pairs_with_table, kPairsFromTable)
TEXTURE(cubic, kCubic)
TEXTURE(catmull_rom, kCatmullRomCubic)
