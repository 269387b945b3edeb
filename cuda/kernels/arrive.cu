// The arrival of a splatted flow: its means, and its holes.

#include "splat.cuh"

enum { tile = 32, rows = 8, pixels = tile / rows };

typedef unsigned long long Sum; // as atomicAdd has it

// arrive_flow sets the motions of flow z to the means of the sums, negated for odd z,
// because those flows lead backward. A pixel that received less than least is a hole.
// known has a bit for each pixel, set unless it is a hole: bit y%32 of word (y/32, x).
// holes[z] grows by the number of holes. arrive_flow leaves the sums zero. Blocks are
// 32 by 8 threads for tiles of 32 by 32 pixels.
extern "C" __global__ void arrive_flow(Sum *sums, uint32_t *carries, Vec *motions, uint32_t *known, Sum *holes,
                                       int width, int height, Sum least, uint32_t bias) {
	__shared__ uint32_t bits[tile];
	__shared__ int missing;
	size_t size = (size_t)width * height, z = blockIdx.z;
	sums += 3 * z * size;
	carries += 2 * z * size;
	int x = blockIdx.x * tile + threadIdx.x;
	if (threadIdx.y == 0) bits[threadIdx.x] = 0;
	if (threadIdx.x + threadIdx.y == 0) missing = 0;
	__syncthreads();
	// All sums are on their way before the first is needed.
	uint64_t weights[pixels], lows[pixels][2];
#pragma unroll
	for (int i = 0; i < pixels; i++) {
		int y = blockIdx.y * tile + threadIdx.y + i * rows;
		if (x >= width || y >= height) continue;
		size_t at = (size_t)y * width + x;
		weights[i] = sums[at];
		lows[i][0] = sums[size + at];
		lows[i][1] = sums[2 * size + at];
	}
	uint32_t mine = 0;
	int gone = 0;
#pragma unroll
	for (int i = 0; i < pixels; i++) {
		int row = threadIdx.y + i * rows, y = blockIdx.y * tile + row;
		if (x >= width || y >= height) continue;
		size_t at = (size_t)y * width + x;
		uint64_t weight = weights[i];
		if (weight == 0) {
			gone++;
			continue;
		}
		uint64_t low[2] = {lows[i][0], lows[i][1]}, high[2] = {0, 0};
		sums[at] = sums[size + at] = sums[2 * size + at] = 0;
		if (weight > vector_limit)
			for (int n = 0; n < 2; n++) {
				high[n] = carries[n * size + at];
				carries[n * size + at] = 0;
			}
		if (weight < least) {
			gone++;
			continue;
		}
		Wide sx = {high[0], low[0]}, sy = {high[1], low[1]};
		Vec v = {mean_component(sx, weight, bias), mean_component(sy, weight, bias)};
		if (z & 1) {
			v.x = -v.x;
			v.y = -v.y;
		}
		motions[z * size + at] = v;
		mine |= 1u << row;
	}
	atomicOr(&bits[threadIdx.x], mine);
	if (gone) atomicAdd(&missing, gone);
	__syncthreads();
	if (threadIdx.y == 0 && x < width) known[(z * gridDim.y + blockIdx.y) * width + x] = bits[threadIdx.x];
	if (threadIdx.x + threadIdx.y == 0 && missing) atomicAdd(&holes[z], (Sum)missing);
}
