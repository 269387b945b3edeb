// The choice among the hypotheses, with package warp's bits: semi-global aggregation on
// cells of choice_size by choice_size pixels of the guides, and the shares that follow
// from it.
//
// Energies of pixels lie one hypothesis after the other. Energies, motions and sums of
// cells lie by cell, then hypothesis. A word holds the sums of two hypotheses, of which
// there is an even number.

#include "hypothesis.cuh"

enum { choice_size = 1 << choice_bits };

// A block follows a path of cells, some cells at a time. Its first warp takes the steps,
// one after the other. The other warps make ready what the warp needs of the next cells,
// and add up the messages of the cells before.
enum { warp_lanes = 32, labels = 16, halves = 2, cells_at_once = 12, helpers = 96, groups = helpers / labels };

// far_off is more than any cost: an energy and a message.
enum { far_off = 1 << 14 };

// A Path is a sequence of cells.
struct Path {
	int64_t first;
	int stride, length;

	__device__ int64_t at(int i) const { return first + (int64_t)i * stride; }
};

// A Stretch is some cells of a path: for each cell, its penalty, the energies of the
// hypotheses, what they pay for following each hypothesis of the cell before, in two
// halves and two in a word, and their messages.
struct Stretch {
	alignas(16) uint32_t jumps[cells_at_once][labels][halves][labels / 4];
	int32_t energies[cells_at_once][labels], messages[cells_at_once][labels];
	int32_t penalties[cells_at_once];
};

// Labelled holds the cells of a picture with their hypotheses.
struct Labelled {
	const int16_t *energies;
	const Vec *motions;
	const uint8_t *guide;
	int count; // of hypotheses
	const uint16_t *penalties;
};

// make_ready sets up the cells of a stretch from number first of the path on. lane counts the
// helpers. Half of the hypotheses, rounded up, is at most half.
template <int half>
__device__ void make_ready(Stretch &s, const Path &path, int first, const Labelled &of, int lane) {
	int h = lane % labels;
	if (h >= of.count) return;
	for (int k = lane / labels; k < cells_at_once; k += groups) {
		int i = first + k;
		if (i >= path.length) return;
		int64_t at = path.at(i), before = path.at(i - 1);
		int32_t penalty = of.penalties[abs((int)of.guide[at] - (int)of.guide[before])];
		Vec to = of.motions[at * of.count + h];
		const Vec *from = of.motions + before * of.count;
		if (h == 0) s.penalties[k] = penalty;
		s.energies[k][h] = of.energies[at * of.count + h];
#pragma unroll
		for (int j = 0; j < 2 * half; j += 2) {
			uint32_t word = 0;
#pragma unroll
			for (int i = 0; i < 2; i++) {
				Vec v = from[j + i < of.count ? j + i : 0];
				int32_t jump = min(abs(to.x - v.x) + abs(to.y - v.y), 1 << jump_bits);
				word |= penalty * jump >> jump_bits << 16 * i;
			}
			s.jumps[k][h][j / half][j % half / 2] = word;
		}
	}
}

// add_up adds the messages of a stretch to sums.
__device__ void add_up(const Stretch &s, const Path &path, int first, int count, uint32_t *sums, int lane) {
	int pairs = count / 2;
	for (int t = lane; t < cells_at_once * pairs; t += helpers) {
		int k = t / pairs, pair = t % pairs;
		if (first + k >= path.length) return;
		// Four messages fit 16 bits.
		atomicAdd(&sums[path.at(first + k) * pairs + pair], (uint32_t)(s.messages[k][2 * pair] | s.messages[k][2 * pair + 1] << 16));
	}
}

// Costs are those of the hypotheses at a cell, in two halves.
struct alignas(16) Costs {
	int32_t of[halves][labels / 2];
};

// step_through makes the messages of n cells. The two costs take turns; the first are those
// of the cell before, and are again after an even number of cells. Two lanes share a
// hypothesis: each looks at one half of those before.
template <int half>
__device__ void step_through(Stretch &s, int n, int count, Costs *costs) {
	int h = threadIdx.x % labels, side = threadIdx.x / labels;
	bool real = h < count, keeps = side == 0 && h < 2 * half;
#pragma unroll 4
	for (int k = 0; k < n; k++) {
		int32_t penalty = s.penalties[k], own = s.energies[k][h];
		const uint32_t *jumps = s.jumps[k][h][side];
		const int32_t *before = costs[k % 2].of[side];
		int32_t least = far_off, message = far_off;
#pragma unroll
		for (int j = 0; j < half; j++) {
			least = min(least, before[j]);
			message = min(message, before[j] + (int32_t)(jumps[j / 2] >> 16 * (j % 2) & 0xffff));
		}
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
	int lane = (int)threadIdx.x - warp_lanes; // of the helpers
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

// pass_messages adds the messages along the paths of cells in one direction to sums:
// rightward, leftward, downward, upward for blockIdx.y from 0 to 3. Blocks are 128 by 1
// threads, for a path.
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
	Path path = {across ? (int64_t)number * width : number, across ? 1 : width, across ? width : height};
	if (backward) {
		path.first += (int64_t)(path.length - 1) * path.stride;
		path.stride = -path.stride;
	}
	Labelled of = {energies, motions, guide, hypotheses, penalties};
	if (hypotheses <= 12)
		follow<6>(path, of, sums, stretches, costs);
	else
		follow<8>(path, of, sums, stretches, costs);
}

// Shares are made and smoothed on tiles, with the pixels around them.
enum { reach = 2, side = 2 * reach + 1, tile_width = 32, tile_height = 22, halo_width = tile_width + 2 * reach, halo_height = tile_height + 2 * reach };

// binomial applies the kernel (1 4 6 4 1)/16.
__device__ uint32_t binomial(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) { return (a + e + 4 * (b + d) + 6 * c + 8) >> 4; }

// A Shared is what the shares of pixels are made from.
struct Shared {
	const int16_t *energies;
	const uint32_t *sums;
	int width, height;
	const uint16_t *likelihood;
	int entries;
};

// share sets shares, which are step apart, to those of 2*pairs hypotheses at pixel (x, y).
// They fall with the excess of a hypothesis's energy, and of the interpolated sums of the
// messages, over the least one.
template <int pairs>
__device__ void share(uint16_t *shares, int step, const Shared &s, int x, int y) {
	int columns = (s.width + choice_size - 1) / choice_size, lines = (s.height + choice_size - 1) / choice_size;
	size_t size = (size_t)s.width * s.height;
	int fx, fy, cx = cell_before(x, choice_size, &fx), cy = cell_before(y, choice_size, &fy);
	const uint32_t *upper = s.sums + (size_t)max(cy, 0) * columns * pairs, *lower = s.sums + (size_t)min(cy + 1, lines - 1) * columns * pairs;
	int left = max(cx, 0) * pairs, right = min(cx + 1, columns - 1) * pairs;
	const int16_t *energies = s.energies + (size_t)y * s.width + x;
	uint32_t parts = (2 * choice_size - fx) | fx << 8; // of the left and of the right cell
	int32_t total[2 * pairs], least = INT32_MAX;
#pragma unroll
	for (int k = 0; k < 2 * pairs; k++) total[k] = energies[k * size];
#pragma unroll
	for (int k = 0; k < pairs; k++) {
		// Neither half of a word runs over.
		uint32_t l = (2 * choice_size - fy) * upper[left + k] + fy * lower[left + k];
		uint32_t r = (2 * choice_size - fy) * upper[right + k] + fy * lower[right + k];
#pragma unroll
		for (int i = 0; i < 2; i++) {
			uint32_t sum = __dp2a_lo(i ? __byte_perm(l, r, 0x7632) : __byte_perm(l, r, 0x5410), parts, 1u << (2 * choice_bits + 1));
			total[2 * k + i] += sum >> (2 * choice_bits + 2);
			least = min(least, total[2 * k + i]);
		}
	}
#pragma unroll
	for (int h = 0; h < 2 * pairs; h++) {
		int excess = total[h] - least;
		shares[h * step] = excess < s.entries ? s.likelihood[excess] : 0;
	}
}

// share_tile sets the shares of a tile whose pixels begin at (left, top), as far as the
// thread makes them.
template <int pairs>
__device__ void share_tile(uint16_t *shares, const Shared &s, int left, int top, int thread, int threads) {
	for (int i = thread; i < halo_width * halo_height; i += threads)
		share<pairs>(shares + i, halo_width * halo_height, s, clamp_to(left + i % halo_width, 0, s.width - 1),
		             clamp_to(top + i / halo_width, 0, s.height - 1));
}

// share_weights sets weight h to the share of hypothesis h, smoothed by the binomial kernel
// along x, then along y, with repeated edges, and rounded after each. Where fixed is not 0,
// what lies still takes from the weights: all at 255. fixed may be null. likelihood is the
// share for each excess of energy. Blocks are 32 threads for each hypothesis for tiles of
// 32 by 22 pixels, with shared memory for a uint16_t for each entry and for each hypothesis
// and pixel of a tile that is 4 larger.
extern "C" __global__ void __launch_bounds__(tile_width *max_hypotheses) share_weights(
	const int16_t *energies, const uint32_t *sums, uint16_t *weights, const uint8_t *fixed, int width, int height, const uint16_t *likelihood, int entries) {
	DYNAMIC_SHARED(uint16_t, shares); // by hypothesis, then pixel
	const int pixels = halo_width * halo_height;
	int hypotheses = blockDim.y, thread = threadIdx.y * tile_width + threadIdx.x, threads = tile_width * hypotheses;
	uint16_t *table = shares + hypotheses * pixels;
	for (int i = thread; i < entries; i += threads) table[i] = likelihood[i];
	__syncthreads();
	int left = blockIdx.x * tile_width, top = blockIdx.y * tile_height;
	Shared from = {energies, sums, width, height, table, entries};
	switch (hypotheses / 2) { // two or four flows, eight neighbours, and two that one picture shows or none
	case 5: share_tile<5>(shares, from, left - reach, top - reach, thread, threads); break;
	case 6: share_tile<6>(shares, from, left - reach, top - reach, thread, threads); break;
	case 7: share_tile<7>(shares, from, left - reach, top - reach, thread, threads); break;
	default: __trap();
	}
	__syncthreads();

	// Half of a warp smooths half of the rows, and a thread two columns.
	const int across = tile_width / 2, rows = tile_height / 2;
	int x = left + threadIdx.x % across * 2, first = threadIdx.x / across * rows;
	if (x >= width) return;
	const uint32_t *mine = (const uint32_t *)(shares + threadIdx.y * pixels + first * halo_width) + threadIdx.x % across;
	size_t at = (size_t)(top + first) * width + x;
	weights += (size_t)threadIdx.y * width * height + at;
	if (fixed) fixed += at;
	uint32_t even[side], odd[side];
#pragma unroll
	for (int i = 0; i < side; i++) even[i] = odd[i] = 0;
	for (int turn = 0; turn < (rows + 2 * reach) / side; turn++)
#pragma unroll
		for (int i = 0; i < side; i++, mine += halo_width / 2) {
			// The bytes of the factors are weights of the halves of a word.
			even[i] = __dp2a_lo(mine[0], 0x0401u, __dp2a_lo(mine[1], 0x0406u, __dp2a_lo(mine[2], 0x0001u, 8u))) >> 4;
			odd[i] = __dp2a_lo(mine[0], 0x0100u, __dp2a_lo(mine[1], 0x0604u, __dp2a_lo(mine[2], 0x0104u, 8u))) >> 4;
			int row = turn * side + i - 2 * reach;
			if (row < 0) continue;
			if (top + first + row >= height) return;
			const int a = (i + 1) % side, b = (i + 2) % side, c = (i + 3) % side, d = (i + 4) % side;
			uint32_t w[2] = {binomial(even[a], even[b], even[c], even[d], even[i]), binomial(odd[a], odd[b], odd[c], odd[d], odd[i])};
			if (fixed) {
#pragma unroll
				for (int k = 0; k < 2; k++)
					if (x + k < width && fixed[k]) w[k] = w[k] * (256 - covered_share(fixed[k])) >> 8;
				fixed += width;
			}
			if (width % 2 == 0) {
				*(uint32_t *)weights = w[0] | w[1] << 16;
			} else {
				weights[0] = (uint16_t)w[0];
				if (x + 1 < width) weights[1] = (uint16_t)w[1];
			}
			weights += width;
		}
}
