// The binomial kernel (1 4 6 4 1)/16 in both directions, on integers, with repeated
// edges.

#include "hypothesis.cuh"

enum { tile_width = 32, tile_height = 32, rows = 8, reach = 2 };

__device__ uint32_t binomial(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) {
	return (a + e + 4 * (b + d) + 6 * c + 8) >> 4;
}

// smooth_weights sets plane z of dst to plane z of src, smoothed along x, then along y,
// and rounded after each. Planes lie one after the other; plane z holds the weights of
// hypothesis z of list. Where fixed is not 0, the weights go to the stationary
// hypothesis: all of them at 255. fixed may be null. Blocks are 32 by 8 threads for
// tiles of 32 by 32 pixels.
extern "C" __global__ void smooth_weights(uint16_t *dst, const uint16_t *src, const Hypothesis *list,
                                          const uint8_t *fixed, int width, int height) {
	__shared__ uint16_t across[tile_height + 2 * reach][tile_width];
	size_t size = (size_t)width * height;
	src += blockIdx.z * size;
	dst += blockIdx.z * size;
	int x = blockIdx.x * tile_width + threadIdx.x, top = blockIdx.y * tile_height;
	int x0 = clamp_to(x - 2, 0, width - 1), x1 = clamp_to(x - 1, 0, width - 1), x2 = min(x, width - 1);
	int x3 = min(x + 1, width - 1), x4 = min(x + 2, width - 1);
	for (int row = threadIdx.y; row < tile_height + 2 * reach; row += rows) {
		const uint16_t *p = src + (size_t)clamp_to(top + row - reach, 0, height - 1) * width;
		across[row][threadIdx.x] = (uint16_t)binomial(p[x0], p[x1], p[x2], p[x3], p[x4]);
	}
	__syncthreads();
	for (int row = threadIdx.y; row < tile_height; row += rows) {
		int y = top + row, i = threadIdx.x;
		if (x >= width || y >= height) continue;
		size_t at = (size_t)y * width + x;
		uint32_t w = (uint16_t)binomial(across[row][i], across[row + 1][i], across[row + 2][i], across[row + 3][i], across[row + 4][i]);
		if (fixed && fixed[at]) {
			uint32_t covered = fixed[at] + (fixed[at] >> 7); // 255 becomes 256
			w = (w * (256 - covered) + (list[blockIdx.z].kind == stationary ? weight_one * covered : 0)) >> 8;
		}
		dst[at] = (uint16_t)w;
	}
}
