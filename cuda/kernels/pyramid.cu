// The levels of two pictures for the dense inverse search. Each level has a border that repeats its
// outermost samples.

#include "dis.cuh"

// border_word returns the first of the four columns that a thread makes, and its row;
// the level's pitch is a multiple of 16. It reports whether the row exists.
static __device__ bool border_word(int height, int pitch, int *x, int *y) {
	*x = 4 * (int)(blockIdx.x * blockDim.x + threadIdx.x) - border_size;
	*y = (int)(blockIdx.y * blockDim.y + threadIdx.y) - border_size;
	return *x < pitch - border_size && *y < height + border_size;
}

// pyramid_base sets level 0 of picture z to a or b, of src_width by src_height samples, which it
// extends to width by height by repeating the last column and row. base points to sample (0, 0) of
// picture 0; picture 1 is distance bytes further on.
extern "C" __global__ void pyramid_base(uint8_t *base, size_t distance, int width, int height, int pitch,
		const uint8_t *a, int a_stride, const uint8_t *b, int b_stride, int src_width, int src_height) {
	int x, y;
	if (!border_word(height, pitch, &x, &y)) return;
	const uint8_t *src = blockIdx.z ? b + (size_t)clamp_to(y, 0, src_height - 1) * b_stride
	                                : a + (size_t)clamp_to(y, 0, src_height - 1) * a_stride;
	uint32_t word = 0;
	for (int i = 0; i < 4; i++) word |= (uint32_t)src[clamp_to(x + i, 0, src_width - 1)] << 8 * i;
	*(uint32_t *)(base + blockIdx.z * distance + (ptrdiff_t)y * pitch + x) = word;
}

// taps returns the sum of four samples, weighted 1, 3, 3, 1.
static __device__ int taps(int a, int b, int c, int d) { return a + d + 3 * (b + c); }

// pyramid_halve makes a level, of width by height samples, from the finer one. Both pointers point
// to sample (0, 0) of picture 0.
extern "C" __global__ void pyramid_halve(uint8_t *level, const uint8_t *finer, size_t distance, int width, int height, int pitch, int finer_pitch) {
	int x, y;
	if (!border_word(height, pitch, &x, &y)) return;
	const uint8_t *row = finer + blockIdx.z * distance + (ptrdiff_t)(2 * clamp_to(y, 0, height - 1) - 1) * finer_pitch;
	uint32_t word = 0;
	for (int i = 0; i < 4; i++) {
		const uint8_t *p = row + 2 * clamp_to(x + i, 0, width - 1) - 1;
		int sums[4];
		for (int j = 0; j < 4; j++, p += finer_pitch) sums[j] = taps(p[0], p[1], p[2], p[3]);
		word |= (uint32_t)((taps(sums[0], sums[1], sums[2], sums[3]) + 32) >> 6) << 8 * i;
	}
	*(uint32_t *)(level + blockIdx.z * distance + (ptrdiff_t)y * pitch + x) = word;
}
