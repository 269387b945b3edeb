// The costs of the hypotheses, and the energies that follow from the costs.

#include "hypothesis.cuh"

enum {
	tile_width = 32,
	tile_height = 16,
	rows = 8,
	threads = tile_width * rows,
	pixels = tile_height / rows,
	halo_width = tile_width + 2 * cost_radius,
	halo_height = tile_height + 2 * cost_radius,
	max_count = (2 * cost_radius + 1) * (2 * cost_radius + 1)
};

// hypothesis_energies sets energy h to the energy of hypothesis h. The cost of a
// hypothesis is the mean disagreement over a square of 2*radius+1 pixels, as far as it
// lies inside. The pictures are A, B, and, if there are hypotheses that one neighbour
// shows, the ones before and after. Pictures, motions and energies lie one after the
// other. bends may be null. total grows by the least cost of a projected flow at each
// pixel. Blocks are 32 by 8 threads for tiles of 32 by 16 pixels, with shared memory for
// a uint16_t for each pixel and hypothesis.
extern "C" __global__ void hypothesis_energies(const uint8_t *pictures, const Vec *motions, const Vec *bend_field, const Hypothesis *list,
                                               int hypotheses, int16_t *energies, int width, int height, int32_t phase, int radius,
                                               const int16_t *neighbour_gate, const int16_t *only_gate,
                                               int gate_entries, unsigned long long *total) {
	DYNAMIC_SHARED(uint16_t, costs); // by hypothesis, then pixel
	__shared__ uint16_t differences[halo_height][halo_width];
	__shared__ uint32_t columns[tile_height][halo_width];
	__shared__ uint64_t reciprocals[max_count + 1];
	__shared__ unsigned long long sum;
	int thread = threadIdx.y * tile_width + threadIdx.x;
	int side = 2 * radius + 1, across = tile_width + 2 * radius, down = tile_height + 2 * radius;
	for (int n = thread; n <= side * side; n += threads) reciprocals[n] = n ? reciprocal(n) : 0;
	// Dividing an index by across through this inverse is exact.
	float inverse = 1.0f / across;
	if (thread == 0) sum = 0;

	size_t size = (size_t)width * height;
	const uint8_t *a = pictures, *b = a + size, *before = b + size, *after = before + size;
	int left = blockIdx.x * tile_width, top = blockIdx.y * tile_height;
	int x = left + threadIdx.x;
	int wide = min(width, x + radius + 1) - max(0, x - radius);
	for (int h = 0; h < hypotheses; h++) {
		Hypothesis hypothesis = list[h];
		if (hypothesis.kind == stationary) continue; // its energy does not depend on a cost
		for (int i = thread; i < across * down; i += threads) {
			int hy = (int)((i + 0.5f) * inverse), hx = i - hy * across, px = left + hx - radius, py = top + hy - radius;
			uint16_t d = 0;
			if (px >= 0 && py >= 0 && px < width && py < height) {
				Vec v = motion_of(hypothesis, motions, width, height, px, py), bend = {0, 0};
				if (bend_field && bends(hypothesis.kind)) bend = bend_field[(size_t)py * width + px];
				if (hypothesis.kind == only_first)
					d = disagreement_beyond(a, before, width, height, px, py, v, -phase, -1);
				else if (hypothesis.kind == only_second)
					d = disagreement_beyond(b, after, width, height, px, py, v, phase_one - phase, 1);
				else
					d = disagreement(a, b, width, height, px, py, v, bend, phase);
			}
			differences[hy][hx] = d;
		}
		__syncthreads();
		for (int i = thread; i < across * tile_height; i += threads) {
			int cy = (int)((i + 0.5f) * inverse), cx = i - cy * across;
			uint32_t s = 0;
			for (int j = 0; j < side; j++) s += differences[cy + j][cx];
			columns[cy][cx] = s;
		}
		__syncthreads();
		for (int p = 0; p < pixels; p++) {
			int row = threadIdx.y + p * rows, y = top + row;
			uint32_t s = 0;
			for (int i = 0; i < side; i++) s += columns[row][threadIdx.x + i];
			int high = min(height, y + radius + 1) - max(0, y - radius);
			if (x < width && y < height)
				costs[(h * pixels + p) * threads + thread] = box_mean(s, reciprocals[high * wide]);
		}
	}

	Gates gates = {neighbour_gate, only_gate, gate_entries};
	unsigned long long mine = 0;
	for (int p = 0; p < pixels; p++) {
		int y = top + threadIdx.y + p * rows;
		if (x >= width || y >= height) continue;
		int32_t least = INT32_MAX;
		for (int h = 0; h < hypotheses; h++)
			if (list[h].kind == projected) least = min(least, (int32_t)costs[(h * pixels + p) * threads + thread]);
		mine += least;
		for (int h = 0; h < hypotheses; h++)
			energies[h * size + (size_t)y * width + x] =
				energy_of(gates, list[h].kind, costs[(h * pixels + p) * threads + thread], least);
	}
	for (int step = 16; step; step >>= 1) mine += __shfl_xor_sync(0xffffffff, mine, step);
	if (threadIdx.x == 0 && mine) atomicAdd(&sum, mine);
	__syncthreads();
	if (thread == 0) atomicAdd(total, sum);
}
