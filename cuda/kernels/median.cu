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

// median_motions sets the motions of dst to the medians of the components of those of src
// over three by three pixels, with repeated edges, and motion number mean to the mean of
// the first 1<<log, rounded down. There are flows motions in src.
extern "C" __global__ void median_motions(Vec *dst, const Vec *src, int flows, int log, int mean, int width, int height) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	size_t size = (size_t)width * height, at = (size_t)y * width + x;
	int columns[3] = {max(x - 1, 0), x, min(x + 1, width - 1)};
	int rows[3] = {max(y - 1, 0) * width, y * width, min(y + 1, height - 1) * width};
	Vec sum = {0, 0};
	for (int z = 0; z < flows; z++) {
		const Vec *plane = src + z * size;
		int32_t vx[3][3], vy[3][3];
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++) {
				Vec v = plane[rows[j] + columns[i]];
				vx[i][j] = v.x;
				vy[i][j] = v.y;
			}
		Vec m = {median9(vx), median9(vy)};
		dst[z * size + at] = m;
		if (z >= 1 << log) continue;
		sum.x += m.x;
		sum.y += m.y;
	}
	sum.x >>= log;
	sum.y >>= log;
	dst[mean * size + at] = sum;
}
