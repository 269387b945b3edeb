// The choice among the hypotheses, with package warp's bits: semi-global aggregation on
// cells of choice_size by choice_size pixels of the guides, and the shares that follow
// from it.
//
// Energies of pixels lie one hypothesis after the other. Energies, motions and sums of
// cells lie by cell, then hypothesis.

#include "hypothesis.cuh"

enum { choice_size = 1 << choice_bits };

// cell_energies sets the cells' energies and motions to means over their pixels, guide
// to the made frame's brightness along the best motion that both neighbours show, and
// sums to 0. A thread makes a cell.
extern "C" __global__ void cell_energies(const uint8_t *pictures, const Vec *motions, const Hypothesis *list, int hypotheses,
                                         const int16_t *energies, int width, int height, int32_t phase, int16_t *cell_energies,
                                         Vec *cell_motions, int32_t *sums, uint8_t *guide) {
	int columns = (width + choice_size - 1) / choice_size, lines = (height + choice_size - 1) / choice_size;
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= columns || y >= lines) return;
	size_t size = (size_t)width * height, cell = (size_t)y * columns + x;
	Vec best = {0, 0};
	int least = INT32_MAX;
	for (int h = 0; h < hypotheses; h++) {
		Hypothesis hypothesis = list[h];
		const int half = 1 << (2 * choice_bits - 1);
		int e = half;
		Vec v = {half, half};
		for (int j = 0; j < choice_size; j++)
			for (int i = 0; i < choice_size; i++) {
				int px = min(x * choice_size + i, width - 1), py = min(y * choice_size + j, height - 1);
				e += energies[h * size + (size_t)py * width + px];
				Vec w = motion_of(hypothesis, motions, width, height, px, py);
				v.x += w.x;
				v.y += w.y;
			}
		e >>= 2 * choice_bits;
		v.x >>= 2 * choice_bits;
		v.y >>= 2 * choice_bits;
		cell_energies[cell * hypotheses + h] = (int16_t)e;
		cell_motions[cell * hypotheses + h] = v;
		sums[cell * hypotheses + h] = 0;
		if (hypothesis.kind != only_first && hypothesis.kind != only_second && e < least) {
			least = e;
			best = v;
		}
	}
	int32_t ax = (choice_size * x << position_bits) + (choice_size - 1) * position_one / 2 - toward(best.x, phase);
	int32_t ay = (choice_size * y << position_bits) + (choice_size - 1) * position_one / 2 - toward(best.y, phase);
	guide[cell] = (uint8_t)((lookup(pictures, width, height, ax, ay) + lookup(pictures + size, width, height, ax + best.x, ay + best.y)) >> 17);
}

enum { lanes = 16, paths = 8 }; // threads of a path, paths of a block

// pass_messages adds the messages along the paths of cells in one direction to sums: rightward, leftward, downward, upward for blockIdx.y from 0 to 3. A thread keeps
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
	// A step's values are read during the step before.
	int64_t ahead = length > 1 ? at + stride : at;
	Vec coming = motions[ahead * hypotheses + h];
	int32_t energy = energies[ahead * hypotheses + h];
	int next = guide[ahead];
	for (int i = 1; i < length; i++) {
		at += stride;
		Vec to = coming;
		int32_t own = energy;
		int bright = next;
		if (i + 1 < length) ahead += stride;
		coming = motions[ahead * hypotheses + h];
		energy = energies[ahead * hypotheses + h];
		next = guide[ahead];
		int32_t penalty = penalties[abs(bright - brightness)];
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
		if (lane < hypotheses) cost = own + message;
		from = to;
		brightness = bright;
	}
}

// share_weights sets weight h to the share of hypothesis h, which falls with the excess
// of its energy, and of the interpolated sums of the messages, over the least one.
extern "C" __global__ void share_weights(const int16_t *energies, const int32_t *sums, int hypotheses, uint16_t *weights, int width, int height,
                                         const uint16_t *likelihood, int entries) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	int columns = (width + choice_size - 1) / choice_size, lines = (height + choice_size - 1) / choice_size;
	size_t size = (size_t)width * height, at = (size_t)y * width + x;
	int fx, fy, cx = cell_before(x, choice_size, &fx), cy = cell_before(y, choice_size, &fy);
	const int32_t *upper = sums + (size_t)max(cy, 0) * columns * hypotheses, *lower = sums + (size_t)min(cy + 1, lines - 1) * columns * hypotheses;
	int left = max(cx, 0) * hypotheses, right = min(cx + 1, columns - 1) * hypotheses;
	int32_t total[max_hypotheses], least = INT32_MAX;
	for (int h = 0; h < max_hypotheses; h++) {
		if (h >= hypotheses) break;
		int32_t l = (2 * choice_size - fy) * upper[left + h] + fy * lower[left + h];
		int32_t r = (2 * choice_size - fy) * upper[right + h] + fy * lower[right + h];
		total[h] = energies[h * size + at] + (((2 * choice_size - fx) * l + fx * r + (1 << (2 * choice_bits + 1))) >> (2 * choice_bits + 2));
		least = min(least, total[h]);
	}
	for (int h = 0; h < max_hypotheses; h++) {
		if (h >= hypotheses) break;
		int excess = total[h] - least;
		weights[h * size + at] = excess < entries ? likelihood[excess] : 0;
	}
}
