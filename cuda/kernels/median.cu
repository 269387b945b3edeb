// The medians of motions, with the same bits as package warp.

#include "motion.cuh"

__device__ int32_t median3(int32_t a, int32_t b, int32_t c) { return max(min(a, b), min(max(a, b), c)); }

// Column is three values in ascending order.
struct Column {
	int32_t least, middle, most;
};

// column inserts v into two values in order.
__device__ Column column(int32_t less, int32_t more, int32_t v) {
	Column c = {min(less, v), max(less, min(more, v)), max(more, v)};
	return c;
}

// medians sets the medians of two adjacent pixels, which have columns 1 and 2 in common.
__device__ void medians(int32_t *m, const Column *c) {
	int32_t low = max(c[1].least, c[2].least), high = min(c[1].most, c[2].most);
	int32_t less = min(c[1].middle, c[2].middle), more = max(c[1].middle, c[2].middle);
#pragma unroll
	for (int i = 0; i < 2; i++) {
		const Column &own = c[3 * i];
		m[i] = median3(max(low, own.least), max(less, min(more, own.middle)), min(high, own.most));
	}
}

// square_medians sets the medians of two by two pixels from the four by four around them.
__device__ void square_medians(int32_t m[2][2], const int32_t v[4][4]) {
	Column upper[4], lower[4];
#pragma unroll
	for (int i = 0; i < 4; i++) {
		int32_t less = min(v[1][i], v[2][i]), more = max(v[1][i], v[2][i]);
		upper[i] = column(less, more, v[0][i]);
		lower[i] = column(less, more, v[3][i]);
	}
	medians(m[0], upper);
	medians(m[1], lower);
}

// put_pair stores one motion, or two adjacent ones.
__device__ void put_pair(Vec *dst, Vec a, Vec b, bool two) {
	if (two && (uintptr_t)dst % (2 * sizeof(Vec)) == 0) {
		*(int4 *)dst = make_int4(a.x, a.y, b.x, b.y);
		return;
	}
	dst[0] = a;
	if (two) dst[1] = b;
}

// median_motions sets the motions of dst to the medians of src's components over three by three
// pixels, with repeated edges, and motion number mean to the mean of the first 1<<log, rounded
// down. Layer 0 of the grid makes those and their mean, and each further layer one further motion.
// A thread makes two by two pixels.
extern "C" __global__ void __launch_bounds__(256, 4) median_motions(Vec *__restrict__ dst, const Vec *__restrict__ src, int log, int mean, int width, int height) {
	int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
	if (x >= width || y >= height) return;
	bool right = x + 1 < width, below = y + 1 < height;
	size_t size = (size_t)width * height, at = (size_t)y * width + x;
	int columns[4] = {max(x - 1, 0), x, min(x + 1, width - 1), min(x + 2, width - 1)};
	int first = blockIdx.z == 0 ? 0 : (1 << log) + blockIdx.z - 1, count = blockIdx.z == 0 ? 1 << log : 1;
	const Vec *lines[4];
#pragma unroll
	for (int j = 0; j < 4; j++) lines[j] = src + first * size + (size_t)clamp_to(y + j - 1, 0, height - 1) * width;
	Vec *to = dst + first * size + at;
	Vec sums[2][2] = {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}};
	for (int z = 0; z < count; z++, to += size) {
		int32_t across[4][4], down[4][4], mx[2][2], my[2][2];
#pragma unroll
		for (int j = 0; j < 4; j++) {
#pragma unroll
			for (int i = 0; i < 4; i++) {
				Vec v = lines[j][columns[i]];
				across[j][i] = v.x;
				down[j][i] = v.y;
			}
			lines[j] += size;
		}
		square_medians(mx, across);
		square_medians(my, down);
#pragma unroll
		for (int j = 0; j < 2; j++) {
			Vec m[2] = {{mx[j][0], my[j][0]}, {mx[j][1], my[j][1]}};
			if (j == 0 || below) put_pair(to + j * width, m[0], m[1], right);
#pragma unroll
			for (int i = 0; i < 2; i++) {
				sums[j][i].x += m[i].x;
				sums[j][i].y += m[i].y;
			}
		}
	}
	if (blockIdx.z > 0) return;
#pragma unroll
	for (int j = 0; j < 2; j++) {
		Vec m[2] = {{sums[j][0].x >> log, sums[j][0].y >> log}, {sums[j][1].x >> log, sums[j][1].y >> log}};
		if (j == 0 || below) put_pair(dst + mean * size + at + j * width, m[0], m[1], right);
	}
}
