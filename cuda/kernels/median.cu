// The medians of motions, with package warp's bits.

#include "motion.cuh"

__device__ void order(int32_t &a, int32_t &b) {
	int32_t least = min(a, b);
	b = max(a, b);
	a = least;
}

__device__ int32_t median3(int32_t a, int32_t b, int32_t c) { return max(min(a, b), min(max(a, b), c)); }

// median9 returns the median of three columns of three values.
__device__ int32_t median9(int32_t v[3][3]) {
	for (int i = 0; i < 3; i++) {
		order(v[i][0], v[i][1]);
		order(v[i][1], v[i][2]);
		order(v[i][0], v[i][1]);
	}
	return median3(max(max(v[0][0], v[1][0]), v[2][0]), median3(v[0][1], v[1][1], v[2][1]), min(min(v[0][2], v[1][2]), v[2][2]));
}

// median_motions sets motion z of dst to the medians of the components of motion z of
// src over three by three pixels, with repeated edges.
extern "C" __global__ void median_motions(Vec *dst, const Vec *src, int width, int height) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	size_t plane = (size_t)blockIdx.z * width * height;
	int32_t vx[3][3], vy[3][3];
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			Vec v = src[plane + (size_t)clamp_to(y + j - 1, 0, height - 1) * width + clamp_to(x + i - 1, 0, width - 1)];
			vx[i][j] = v.x;
			vy[i][j] = v.y;
		}
	Vec m = {median9(vx), median9(vy)};
	dst[plane + (size_t)y * width + x] = m;
}
