// The motions that count at each pixel of the guides, with package warp's bits. What reads them
// need not compare them again.

#include "guess.cuh"
#include "hypothesis.cuh"

// Blocks are small, because a warp with short lists waits for the end of its block.
enum { threads = 64, warp_lanes = 32 };

// A Step is how far a guess moves, at most shift_radius, and how dense the guesses are around it.
struct alignas(8) Step {
	int16_t x, y;
	float density;
};

// A Draft is a List in the making, in shared memory, with the steps of its guesses. The drafts of a
// block's threads lie by guess, then thread.
struct Draft {
	Vec *motions;
	Step *steps;
	uint32_t *packed;

	// Each draft of a block has room for most guesses in memory.
	__device__ Draft(void *memory, int most, int thread) {
		motions = (Vec *)memory + thread;
		steps = (Step *)((Vec *)memory + most * threads) + thread;
		packed = (uint32_t *)((Vec *)memory + 2 * most * threads) + thread;
	}
	// of returns the draft of another thread, so much further on.
	__device__ Draft of(int further) const {
		Draft d = *this;
		d.motions += further;
		d.steps += further;
		d.packed += further;
		return d;
	}
	__device__ Guess get(int k) const { return unpack(motions[k * threads], packed[k * threads]); }
	__device__ void set(int k, Vec v, uint32_t share, int seen, bool bent) const {
		motions[k * threads] = v;
		packed[k * threads] = pack(share, seen, bent);
	}
};

// A Grid is the guides' grid with the motions and weights on it.
struct Grid {
	const Vec *motions;
	const Hypothesis *list;
	const uint16_t *weights;
	const uint8_t *fixed; // certainty that a pixel lies still; may be null
	int hypotheses, width, height, level;
};

// gather lists the motions that count at a pixel and returns their number. It counts
// motions that the same neighbours show and that differ by no more than same_motion as one,
// and omits shares below 1/least_share of the pixel's total. It looks at all hypotheses, so
// that no thread waits for another's list.
template <int flows>
__device__ int gather(const Grid &g, const Draft &list, int x, int y) {
	enum { still = flows, both = flows + 1 + places_around }; // hypotheses that both neighbours show come first
	size_t size = (size_t)g.width * g.height, at = (size_t)y * g.width + x;
	const uint16_t *weight = g.weights + at;
	Vec v[both];
	uint32_t w[both], total = 0;
#pragma unroll
	for (int h = 0; h < both; h++) {
		if (h == still) {
			v[h].x = v[h].y = 0;
			w[h] = g.fixed ? weight_one * covered_share(g.fixed[at]) >> 8 : 0;
			continue;
		}
		int n = h < still ? h : h - 1;
		v[h] = motion_of(g.list[n], g.motions, g.width, g.height, x, y);
		w[h] = weight[n * size];
	}
	bool alike = w[0] != 0;
#pragma unroll
	for (int h = 0; h < both; h++) {
		total += w[h];
		alike = alike && (w[h] == 0 || same(v[0], v[h]));
	}
	if (__all_sync(0xffffffff, alike)) {
		w[0] = total;
#pragma unroll
		for (int h = 1; h < both; h++) w[h] = 0;
	} else {
#pragma unroll
		for (int h = 0; h < both; h++) {
#pragma unroll
			for (int k = 0; k < h; k++) {
				bool joins = same(v[k], v[h]);
				w[k] += joins ? w[h] : 0;
				w[h] = joins ? 0 : w[h];
			}
			// No other joins a hypothesis that has no share or has joined another: it is further
			// away than any motion is long.
			if (w[h] == 0) v[h].x = INT32_MIN;
		}
	}
	bool beyond = g.hypotheses > both - 1;
	uint32_t first = 0, second = 0;
	if (beyond) {
		first = weight[(both - 1) * size];
		second = weight[both * size];
		total += first + second;
	}
	int kept = 0;
#pragma unroll
	for (int h = 0; h < both; h++)
		if (w[h] != 0 && w[h] * least_share >= total) list.set(kept++, v[h], w[h], seen_in_both, h != still);
	if (first != 0 && first * least_share >= total)
		list.set(kept++, motion_of(g.list[both - 1], g.motions, g.width, g.height, x, y), first, seen_in_first, false);
	if (second != 0 && second * least_share >= total)
		list.set(kept++, motion_of(g.list[both], g.motions, g.width, g.height, x, y), second, seen_in_second, false);
	return kept;
}

// attract sets the step of guess i of a list of n. square is the radius, squared.
__device__ void attract(const Draft &list, int n, int i, float square) {
	Guess own = list.get(i);
	float x = 0, y = 0, sum = 0, dense = 0;
	for (int k = 0; k < n; k++) {
		Guess g = list.get(k);
		float dx = (float)(g.v.x - own.v.x), dy = (float)(g.v.y - own.v.y), near = square - (dx * dx + dy * dy);
		if (near <= 0) continue;
		float share = (float)g.share, attraction = near * near * share;
		dense += attraction;
		if (g.seen != own.seen) continue;
		attraction *= share;
		sum += attraction;
		x += attraction * dx;
		y += attraction * dy;
	}
	const int above = 1 << 12; // steps are shorter, and so round to the nearest
	float inverse = __frcp_rn(sum);
	Step step = {(int16_t)((int32_t)(x * inverse + (above + 0.5f)) - above), (int16_t)((int32_t)(y * inverse + (above + 0.5f)) - above), dense};
	list.steps[i * threads] = step;
}

// attract_all sets the steps of the n guesses of a thread's list. The threads of a warp share out
// the guesses of all their lists, whatever each has. ends has a word for each thread of the block.
__device__ void attract_all(const Draft &list, int n, float square, uint32_t *ends) {
	const unsigned all = 0xffffffff;
	uint32_t lane = threadIdx.x % warp_lanes, end = n;
	for (uint32_t d = 1; d < warp_lanes; d *= 2) {
		uint32_t before = __shfl_up_sync(all, end, d);
		if (lane >= d) end += before;
	}
	ends += threadIdx.x - lane;
	ends[lane] = end;
	__syncwarp();
	for (uint32_t t = lane, total = ends[warp_lanes - 1]; t < total; t += warp_lanes) {
		uint32_t owner = 0; // the number of lists that end before
		for (uint32_t step = warp_lanes / 2; step > 0; step /= 2)
			if (ends[owner + step - 1] <= t) owner += step;
		uint32_t begin = owner > 0 ? ends[owner - 1] : 0;
		attract(list.of((int)owner - (int)lane), ends[owner] - begin, t - begin, square);
	}
	__syncwarp();
}

// move takes the steps of the n guesses of a list, and returns the number of those that differ then.
__device__ int move(const Draft &list, int n) {
	if (n < 2) return n;
	float most = 0;
	for (int i = 0; i < n; i++) most = fmaxf(most, list.steps[i * threads].density);
	float scale = 0.5f / most;
	int kept = 0;
	for (int i = 0; i < n; i++) {
		Guess g = list.get(i);
		Step step = list.steps[i * threads];
		g.v.x += step.x;
		g.v.y += step.y;
		g.share = (uint32_t)((float)g.share * ((step.density + most) * scale) + 0.5f);
		int k = 0;
		for (; k < kept; k++) {
			Guess h = list.get(k);
			if (h.seen != g.seen || !same(h.v, g.v)) continue;
			list.set(k, h.v, h.share + g.share, h.seen, h.bent);
			break;
		}
		if (k == kept) list.set(kept++, g.v, g.share, g.seen, g.bent);
	}
	return kept;
}

// list_guesses sets the motions that count at each pixel, shifted; the other words of their guesses;
// and their number. level is the guides'. Blocks are 64 by 1 threads, with shared memory for a word
// for each thread and, for each thread and each hypothesis and one more, for a motion, a step and a
// word.
extern "C" __global__ void __launch_bounds__(threads) list_guesses(
	const Vec *motions, const Hypothesis *hypotheses, int count, int flows, const uint16_t *weights, const uint8_t *fixed, int width, int height, int level,
	Vec *to, uint32_t *packed, uint8_t *counts) {
	DYNAMIC_SHARED(Vec, shared);
	int x = blockIdx.x * threads + threadIdx.x, y = blockIdx.y, within = min(x, width - 1);
	Grid grid = {motions, hypotheses, weights, fixed, count, width, height, level};
	Draft draft(shared, count + 1, threadIdx.x);
	int n = flows == 2 ? gather<2>(grid, draft, within, y) : gather<4>(grid, draft, within, y);
	float radius = (float)(shift_radius >> level);
	attract_all(draft, n < 2 ? 0 : n, radius * radius, draft.packed - threadIdx.x + (count + 1) * threads);
	n = move(draft, n);
	if (x >= width) return;
	uint32_t size = width * height, at = y * width + x;
	for (int k = 0; k < n; k++) {
		to[k * size + at] = draft.motions[k * threads];
		packed[k * size + at] = draft.packed[k * threads];
	}
	counts[at] = (uint8_t)n;
}
