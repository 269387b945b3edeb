// The quads of pictures, from which a single access reads all that an interpolation needs.

#include "motion.cuh"

// make_quads sets the quads of picture z. Pictures and their quads are stored one after the other,
// each width by height without gaps.
extern "C" __global__ void make_quads(uint32_t *quads, const uint8_t *pictures, int width, int height) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	size_t picture = (size_t)blockIdx.z * width * height;
	quads[picture + (size_t)y * width + x] = quad_at(pictures + picture, width, height, x, y);
}
