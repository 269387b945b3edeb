// The arrival of a splatted flow: its means, and its holes.

#include "splat.cuh"

enum { tile = 32, rows = 8, pixels = tile / rows };

typedef unsigned long long Sum; // the type that atomicAdd takes

// arrive_flow sets the motions of flow z to the means of the sums, negated for odd z, because those
// flows lead backward. A pixel that received less than least is a hole. known has a bit for each
// pixel, set unless it is a hole: bit y%32 of word (y/32, x). holes[z] grows by the number of
// holes. arrive_flow leaves the sums zero. Blocks are 32 by 8 threads for tiles of 32 by 32 pixels.
extern "C" __global__ void __launch_bounds__(tile *rows, 4) arrive_flow(
	Sum *sums, uint32_t *carries, Vec *motions, uint32_t *known, Sum *holes, int width, int height, Sum least, uint32_t bias) {
	__shared__ uint32_t bits[tile];
	__shared__ int missing;
	size_t size = (size_t)width * height, z = blockIdx.z;
	int x = blockIdx.x * tile + threadIdx.x, top = blockIdx.y * tile, y = top + threadIdx.y;
	size_t first = (size_t)y * width + x, step = (size_t)rows * width;
	sums += 3 * z * size + first;
	carries += 2 * z * size + first;
	motions += z * size + first;
	// Load all sums before the first is needed.
	uint64_t weights[pixels], across[pixels], down[pixels];
#pragma unroll
	for (int i = 0; i < pixels; i++) {
		weights[i] = 0;
		if (x >= width || y + i * rows >= height) continue;
		const Sum *from = sums + i * step;
		weights[i] = from[0];
		across[i] = from[size];
		down[i] = from[2 * size];
	}
	if (threadIdx.y == 0) bits[threadIdx.x] = 0;
	if (threadIdx.x + threadIdx.y == 0) missing = 0;
	__syncthreads();
	uint32_t mine = 0, slow = 0;
	int32_t sign = z & 1 ? -1 : 1;
#pragma unroll
	for (int i = 0; i < pixels; i++) {
		if (weights[i] == 0) continue;
		if (weights[i] >= least) {
			Vec v;
			mine |= 1u << i * rows;
			if (!quick_means(&v, across[i], down[i], weights[i], bias)) {
				slow |= 1u << i;
				continue;
			}
			v.x *= sign;
			v.y *= sign;
			motions[i * step] = v;
		}
		Sum *to = sums + i * step;
		to[0] = to[size] = to[2 * size] = 0;
	}
	for (int i = 0; slow >> i != 0; i++) {
		if (!(slow >> i & 1)) continue;
		Sum *from = sums + i * step;
		uint64_t weight = from[0];
		int32_t means[2];
#pragma unroll 1
		for (int n = 0; n < 2; n++) {
			Wide sum = {0, from[(1 + n) * size]};
			if (weight > vector_limit) {
				uint32_t *carry = carries + n * size + i * step;
				sum.high = *carry;
				*carry = 0;
			}
			means[n] = sign * mean_component(sum, weight, bias);
		}
		Vec v = {means[0], means[1]};
		motions[i * step] = v;
		from[0] = from[size] = from[2 * size] = 0;
	}
	atomicOr(&bits[threadIdx.x], mine << threadIdx.y);
	__syncthreads();
	if (threadIdx.y > 0) return;
	if (x < width) {
		known[(z * gridDim.y + blockIdx.y) * width + x] = bits[threadIdx.x];
		int gone = min((int)tile, height - top) - __popc(bits[threadIdx.x]);
		if (gone) atomicAdd(&missing, gone);
	}
	__syncwarp();
	if (threadIdx.x == 0 && missing) atomicAdd(&holes[z], (Sum)missing);
}
