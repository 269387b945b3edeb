// The medians of motions, with package warp's bits.

#include "motion.cuh"

__device__ void order(int32_t &a, int32_t &b) {
	int32_t least = min(a, b);
	b = max(a, b);
	a = least;
}

__device__ int32_t median3(int32_t a, int32_t b, int32_t c) { return max(min(a, b), min(max(a, b), c)); }

// A Column is three values in order.
struct Column {
	int32_t least, middle, most;
};

__device__ Column column(int32_t a, int32_t b, int32_t c) {
	order(a, b);
	order(b, c);
	order(a, b);
	Column v = {a, b, c};
	return v;
}

// median9 returns the median of three columns.
__device__ int32_t median9(Column a, Column b, Column c) {
	return median3(max(max(a.least, b.least), c.least), median3(a.middle, b.middle, c.middle), min(min(a.most, b.most), c.most));
}

// median_motions sets the motions of dst to the medians of the components of those of src
// over three by three pixels, with repeated edges, and motion number mean to the mean of
// the first 1<<log, rounded down. There are flows motions in src. A thread makes two pixels,
// side by side.
extern "C" __global__ void median_motions(Vec *dst, const Vec *src, int flows, int log, int mean, int width, int height) {
	int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	bool two = x + 1 < width;
	size_t size = (size_t)width * height, at = (size_t)y * width + x;
	int columns[4] = {max(x - 1, 0), x, min(x + 1, width - 1), min(x + 2, width - 1)};
	int rows[3] = {max(y - 1, 0) * width, y * width, min(y + 1, height - 1) * width};
	Vec sums[2] = {{0, 0}, {0, 0}};
	for (int z = 0; z < flows; z++) {
		const Vec *plane = src + z * size;
		Column across[4], down[4];
#pragma unroll
		for (int i = 0; i < 4; i++) {
			Vec a = plane[rows[0] + columns[i]], b = plane[rows[1] + columns[i]], c = plane[rows[2] + columns[i]];
			across[i] = column(a.x, b.x, c.x);
			down[i] = column(a.y, b.y, c.y);
		}
#pragma unroll
		for (int i = 0; i < 2; i++) {
			Vec m = {median9(across[i], across[i + 1], across[i + 2]), median9(down[i], down[i + 1], down[i + 2])};
			if (i == 0 || two) dst[z * size + at + i] = m;
			if (z >= 1 << log) continue;
			sums[i].x += m.x;
			sums[i].y += m.y;
		}
	}
#pragma unroll
	for (int i = 0; i < 2; i++) {
		Vec m = {sums[i].x >> log, sums[i].y >> log};
		if (i == 0 || two) dst[mean * size + at + i] = m;
	}
}
