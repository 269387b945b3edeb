// The motions that count at each pixel of the guides, with the same bits as package warp. Their
// readers need not compare them again.

#include "guess.cuh"
#include "hypothesis.cuh"

// Blocks are small, because a warp with short lists waits for the end of its block.
enum { threads = 64 };

// Draft is a List being made, in shared memory. The drafts of a block's threads are stored by
// guess, then thread.
struct Draft {
	Vec *motions;
	uint32_t *packed;

	// Each draft of a block has room for most guesses in memory.
	__device__ Draft(void *memory, int most, int thread) {
		motions = (Vec *)memory + thread;
		packed = (uint32_t *)((Vec *)memory + most * threads) + thread;
	}
	__device__ Guess get(int k) const { return unpack(motions[k * threads], packed[k * threads]); }
	__device__ void set(int k, Vec v, uint32_t share, int seen, bool bent) const {
		motions[k * threads] = v;
		packed[k * threads] = pack(share, seen, bent);
	}
};

// Grid is the guides' grid with the motions and weights on it.
struct Grid {
	const Vec *motions;
	const Hypothesis *list;
	const uint16_t *weights;
	const uint8_t *fixed; // certainty that a pixel is still; may be null
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
#pragma unroll
	for (int h = 0; h < both; h++) {
		total += w[h];
#pragma unroll
		for (int k = 0; k < h; k++) {
			bool joins = same(v[k], v[h]);
			w[k] += joins ? w[h] : 0;
			w[h] = joins ? 0 : w[h];
		}
		// Move a hypothesis that has no share, or has joined another, further away than any motion
		// is long, so that no other joins it.
		if (w[h] == 0) v[h].x = INT32_MIN;
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

// attract returns where guess i of a list of n moves among the others, and how dense they are
// around it. square is the squared radius.
__device__ Vec attract(const Draft &list, int n, int i, float square, float *density) {
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
	const int above = 1 << 12; // fractions of motions are smaller, so this rounds to the nearest
	float inverse = __frcp_rn(sum);
	*density = dense;
	Vec to = {own.v.x + (int32_t)(x * inverse + (above + 0.5f)) - above, own.v.y + (int32_t)(y * inverse + (above + 0.5f)) - above};
	return to;
}

// shift moves the n guesses of a list to where they are dense, and returns how many different ones
// remain.
__device__ int shift(const Draft &list, int n, int level) {
	if (n < 2) return n;
	float radius = (float)(shift_radius >> level), densities[max_hypotheses], most = 0;
	Vec moved[max_hypotheses];
	for (int i = 0; i < n; i++) {
		moved[i] = attract(list, n, i, radius * radius, &densities[i]);
		most = fmaxf(most, densities[i]);
	}
	float scale = 0.5f / most;
	int kept = 0;
	for (int i = 0; i < n; i++) {
		Guess g = list.get(i);
		g.share = (uint32_t)((float)g.share * ((densities[i] + most) * scale) + 0.5f);
		int k = 0;
		for (; k < kept; k++) {
			Guess h = list.get(k);
			if (h.seen != g.seen || !same(h.v, moved[i])) continue;
			list.set(k, h.v, h.share + g.share, h.seen, h.bent);
			break;
		}
		if (k == kept) list.set(kept++, moved[i], g.share, g.seen, g.bent);
	}
	return kept;
}

// list_guesses sets the shifted motions that count at each pixel, the other words of their guesses,
// and their number. level is the guides' level. Blocks are 64 by 1 threads, with shared memory for
// a motion and a share for each thread and each hypothesis, and one more.
extern "C" __global__ void __launch_bounds__(threads) list_guesses(
	const Vec *motions, const Hypothesis *hypotheses, int count, int flows, const uint16_t *weights, const uint8_t *fixed, int width, int height, int level,
	Vec *to, uint32_t *packed, uint8_t *counts) {
	DYNAMIC_SHARED(Vec, shared);
	int x = blockIdx.x * threads + threadIdx.x, y = blockIdx.y;
	if (x >= width) return;
	Grid grid = {motions, hypotheses, weights, fixed, count, width, height, level};
	Draft draft(shared, count + 1, threadIdx.x);
	int n = shift(draft, flows == 2 ? gather<2>(grid, draft, x, y) : gather<4>(grid, draft, x, y), level);
	uint32_t size = width * height, at = y * width + x;
	for (int k = 0; k < n; k++) {
		to[k * size + at] = draft.motions[k * threads];
		packed[k * size + at] = draft.packed[k * threads];
	}
	counts[at] = (uint8_t)n;
}
