// The choice among the hypotheses, with package warp's bits: semi-global aggregation on
// the guides' grid halved once more, and the shares that follow from it.
//
// Energies of the whole grid lie one hypothesis after the other. Energies, motions and
// sums of the half grid lie by pixel, then hypothesis.

#include "hypothesis.cuh"

// halve_energies sets the half grid's energies and motions to means over two by two
// pixels, guide to the made frame's brightness along the best motion that both
// neighbours show, and sums to 0. A thread makes a pixel.
extern "C" __global__ void halve_energies(const uint8_t *pictures, const Vec *motions, const Hypothesis *list, int hypotheses,
                                          const int16_t *energies, int width, int height, int32_t phase, int16_t *half_energies,
                                          Vec *half_motions, int32_t *sums, uint8_t *guide) {
	int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= half_width || y >= half_height) return;
	size_t size = (size_t)width * height, pixel = (size_t)y * half_width + x;
	int px[2] = {2 * x, min(2 * x + 1, width - 1)}, py[2] = {2 * y, min(2 * y + 1, height - 1)};
	Vec best = {0, 0};
	int least = INT32_MAX;
	for (int h = 0; h < hypotheses; h++) {
		Hypothesis hypothesis = list[h];
		int e = 2;
		Vec v = {2, 2};
		for (int k = 0; k < 4; k++) {
			int cx = px[k & 1], cy = py[k >> 1];
			e += energies[h * size + (size_t)cy * width + cx];
			Vec w = motion_of(hypothesis, motions, width, height, cx, cy);
			v.x += w.x;
			v.y += w.y;
		}
		e >>= 2;
		v.x >>= 2;
		v.y >>= 2;
		half_energies[pixel * hypotheses + h] = (int16_t)e;
		half_motions[pixel * hypotheses + h] = v;
		sums[pixel * hypotheses + h] = 0;
		if (hypothesis.kind != only_first && hypothesis.kind != only_second && e < least) {
			least = e;
			best = v;
		}
	}
	int32_t ax = (2 * x << position_bits) + position_one / 2 - toward(best.x, phase);
	int32_t ay = (2 * y << position_bits) + position_one / 2 - toward(best.y, phase);
	guide[pixel] = (uint8_t)((lookup(pictures, width, height, ax, ay) + lookup(pictures + size, width, height, ax + best.x, ay + best.y)) >> 17);
}

enum { lanes = 16, paths = 8 }; // threads of a path, paths of a block

// pass_messages adds the messages along the paths of the half grid in one direction to
// sums: rightward, leftward, downward, upward for blockIdx.y from 0 to 3. A thread keeps
// the path cost of one hypothesis. Blocks are 128 by 1 threads, for 8 paths.
extern "C" __global__ void pass_messages(const int16_t *energies, const Vec *motions, const uint8_t *guide, int hypotheses, int width, int height,
                                         const uint16_t *penalties, int32_t *sums) {
	int direction = blockIdx.y, lane = threadIdx.x % lanes;
	bool across = direction < 2, backward = direction & 1;
	int count = across ? height : width, length = across ? width : height, stride = across ? 1 : width;
	if ((int)blockIdx.x * paths >= count) return;
	int path = blockIdx.x * paths + threadIdx.x / lanes;
	bool mine = path < count && lane < hypotheses;
	if (path >= count) path = count - 1;
	int64_t at = across ? (int64_t)path * width : path;
	if (backward) {
		at += (int64_t)(length - 1) * stride;
		stride = -stride;
	}
	int h = lane < hypotheses ? lane : 0;
	int32_t cost = lane < hypotheses ? energies[at * hypotheses + h] : 1 << 24;
	Vec from = motions[at * hypotheses + h];
	int brightness = guide[at];
	for (int i = 1; i < length; i++) {
		at += stride;
		Vec to = motions[at * hypotheses + h];
		int next = guide[at];
		int32_t penalty = penalties[abs(next - brightness)];
		int32_t least = cost;
		for (int step = lanes / 2; step; step >>= 1) least = min(least, __shfl_xor_sync(0xffffffff, least, step, lanes));
		int32_t message = penalty;
		for (int k = 0; k < hypotheses; k++) {
			int32_t lead = __shfl_sync(0xffffffff, cost, k, lanes) - least;
			int32_t dx = to.x - __shfl_sync(0xffffffff, from.x, k, lanes), dy = to.y - __shfl_sync(0xffffffff, from.y, k, lanes);
			int32_t jump = min(abs(dx) + abs(dy), 1 << jump_bits);
			message = min(message, lead + (penalty * jump >> jump_bits));
		}
		if (mine) atomicAdd(&sums[at * hypotheses + h], message);
		if (lane < hypotheses) cost = energies[at * hypotheses + h] + message;
		from = to;
		brightness = next;
	}
}

// share_weights sets weight h to the share of hypothesis h, which falls with the excess
// of its energy, and of the interpolated sums of the messages, over the least one.
extern "C" __global__ void share_weights(const int16_t *energies, const int32_t *sums, int hypotheses, uint16_t *weights, int width, int height,
                                         const uint16_t *likelihood, int entries) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
	size_t size = (size_t)width * height, at = (size_t)y * width + x;
	int nx = x / 2, ny = y / 2;
	int fx = clamp_to(nx + 2 * (x & 1) - 1, 0, half_width - 1), fy = clamp_to(ny + 2 * (y & 1) - 1, 0, half_height - 1);
	const int32_t *a = sums + ((size_t)ny * half_width + nx) * hypotheses, *b = sums + ((size_t)ny * half_width + fx) * hypotheses;
	const int32_t *c = sums + ((size_t)fy * half_width + nx) * hypotheses, *d = sums + ((size_t)fy * half_width + fx) * hypotheses;
	int32_t total[max_hypotheses], least = INT32_MAX;
	for (int h = 0; h < max_hypotheses; h++) {
		if (h >= hypotheses) break;
		total[h] = energies[h * size + at] + ((9 * a[h] + 3 * (b[h] + c[h]) + d[h] + 8) >> 4);
		least = min(least, total[h]);
	}
	for (int h = 0; h < max_hypotheses; h++) {
		if (h >= hypotheses) break;
		int excess = total[h] - least;
		weights[h * size + at] = excess < entries ? likelihood[excess] : 0;
	}
}
