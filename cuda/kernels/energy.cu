// The costs of the hypotheses, the energies that follow from the costs, and the means of
// both on the cells of the choice.

#include "hypothesis.cuh"

enum { lanes = 32, cell_side = 1 << choice_bits };

// A Strip is the part of the guides that a block works on. A lane adds up differences along
// a column, and the lanes at the edges only help their neighbours.
template <int radius>
struct Strip {
	enum {
		side = 2 * radius + 1,
		columns = (lanes - 2 * radius) & ~(cell_side - 1),
		turns = radius == 1 ? 10 : radius == 2 ? 8 : 4, // so that rows is a multiple of a cell's side
		rows = turns * side - 2 * radius,
		cells_across = columns / cell_side,
		cells = cells_across * (rows / cell_side)
	};
};

// add_columns sets sums, by row and lane, to the sums of the disagreements along a
// hypothesis over 2*radius+1 pixels of a column. Pixels outside the guides add nothing.
template <int radius>
__device__ void add_columns(uint16_t *sums, const Comparison &c, const Hypothesis &hypothesis, const Vec *motions, const Vec *bend_field,
                            int width, int height, int left, int top) {
	typedef Strip<radius> S;
	int lane = threadIdx.x, x = left - radius + lane;
	bool within = x >= 0 && x < width;
	x = clamp_to(x, 0, width - 1);
	const Vec *plane = motions + (size_t)hypothesis.plane * width * height + clamp_to(x + hypothesis.dx, 0, width - 1);
	// A row's motions are read while the row before is compared.
	auto row_of = [&](int row) { return clamp_to(top + row, 0, height - 1); };
	auto motion = [&](int y) { return plane[clamp_to(y + hypothesis.dy, 0, height - 1) * width]; };
	auto bend = [&](int y) {
		Vec none = {0, 0};
		return bend_field && c.both ? bend_field[y * width + x] : none;
	};
	Vec coming = motion(row_of(-radius)), coming_bend = bend(row_of(-radius));
	uint32_t ring[S::side], sum = 0;
#pragma unroll
	for (int i = 0; i < S::side; i++) ring[i] = 0;
	for (int turn = 0; turn < S::turns; turn++)
#pragma unroll
		for (int i = 0; i < S::side; i++) {
			int row = turn * S::side + i - 2 * radius, y = top + row + radius, inner = clamp_to(y, 0, height - 1);
			Vec v = coming, bent = coming_bend;
			int next = row_of(row + radius + 1);
			coming = motion(next);
			coming_bend = bend(next);
			uint32_t d = disagreement(c, width, height, x, inner, v, bent);
			if (!within || y != inner) d = 0;
			sum += d - ring[i];
			ring[i] = d;
			if (row >= 0) sums[row * lanes + lane] = (uint16_t)sum;
		}
}

// Cells holds the choice's cells: energies, motions and sums of messages by cell, then
// hypothesis, two sums in a word; and the made frame's brightness.
struct Cells {
	int16_t *energies;
	Vec *motions;
	uint32_t *sums;
	uint8_t *guide;
};

// average_cells makes the cells of a strip. energies and motions are memory for the strip's.
template <int radius>
__device__ void average_cells(const Cells &cells, int16_t *energies, Vec *motions, const uint32_t *quads, const Vec *all_motions,
                              const Hypothesis *list, int n, const int16_t *all_energies, int width, int height, int left, int top, int32_t phase) {
	typedef Strip<radius> S;
	int thread = threadIdx.y * lanes + threadIdx.x, threads = lanes * blockDim.y;
	int columns = (width + cell_side - 1) / cell_side, lines = (height + cell_side - 1) / cell_side;
	size_t size = (size_t)width * height;
	for (int t = thread; t < S::cells * n; t += threads) {
		int h = t / S::cells, c = t % S::cells;
		int cx = left / cell_side + c % S::cells_across, cy = top / cell_side + c / S::cells_across;
		if (cx >= columns || cy >= lines) continue;
		Hypothesis hypothesis = list[h];
		const int half = 1 << (2 * choice_bits - 1);
		int e = half;
		Vec v = {half, half};
#pragma unroll
		for (int j = 0; j < cell_side; j++)
#pragma unroll
			for (int i = 0; i < cell_side; i++) {
				int x = min(cx * cell_side + i, width - 1), y = min(cy * cell_side + j, height - 1);
				e += all_energies[h * size + (size_t)y * width + x];
				Vec w = motion_of(hypothesis, all_motions, width, height, x, y);
				v.x += w.x;
				v.y += w.y;
			}
		energies[c * n + h] = (int16_t)(e >> 2 * choice_bits);
		v.x >>= 2 * choice_bits;
		v.y >>= 2 * choice_bits;
		motions[c * n + h] = v;
	}
	__syncthreads();
	for (int t = thread; t < S::cells * n; t += threads) {
		int c = t / n, h = t % n;
		int cx = left / cell_side + c % S::cells_across, cy = top / cell_side + c / S::cells_across;
		if (cx >= columns || cy >= lines) continue;
		size_t at = ((size_t)cy * columns + cx) * n + h;
		cells.energies[at] = energies[t];
		cells.motions[at] = motions[t];
		if (h % 2 == 0) cells.sums[at / 2] = 0;
	}
	for (int c = thread; c < S::cells; c += threads) {
		int cx = left / cell_side + c % S::cells_across, cy = top / cell_side + c / S::cells_across;
		if (cx >= columns || cy >= lines) continue;
		int best = 0;
		for (int h = 1; h < n; h++)
			if (bends(list[h].kind) && energies[c * n + h] < energies[c * n + best]) best = h;
		Vec v = motions[c * n + best];
		int32_t ax = (cell_side * cx << position_bits) + (cell_side - 1) * position_one / 2 - toward(v.x, phase);
		int32_t ay = (cell_side * cy << position_bits) + (cell_side - 1) * position_one / 2 - toward(v.y, phase);
		cells.guide[(size_t)cy * columns + cx] =
			(uint8_t)((lookup_quad(quads, width, height, ax, ay) + lookup_quad(quads + size, width, height, ax + v.x, ay + v.y)) >> 17);
	}
}

// weigh sets energy h to the energy of hypothesis h. The cost of a hypothesis is the mean
// disagreement over a square of 2*radius+1 pixels, as far as it lies inside.
template <int radius>
__device__ void weigh(const uint32_t *quads, const Vec *motions, const Vec *bend_field, const Hypothesis *list, int flows, int16_t *energies,
                      int width, int height, int32_t phase, const Gates &gates, unsigned long long *total, const Cells &cells) {
	typedef Strip<radius> S;
	DYNAMIC_SHARED(uint64_t, memory);
	__shared__ uint32_t reciprocals[S::side * S::side + 1];
	uint16_t *sums = (uint16_t *)memory; // by hypothesis, row and lane
	int n = blockDim.y, thread = threadIdx.y * lanes + threadIdx.x, threads = lanes * n;
	int left = blockIdx.x * S::columns, top = blockIdx.y * S::rows;
	size_t size = (size_t)width * height;
	// A mean of one value is the value with this one, too.
	for (int k = thread; k <= S::side * S::side; k += threads) reciprocals[k] = k > 1 ? (uint32_t)reciprocal(k) : UINT32_MAX;
	Hypothesis mine = list[threadIdx.y];
	add_columns<radius>(sums + threadIdx.y * S::rows * lanes, compared_by(mine.kind, quads, size, phase), mine, motions, bend_field, width, height, left, top);
	__syncthreads();

	unsigned long long leasts = 0;
	for (int i = thread; i < S::columns * S::rows; i += threads) {
		int row = i / S::columns, column = i % S::columns, x = left + column, y = top + row;
		if (x >= width || y >= height) continue;
		int high = min(height, y + radius + 1) - max(0, y - radius), wide = min(width, x + radius + 1) - max(0, x - radius);
		uint32_t inverse = reciprocals[high * wide];
		const uint16_t *from = sums + row * lanes + column;
		int32_t least = INT32_MAX;
		for (int h = 0; h < 2 * n; h++) {
			// The projected hypotheses come once more, when the least cost is known.
			int k = h < flows ? h : h - flows;
			if (k >= n) break;
			uint32_t sum = 0;
#pragma unroll
			for (int j = 0; j < S::side; j++) sum += from[k * S::rows * lanes + j];
			int32_t cost = box_mean(sum, inverse);
			if (h < flows)
				least = min(least, cost);
			else
				energies[k * size + (size_t)y * width + x] = energy_of(gates, list[k].kind, cost, least);
		}
		leasts += least;
	}
	for (int step = 16; step; step >>= 1) leasts += __shfl_xor_sync(0xffffffff, leasts, step);
	if (threadIdx.x == 0 && leasts) atomicAdd(total, leasts);
	__syncthreads();
	int16_t *cell_energies = (int16_t *)(memory + S::cells * n);
	average_cells<radius>(cells, cell_energies, (Vec *)memory, quads, motions, list, n, energies, width, height, left, top, phase);
}

// Each kernel sets the energies of the hypotheses with the cost's radius, and the cells'
// energies, motions and guide; it sets the sums to 0. quads are those of A, B, and, if
// there are hypotheses that one neighbour shows, of the pictures before and after. Quads,
// motions and energies lie one after the other. bends may be null. flows is the number of
// projected hypotheses. total grows by the least cost of a projected one at each pixel.
// Blocks are 32 threads for each hypothesis, with shared memory for a uint16_t for each of
// them and of the strip's rows.
#define ENERGIES(radius)                                                                                                       \
	extern "C" __global__ void __launch_bounds__(lanes *max_hypotheses) energies_##radius(                                     \
		const uint32_t *quads, const Vec *motions, const Vec *bends, const Hypothesis *list, int flows, int16_t *energies,      \
		int width, int height, int32_t phase, const int16_t *neighbour_gate, const int16_t *only_gate, int gate_entries,        \
		unsigned long long *total, int16_t *cell_energies, Vec *cell_motions, uint32_t *sums, uint8_t *guide) {                 \
		Gates gates = {neighbour_gate, only_gate, gate_entries};                                                                \
		Cells cells = {cell_energies, cell_motions, sums, guide};                                                               \
		weigh<radius>(quads, motions, bends, list, flows, energies, width, height, phase, gates, total, cells);                 \
	}

ENERGIES(1)
ENERGIES(2)
ENERGIES(4)
