// The choice among the hypotheses, with the same bits as package warp: semi-global aggregation on
// cells of choice_size by choice_size pixels of the guides, and the shares that follow from it.
//
// Energies of pixels are stored one hypothesis after the other. Energies, motions and sums of cells
// are stored by cell, then hypothesis. A word holds the sums of two hypotheses, so their number is
// even.

#include "hypothesis.cuh"

enum { choice_size = 1 << choice_bits };

// A block follows a path of cells, a few cells at a time. Its first warp takes the steps, one after
// the other. The other warps prepare what it needs for the next cells, and add up the messages of
// the previous ones.
enum { warp_lanes = 32, labels = 16, halves = 2, cells_at_once = 12, helpers = 96, groups = helpers / labels };

// far_off exceeds any cost, which is an energy and a message.
enum { far_off = 1 << 14 };

// Path is a sequence of cells.
struct Path {
	int first, stride, length;

	__device__ int at(int i) const { return first + i * stride; }
};

// Stretch is a few cells of a path: for each cell its penalty, the energies of the hypotheses, what
// they pay for following each hypothesis of the previous cell, in two halves and two per word, and
// their messages.
struct Stretch {
	alignas(16) uint32_t jumps[cells_at_once][labels][halves][labels / 4];
	int32_t energies[cells_at_once][labels], messages[cells_at_once][labels];
	int32_t penalties[cells_at_once];
};

// Labelled holds the cells of a picture and their hypotheses.
struct Labelled {
	const int16_t *energies;
	const Vec *motions;
	const uint8_t *guide;
	int count; // of hypotheses
	const uint16_t *penalties;
};

// make_ready sets up the cells of a stretch, starting with cell first of the path. lane numbers the
// helpers. half must be at least half the number of hypotheses, rounded up.
template <int half>
__device__ void make_ready(Stretch &s, const Path &path, int first, const Labelled &of, int lane) {
	int h = lane % labels;
	if (h >= of.count) return;
	for (int k = lane / labels; k < cells_at_once; k += groups) {
		int i = first + k;
		if (i >= path.length) return;
		int at = path.at(i), before = path.at(i - 1);
		int32_t penalty = of.penalties[abs((int)of.guide[at] - (int)of.guide[before])];
		Vec to = of.motions[at * of.count + h];
		const Vec *from = of.motions + before * of.count;
		if (h == 0) s.penalties[k] = penalty;
		s.energies[k][h] = of.energies[at * of.count + h];
		uint32_t factor = penalty << (16 - jump_bits); // puts the result into a high half
#pragma unroll
		for (int j = 0; j < 2 * half; j += 2) {
			int4 two = *(const int4 *)(from + (j < of.count ? j : 0));
			uint32_t low = min(__sad(to.x, two.x, __sad(to.y, two.y, 0u)), 1u << jump_bits);
			uint32_t high = min(__sad(to.x, two.z, __sad(to.y, two.w, 0u)), 1u << jump_bits);
			s.jumps[k][h][j / half][j % half / 2] = __byte_perm(factor * low, factor * high, 0x7632);
		}
	}
}

// add_up adds the messages of a stretch to sums.
__device__ void add_up(const Stretch &s, const Path &path, int first, int count, uint32_t *sums, int lane) {
	int pairs = count / 2;
	for (int t = lane; t < cells_at_once * pairs; t += helpers) {
		int k = t / pairs, pair = t % pairs;
		if (first + k >= path.length) return;
		// Four messages fit in 16 bits.
		atomicAdd(&sums[path.at(first + k) * pairs + pair], (uint32_t)(s.messages[k][2 * pair] | s.messages[k][2 * pair + 1] << 16));
	}
}

// Costs holds the costs of the hypotheses at a cell, in two halves.
struct alignas(16) Costs {
	int32_t of[halves][labels / 2];
};

// least_of returns the minimum of n values, which it overwrites, in few steps.
template <int n>
__device__ int32_t least_of(int32_t *v) {
#pragma unroll
	for (int apart = 1; apart < n; apart *= 2)
#pragma unroll
		for (int i = 0; i + apart < n; i += 2 * apart) v[i] = min(v[i], v[i + apart]);
	return v[0];
}

// step_through computes the messages of n cells. The two elements of costs alternate: the first
// holds the costs of the previous cell, and does so again after an even number of cells. Two lanes
// share a hypothesis; each looks at one half of the previous ones.
template <int half>
__device__ void step_through(Stretch &s, int n, int count, Costs *costs) {
	int h = threadIdx.x % labels, side = threadIdx.x / labels;
	bool real = h < count, keeps = side == 0 && h < 2 * half;
#pragma unroll 4
	for (int k = 0; k < n; k++) {
		int32_t penalty = s.penalties[k], own = s.energies[k][h];
		const uint32_t *jumps = s.jumps[k][h][side];
		const int32_t *before = costs[k % 2].of[side];
		int32_t costs_before[half], messages[half];
#pragma unroll
		for (int j = 0; j < half; j++) {
			costs_before[j] = before[j];
			messages[j] = before[j] + (int32_t)(jumps[j / 2] >> 16 * (j % 2) & 0xffff);
		}
		int32_t least = least_of<half>(costs_before), message = least_of<half>(messages);
		least = min(least, __shfl_xor_sync(0xffffffff, least, labels));
		message = min(message, __shfl_xor_sync(0xffffffff, message, labels));
		message = min(message - least, penalty);
		if (keeps) costs[(k + 1) % 2].of[h / half][h % half] = real ? own + message : far_off;
		if (side == 0) s.messages[k][h] = message;
		__syncwarp();
	}
}

// follow adds the messages along a path to sums.
template <int half>
__device__ void follow(const Path &path, const Labelled &of, uint32_t *sums, Stretch *stretches, Costs *costs) {
	int lane = (int)threadIdx.x - warp_lanes; // among the helpers
	if (threadIdx.x < 2 * half)
		costs[0].of[threadIdx.x / half][threadIdx.x % half] = (int)threadIdx.x < of.count ? of.energies[path.first * of.count + threadIdx.x] : far_off;
	if (lane >= 0) make_ready<half>(stretches[0], path, 1, of, lane);
	__syncthreads();
	int turn = 0;
	for (int first = 1; first < path.length; first += cells_at_once) {
		Stretch &now = stretches[turn], &other = stretches[1 - turn];
		if (lane < 0) {
			step_through<half>(now, min((int)cells_at_once, path.length - first), of.count, costs);
		} else {
			if (first > cells_at_once) add_up(other, path, first - cells_at_once, of.count, sums, lane);
			make_ready<half>(other, path, first + cells_at_once, of, lane);
		}
		__syncthreads();
		turn = 1 - turn;
	}
	int last = (path.length - 2) / cells_at_once * cells_at_once + 1;
	if (lane >= 0 && path.length > 1) add_up(stretches[1 - turn], path, last, of.count, sums, lane);
}

// pass_messages adds the messages along the paths of cells in one direction to sums: rightward,
// leftward, downward, upward for blockIdx.y from 0 to 3. Blocks are 128 by 1 threads, for one path.
extern "C" __global__ void pass_messages(const int16_t *energies, const Vec *motions, const uint8_t *guide, int hypotheses, int width, int height,
                                         const uint16_t *penalty_table, uint32_t *sums) {
	__shared__ Stretch stretches[2];
	__shared__ Costs costs[2];
	__shared__ uint16_t penalties[256];
	bool across = blockIdx.y < 2, backward = blockIdx.y & 1;
	int number = blockIdx.x;
	if (number >= (across ? height : width)) return;
	for (int i = threadIdx.x; i < 256; i += blockDim.x) penalties[i] = penalty_table[i];
	__syncthreads();
	Path path = {across ? number * width : number, across ? 1 : width, across ? width : height};
	if (backward) {
		path.first += (path.length - 1) * path.stride;
		path.stride = -path.stride;
	}
	Labelled of = {energies, motions, guide, hypotheses, penalties};
	if (hypotheses <= 12)
		follow<6>(path, of, sums, stretches, costs);
	else
		follow<8>(path, of, sums, stretches, costs);
}

// Shares are made and smoothed on tiles, together with the pixels around them.
enum { reach = 2, side = 2 * reach + 1, tile_width = 32, tile_height = 22, halo_width = tile_width + 2 * reach, halo_height = tile_height + 2 * reach };

// binomials applies the kernel (1 4 6 4 1)/16 to both halves of words, each at most weight_one.
__device__ uint32_t binomials(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) {
	uint32_t outer = (a + e) >> 1 & 0xffff7fff; // half, so that the sums fit
	return (outer + 2 * (b + d + 0x20002) + 3 * c) >> 3 & 0x1fff1fff;
}

// Shared is what the shares of pixels are made from.
struct Shared {
	const int16_t *energies;
	const uint32_t *sums;
	int width, height;
	const uint16_t *likelihood; // followed by a zero for all larger excesses
	int entries;
};

// load_cell sets words to the sums of a cell.
template <int pairs>
__device__ void load_cell(uint32_t *words, const uint32_t *sums) {
	if (pairs % 2 == 0) {
#pragma unroll
		for (int k = 0; k < pairs; k += 2) {
			uint2 two = *(const uint2 *)(sums + k);
			words[k] = two.x;
			words[k + 1] = two.y;
		}
	} else {
#pragma unroll
		for (int k = 0; k < pairs; k++) words[k] = sums[k];
	}
}

// share sets shares, in pairs, to the shares of 2*pairs hypotheses at pixels (x, y) and (x+1, y),
// or the nearest ones in the picture; the next hypothesis has its shares 2*step further on. x must be
// even. Shares fall with the excess of a hypothesis's energy, plus the interpolated sums of the
// messages, over the minimum.
template <int pairs>
__device__ void share(uint16_t *shares, int step, const Shared &s, int x, int y) {
	int columns = (s.width + choice_size - 1) / choice_size, lines = (s.height + choice_size - 1) / choice_size;
	size_t size = (size_t)s.width * s.height;
	y = clamp_to(y, 0, s.height - 1);
	int ax = clamp_to(x, 0, s.width - 1), bx = clamp_to(x + 1, 0, s.width - 1);
	// Both pixels are between the same cells.
	int fx, fy, cx = cell_before(ax, choice_size, &fx), cy = cell_before(y, choice_size, &fy);
	int upper = max(cy, 0) * columns, lower = min(cy + 1, lines - 1) * columns, left = max(cx, 0), right = min(cx + 1, columns - 1);
	uint32_t corners[4][pairs];
	load_cell<pairs>(corners[0], s.sums + (size_t)(upper + left) * pairs);
	load_cell<pairs>(corners[1], s.sums + (size_t)(upper + right) * pairs);
	load_cell<pairs>(corners[2], s.sums + (size_t)(lower + left) * pairs);
	load_cell<pairs>(corners[3], s.sums + (size_t)(lower + right) * pairs);
	uint32_t own[2 * pairs]; // the energies of both pixels
	const int16_t *energies = s.energies + (size_t)y * s.width;
	if (s.width % 2 == 0) {
		// One word holds both energies, unless the edge repeats.
		uint32_t order = bx > ax ? 0x3210 : ax % 2 ? 0x3232 : 0x1010;
		const int16_t *from = energies + ax / 2 * 2;
#pragma unroll
		for (int h = 0; h < 2 * pairs; h++) own[h] = __byte_perm(*(const uint32_t *)(from + h * size), 0, order);
	} else {
#pragma unroll
		for (int h = 0; h < 2 * pairs; h++) own[h] = (uint16_t)energies[h * size + ax] | (uint32_t)energies[h * size + bx] << 16;
	}
	uint32_t sums[2 * pairs]; // of the left and the right cell
#pragma unroll
	for (int k = 0; k < pairs; k++) {
		// Neither half of a word overflows.
		uint32_t l = (2 * choice_size - fy) * corners[0][k] + fy * corners[2][k];
		uint32_t r = (2 * choice_size - fy) * corners[1][k] + fy * corners[3][k];
		sums[2 * k] = __byte_perm(l, r, 0x5410);
		sums[2 * k + 1] = __byte_perm(l, r, 0x7632);
	}
#pragma unroll
	for (int i = 0; i < 2; i++, fx += 2 * (bx - ax)) {
		uint32_t parts = (2 * choice_size - fx) | fx << 8; // of the left and the right cell
		int32_t total[2 * pairs], least = INT32_MAX;
#pragma unroll
		for (int h = 0; h < 2 * pairs; h++) {
			int32_t e = i == 0 ? (int16_t)own[h] : (int32_t)own[h] >> 16;
			total[h] = e + (__dp2a_lo(sums[h], parts, 1u << (2 * choice_bits + 1)) >> (2 * choice_bits + 2));
			least = min(least, total[h]);
		}
#pragma unroll
		for (int h = 0; h < 2 * pairs; h++) shares[2 * h * step + i] = s.likelihood[min(total[h] - least, s.entries)];
	}
}

// share_tile sets those shares of a tile whose pixels begin at (left, top) that the thread makes.
template <int pairs>
__device__ void share_tile(uint32_t *shares, const Shared &s, int left, int top, int thread, int threads) {
	const int across = halo_width / 2;
	for (int i = thread; i < across * halo_height; i += threads)
		share<pairs>((uint16_t *)(shares + i), across * halo_height, s, left + 2 * (i % across), top + i / across);
}

// share_weights sets weight h to the share of hypothesis h, smoothed by the binomial kernel along
// x, then along y, with repeated edges, and rounded after each. Where fixed is not 0, what is still
// takes from the weights, everything at 255. fixed may be null. likelihood is the share for each
// excess of energy. Blocks are 32 threads for each hypothesis for tiles of 32 by 22 pixels. Shared
// memory holds one uint16_t for each entry and one more, and one for each hypothesis and pixel of a
// tile that is 4 pixels larger.
extern "C" __global__ void __launch_bounds__(most_threads, 2) share_weights(
	const int16_t *energies, const uint32_t *sums, uint16_t *weights, const uint8_t *fixed, int width, int height, const uint16_t *likelihood, int entries) {
	DYNAMIC_SHARED(uint32_t, shares); // of two pixels, by hypothesis, then pixels
	alignas(4) __shared__ uint16_t remaining[tile_height][tile_width]; // of 256
	const int words = halo_width / 2, size = words * halo_height;
	int hypotheses = blockDim.y, thread = threadIdx.y * tile_width + threadIdx.x, threads = tile_width * hypotheses;
	int left = blockIdx.x * tile_width, top = blockIdx.y * tile_height;
	uint16_t *table = (uint16_t *)(shares + hypotheses * size);
	for (int i = thread; i <= entries; i += threads) table[i] = i < entries ? likelihood[i] : 0;
	if (fixed)
		for (int row = threadIdx.y; row < tile_height; row += hypotheses) {
			int x = min(left + (int)threadIdx.x, width - 1), y = min(top + row, height - 1);
			remaining[row][threadIdx.x] = 256 - covered_share(fixed[(size_t)y * width + x]);
		}
	__syncthreads();
	Shared from = {energies, sums, width, height, table, entries};
	switch (hypotheses / 2) { // two or four flows, eight neighbours, and two that one picture shows or none
	case 5: share_tile<5>(shares, from, left - reach, top - reach, thread, threads); break;
	case 6: share_tile<6>(shares, from, left - reach, top - reach, thread, threads); break;
	case 7: share_tile<7>(shares, from, left - reach, top - reach, thread, threads); break;
	default: __trap();
	}
	__syncthreads();

	// Half of a warp smooths half of the rows, and each thread two columns.
	const int across = tile_width / 2, rows = tile_height / 2;
	int column = threadIdx.x % across, x = left + 2 * column, first = threadIdx.x / across * rows;
	if (x >= width) return;
	const uint32_t *mine = shares + threadIdx.y * size + first * words + column;
	weights += (size_t)threadIdx.y * width * height + (size_t)(top + first) * width + x;
	int lines = height - top - first;
	uint32_t smooth[side];
#pragma unroll
	for (int i = 0; i < rows + 2 * reach; i++, mine += words) {
		// The bytes of the factors weight the halves of a word.
		uint32_t even = __dp2a_lo(mine[0], 0x0401u, __dp2a_lo(mine[1], 0x0406u, __dp2a_lo(mine[2], 0x0001u, 8u))) >> 4;
		uint32_t odd = __dp2a_lo(mine[0], 0x0100u, __dp2a_lo(mine[1], 0x0604u, __dp2a_lo(mine[2], 0x0104u, 8u))) >> 4;
		smooth[i % side] = even | odd << 16;
		int row = i - 2 * reach;
		if (row < 0) continue;
		if (row >= lines) return;
		uint32_t w = binomials(smooth[row % side], smooth[(row + 1) % side], smooth[(row + 2) % side], smooth[(row + 3) % side], smooth[i % side]);
		if (fixed) {
			uint32_t part = ((const uint32_t *)remaining[first + row])[column];
			w = ((w & 0xffff) * (part & 0xffff) >> 8) | ((w >> 16) * (part >> 16) >> 8 << 16);
		}
		if (width % 2 == 0) {
			*(uint32_t *)weights = w;
		} else {
			weights[0] = (uint16_t)w;
			if (x + 1 < width) weights[1] = (uint16_t)(w >> 16);
		}
		weights += width;
	}
}
