// The costs of the hypotheses, the energies that follow from them, and the means of both over the
// cells of the choice.

#include "hypothesis.cuh"

enum { lanes = 32, cell_side = 1 << choice_bits };

// Strip is the part of the guides that a block works on. A lane adds up differences along a column;
// the lanes at the edges only help their neighbours.
template <int radius>
struct Strip {
	enum {
		side = 2 * radius + 1,
		columns = (lanes - 2 * radius) & ~(cell_side - 1),
		turns = radius == 1 ? 10 : radius == 2 ? 8 : 4, // chosen to make rows a multiple of a cell's side
		rows = turns * side - 2 * radius,
		cells_across = columns / cell_side,
		cells = cells_across * (rows / cell_side)
	};
};

// kept returns v, and makes the compiler keep it in a register instead of computing it again for
// each row.
__device__ inline int32_t kept(int32_t v) {
#ifdef __CUDA_ARCH__
	v = __shfl_sync(0xffffffff, v, threadIdx.x);
#endif
	return v;
}

// Column is what a hypothesis shows in a column of the guides, row by row. A row's quads are loaded
// while the previous row is compared, and its motion one row earlier still.
template <int radius>
struct Column {
	typedef Strip<radius> S;
	enum { side = S::side };

	Comparison c;
	int width, height, y, dy; // row y is the next to look at
	int32_t x, fixed;         // for look
	bool bent;
	const Vec *from, *bends; // the motion of row y + 1; the strip's bends, from the turn's first row to look at
	Vec motion, next_motion;
	Showing showing;
	uint32_t ring[side], sum;

	__device__ Column(const Comparison &compared, const Hypothesis &h, const Vec *motions, const Vec *bends, bool has_bends, int width, int height, int column, int y)
		: c(compared), width(width), height(height), y(y), dy(h.dy), fixed(kept(column >= 0 && column < width ? -1 : 0)), bent(has_bends && c.both), bends(bends), sum(0) {
		column = clamp_to(column, 0, width - 1);
		x = kept(column << position_bits);
		from = motions + (size_t)h.plane * width * height + (size_t)clamp_to(y + dy, 0, height - 1) * width + clamp_to(column + h.dx, 0, width - 1);
		motion = *from;
		ask(y, false);
#pragma unroll
		for (int i = 0; i < side; i++) ring[i] = 0;
		next(0, false);
		this->bends += lanes;
	}

	// ask reads the motion of the row after row.
	__device__ void ask(int row, bool inner) {
		// Rows repeat before the first and after the last.
		if (inner || (uint32_t)(row + dy) < (uint32_t)(height - 1)) from += width;
		next_motion = *from;
	}

	// next looks at row y, which is row i of a turn. inner is set if it and the two rows after it
	// are inside the guides.
	__device__ void next(int i, bool inner) {
		Vec v = motion, bend = {0, 0};
		if (bent) bend = bends[i * lanes];
		motion = next_motion;
		ask(y + 1, inner);
		showing = look(c, width, height, x - bend.x, y * position_one - bend.y, v, inner || (uint32_t)y < (uint32_t)height ? fixed : 0);
		y++;
	}

	// turn sets sums to the sums of the next rows, starting with row. inner is set if everything
	// that the turn loads is inside the guides.
	__device__ void turn(uint16_t *sums, int row, bool inner) {
#pragma unroll
		for (int i = 0; i < side; i++) {
			Showing s = showing;
			next(i, inner);
			uint32_t d = disagreement(s);
			sum += d - ring[i];
			ring[i] = d;
			if (inner || i == side - 1 || row >= 0) sums[(row + i) * lanes] = (uint16_t)sum;
		}
		bends += side * lanes;
	}
};

// add_columns sets sums, by row and lane, to the sums of the disagreements along a
// hypothesis over 2*radius+1 pixels of a column. Pixels outside the guides add nothing.
template <int radius>
__device__ void add_columns(uint16_t *sums, const Comparison &c, const Hypothesis &hypothesis, const Vec *motions, const Vec *bends, bool has_bends,
                            int width, int height, int left, int top) {
	typedef Strip<radius> S;
	Column<radius> column(c, hypothesis, motions, bends, has_bends, width, height, left - radius + (int)threadIdx.x, top - radius);
	sums += kept(threadIdx.y * S::rows * lanes + threadIdx.x);
	int row = -2 * radius, limit = height - S::side - 1 - max(hypothesis.dy, 0);
	while (row < S::rows)
		if (row < 0 || column.y + min(hypothesis.dy, 0) < 0 || column.y >= limit) {
			column.turn(sums, row, false);
			row += S::side;
		} else
			do {
				column.turn(sums, row, true);
				row += S::side;
			} while (row < S::rows && column.y < limit);
}

// Cells holds the choice's cells: energies, motions and sums of messages by cell, then hypothesis,
// with two sums in a word; and the made frame's brightness.
struct Cells {
	int16_t *energies;
	Vec *motions;
	uint32_t *sums;
	uint8_t *guide;
};

// Memory divides a strip's shared memory, in the order of alignments: motions of cells, by cell,
// then hypothesis; sums along columns, by hypothesis, row and lane; the lowest costs of pixels; and
// energies of cells.
template <int radius>
struct Memory {
	typedef Strip<radius> S;
	Vec *motions;
	uint16_t *sums, *leasts;
	int16_t *energies;

	__device__ Memory(void *memory, int n) {
		motions = (Vec *)memory;
		sums = (uint16_t *)(motions + S::cells * n);
		leasts = sums + n * S::rows * lanes;
		energies = (int16_t *)(leasts + S::rows * S::columns);
	}
	// pair sets the sums over the squares around two adjacent pixels of a row, the first in an even
	// column.
	__device__ void pair(int h, int row, int column, uint32_t *first, uint32_t *second) const {
		const uint32_t *words = (const uint32_t *)(sums + (h * S::rows + row) * lanes + column);
		const uint32_t low = 0x01, high = 0x0100, either = 0x0101; // halves of a word
		uint32_t common = 0;
#pragma unroll
		for (int i = 1; i < radius; i++) common = __dp2a_lo(words[i], either, common);
		*first = __dp2a_lo(words[0], either, __dp2a_lo(words[radius], low, common));
		*second = __dp2a_lo(words[0], high, __dp2a_lo(words[radius], either, common));
	}
};

// Inverses holds the inverses of the numbers of pixels in squares.
template <int radius>
struct Inverses {
	uint32_t of[(2 * radius + 1) * (2 * radius + 1) + 1];

	// mean returns the mean of a sum over the square around pixel (x, y) of the guides.
	__device__ int32_t mean(uint32_t sum, int x, int y, int width, int height) const {
		int high = min(height, y + radius + 1) - max(0, y - radius), wide = min(width, x + radius + 1) - max(0, x - radius);
		uint32_t inverse = of[high * wide];
		return (int32_t)(__umulhi(sum, inverse) + (sum * inverse >> 31));
	}
};

// sum_motions returns the sum of a hypothesis's motions over the cell that begins at (x, y),
// with repeated edges.
__device__ Vec sum_motions(const Hypothesis &hypothesis, const Vec *all, int width, int height, int x, int y) {
	Vec v = {0, 0};
	int px = x + hypothesis.dx, py = y + hypothesis.dy;
	if (px >= 0 && py >= 0 && max(px, x) + cell_side <= width && max(py, y) + cell_side <= height) {
		const Vec *p = all + (size_t)hypothesis.plane * width * height + (uint32_t)(py * width + px);
#pragma unroll
		for (int j = 0; j < cell_side; j++, p += width)
#pragma unroll
			for (int i = 0; i < cell_side; i++) {
				v.x += p[i].x;
				v.y += p[i].y;
			}
		return v;
	}
	for (int j = 0; j < cell_side; j++)
		for (int i = 0; i < cell_side; i++) {
			Vec w = motion_of(hypothesis, all, width, height, min(x + i, width - 1), min(y + j, height - 1));
			v.x += w.x;
			v.y += w.y;
		}
	return v;
}

// weigh sets energy h to the energy of hypothesis h. The cost of a hypothesis is the mean
// disagreement over a square of 2*radius+1 pixels, or its part inside the guides. weigh also makes
// the cells.
template <int radius>
__device__ void weigh(const uint32_t *quads, const Vec *motions, const Vec *bend_field, const Hypothesis *list, int flows, int16_t *energies,
                      int width, int height, int32_t phase, const Gates &gates, unsigned long long *total, const Cells &cells) {
	typedef Strip<radius> S;
	DYNAMIC_SHARED(uint64_t, shared);
	__shared__ Inverses<radius> inverses;
	__shared__ Vec strip_bends[(S::turns * S::side + 1) * lanes]; // the last turn looks at one row more
	int n = blockDim.y, thread = threadIdx.y * lanes + threadIdx.x, threads = lanes * n;
	Memory<radius> memory(shared, n);
	int left = blockIdx.x * S::columns, top = blockIdx.y * S::rows;
	size_t size = (size_t)width * height;
	Hypothesis mine = list[threadIdx.y];
	if (bend_field)
		for (int y = threadIdx.y; y <= S::turns * S::side; y += n)
			strip_bends[y * lanes + threadIdx.x] = bend_field[(size_t)clamp_to(top - radius + y, 0, height - 1) * width + clamp_to(left - radius + (int)threadIdx.x, 0, width - 1)];
	__syncthreads();
	// With this inverse, the mean of a single value is that value as well.
	for (int k = thread; k <= S::side * S::side; k += threads) inverses.of[k] = k > 1 ? (uint32_t)reciprocal(k) : UINT32_MAX;
	add_columns<radius>(memory.sums, compared_by(mine.kind, quads, size, phase), mine, motions, strip_bends + threadIdx.x, bend_field != 0, width, height, left, top);
	__syncthreads();

	unsigned long long leasts = 0;
	for (int i = thread; i < S::columns / 2 * S::rows; i += threads) {
		int row = i / (S::columns / 2), column = 2 * (i % (S::columns / 2)), x = left + column, y = top + row;
		if (x >= width || y >= height) continue;
		int32_t first = INT32_MAX, second = INT32_MAX;
		for (int h = 0; h < flows; h++) {
			uint32_t sum, next;
			memory.pair(h, row, column, &sum, &next);
			first = min(first, inverses.mean(sum, x, y, width, height));
			second = min(second, inverses.mean(next, min(x + 1, width - 1), y, width, height));
		}
		memory.leasts[row * S::columns + column] = first;
		memory.leasts[row * S::columns + column + 1] = second;
		leasts += first + (x + 1 < width ? second : 0);
	}
	for (int step = 16; step; step >>= 1) leasts += __shfl_xor_sync(0xffffffff, leasts, step);
	if (threadIdx.x == 0 && leasts) atomicAdd(total, leasts);
	__syncthreads();

	int columns = (width + cell_side - 1) / cell_side, lines = (height + cell_side - 1) / cell_side;
	for (int t = thread; t < S::cells * n; t += threads) {
		int h = t / S::cells, c = t % S::cells, column = c % S::cells_across * cell_side, row = c / S::cells_across * cell_side;
		int x = left + column, y = top + row;
		if (x >= width || y >= height) continue;
		Hypothesis hypothesis = list[h];
		const int half = 1 << (2 * choice_bits - 1);
		Vec v = sum_motions(hypothesis, motions, width, height, x, y);
		Vec mean = {(v.x + half) >> 2 * choice_bits, (v.y + half) >> 2 * choice_bits};
		memory.motions[c * n + h] = mean;
		Gate gate = gate_of(gates, hypothesis.kind);
		int sum = half;
		for (int j = 0; j < cell_side; j++) {
			// The last line and column of pixels repeat.
			int line = min(row + j, height - 1 - top);
			ushort4 leasts = *(const ushort4 *)(memory.leasts + line * S::columns + column);
			const int32_t least[cell_side] = {leasts.x, leasts.y, leasts.z, leasts.w};
			int16_t e[cell_side];
#pragma unroll
			for (int i = 0; i < cell_side; i += 2) {
				uint32_t sums[2];
				memory.pair(h, line, column + i, &sums[0], &sums[1]);
#pragma unroll
				for (int k = i; k < i + 2; k++)
					e[k] = energy_of(gate, inverses.mean(sums[k - i], min(x + k, width - 1), top + line, width, height), least[k]);
			}
#pragma unroll
			for (int k = 0; k < cell_side; k++) {
				if (k > 0 && x + k >= width) e[k] = e[k - 1];
				sum += e[k];
			}
			int16_t *to = energies + h * size + (size_t)(top + line) * width + x;
			if (width % cell_side == 0)
				*(short4 *)to = make_short4(e[0], e[1], e[2], e[3]);
			else
				for (int i = 0; i < min((int)cell_side, width - x); i++) to[i] = e[i];
		}
		memory.energies[c * n + h] = (int16_t)(sum >> 2 * choice_bits);
	}
	__syncthreads();
	for (int t = thread; t < S::cells * n; t += threads) {
		int c = t / n, h = t % n;
		int cx = left / cell_side + c % S::cells_across, cy = top / cell_side + c / S::cells_across;
		if (cx >= columns || cy >= lines) continue;
		size_t at = ((size_t)cy * columns + cx) * n + h;
		cells.energies[at] = memory.energies[t];
		cells.motions[at] = memory.motions[t];
		if (h % 2 == 0) cells.sums[at / 2] = 0;
	}
	for (int c = thread; c < S::cells; c += threads) {
		int cx = left / cell_side + c % S::cells_across, cy = top / cell_side + c / S::cells_across;
		if (cx >= columns || cy >= lines) continue;
		int best = 0;
		for (int h = 1; h < n; h++)
			if (bends(list[h].kind) && memory.energies[c * n + h] < memory.energies[c * n + best]) best = h;
		Vec v = memory.motions[c * n + best];
		int32_t ax = (cell_side * cx << position_bits) + (cell_side - 1) * position_one / 2 - toward(v.x, phase);
		int32_t ay = (cell_side * cy << position_bits) + (cell_side - 1) * position_one / 2 - toward(v.y, phase);
		cells.guide[(size_t)cy * columns + cx] =
			(uint8_t)((lookup_quad(quads, width, height, ax, ay) + lookup_quad(quads + size, width, height, ax + v.x, ay + v.y)) >> 17);
	}
}

// Each kernel sets the energies of the hypotheses with the cost's radius, and the cells' energies,
// motions and guide; it sets the sums to 0. quads holds the quads of A, B, and, if there are
// hypotheses that only one neighbour shows, of the pictures before and after. Quads, motions and
// energies are stored one after the other. bends may be null. flows is the number of projected
// hypotheses. total grows by the lowest cost of a projected one at each pixel. Blocks are 32
// threads for each hypothesis, with the shared memory that Memory divides.
//
// The largest radius is for the largest guides, which keep a device busy. Smaller guides would lose
// more if threads had fewer than 64 registers.
#define ENERGIES(radius)                                                                                                       \
	extern "C" __global__ void __launch_bounds__(radius == 4 ? most_threads : lanes * max_hypotheses, 2) energies_##radius(                 \
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
