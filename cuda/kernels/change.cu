// Sums that show how much of a picture the flow explains.

#include "motion.cuh"

const int change_step = 3;
const uint32_t change_one = 256; // a pixel, in the unit of vectors

enum {
	sum_a, sum_b, sum_aa, sum_bb, sum_ab,    // of both pictures
	along_b, along_bb, along_ab,             // of b where the flow leads, if that is inside
	outside_n, outside_a, outside_aa,        // of a where the flow leads outside
	lost,                                    // pixels at which the flows miss each other
	sum_count
};

// measure_change adds to sums over every change_step-th pixel of every change_step-th row
// of a. Blocks have whole warps.
extern "C" __global__ void measure_change(unsigned long long *sums, const uint8_t *a, const uint8_t *b, const Vec *forward, const Vec *backward,
		int width, int height) {
	long long mine[sum_count] = {};
	int columns = (width + change_step - 1) / change_step, count = columns * ((height + change_step - 1) / change_step);
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
		int x = i % columns * change_step, y = i / columns * change_step;
		size_t at = (size_t)y * width + x;
		int va = a[at], vb = b[at];
		mine[sum_a] += va;
		mine[sum_aa] += va * va;
		mine[sum_b] += vb;
		mine[sum_bb] += vb * vb;
		mine[sum_ab] += va * vb;
		Vec v = forward[at];
		int tx = x + ((v.x + 128) >> 8), ty = y + ((v.y + 128) >> 8);
		if ((unsigned)tx >= (unsigned)width || (unsigned)ty >= (unsigned)height) {
			mine[outside_n]++;
			mine[outside_a] += va;
			mine[outside_aa] += va * va;
			continue;
		}
		size_t to = (size_t)ty * width + tx;
		int vt = b[to];
		mine[along_b] += vt;
		mine[along_bb] += vt * vt;
		mine[along_ab] += va * vt;
		Vec back = backward[to];
		mine[lost] += (uint32_t)(v.x + back.x + change_one) > 2 * change_one || (uint32_t)(v.y + back.y + change_one) > 2 * change_one;
	}
	for (int k = 0; k < sum_count; k++) {
		for (int bit = 1; bit < 32; bit *= 2) mine[k] += __shfl_xor_sync(0xffffffff, mine[k], bit);
		if (threadIdx.x % 32 == 0) atomicAdd(&sums[k], (unsigned long long)mine[k]);
	}
}
