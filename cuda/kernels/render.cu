// The samples of a made frame: the kernels read both neighbours along the motions that
// count at each pixel of the guides, and blend the readings by phase and share.

#include "convert.cuh"
#include "hypothesis.cuh"
#include "sampler.cuh"

__device__ bool same(int32_t a, int32_t b) { return (uint32_t)(a - b + same_motion) <= 2 * same_motion; }

// Seen is the set of neighbours that show a guess.
enum Seen { seen_in_first = 1, seen_in_second = 2, seen_in_both = 3 };

// A Guess is a motion, its share, the neighbours that show it, and whether the bend
// applies to it.
struct Guess {
	Vec v;
	uint32_t share;
	int seen;
	bool bent;
};

enum { threads = 128 };

// Guesses holds the guesses of a block's threads, in shared memory.
struct Guesses {
	Vec *motions;
	uint32_t *shares; // eight times the share, plus twice the set of neighbours, plus 1 if bent

	__device__ Guess get(int k) const {
		uint32_t s = shares[k * threads + threadIdx.x];
		Guess g = {motions[k * threads + threadIdx.x], s >> 3, (int)(s >> 1 & 3), (s & 1) != 0};
		return g;
	}
	__device__ void set(int k, Vec v, uint32_t share, int seen, bool bent) const {
		motions[k * threads + threadIdx.x] = v;
		shares[k * threads + threadIdx.x] = share << 3 | seen << 1 | bent;
	}
};

// A Grid is the guides' grid with the motions and weights on it.
struct Grid {
	const Vec *motions, *bends;
	const Hypothesis *list;
	const uint16_t *weights;
	const uint8_t *fixed; // certainty that a pixel lies still; may be null
	int hypotheses, flows, width, height, level;
};

// gather lists the motions that count at a pixel and returns their number. It counts
// motions that the same neighbours show and that differ by no more than same_motion as one,
// and omits shares below 1/least_share of the pixel's total. It looks at all hypotheses, so
// that no thread waits for another's list.
template <int flows>
__device__ int gather(const Grid &g, const Guesses &guesses, int x, int y) {
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
		// A hypothesis that has joined another has no share of its own.
#pragma unroll
		for (int k = 0; k < h; k++) {
			bool joins = w[k] != 0 && same(v[k].x, v[h].x) && same(v[k].y, v[h].y);
			w[k] += joins ? w[h] : 0;
			w[h] = joins ? 0 : w[h];
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
		if (w[h] != 0 && w[h] * least_share >= total) guesses.set(kept++, v[h], w[h], seen_in_both, h != still);
	if (first != 0 && first * least_share >= total)
		guesses.set(kept++, motion_of(g.list[both - 1], g.motions, g.width, g.height, x, y), first, seen_in_first, false);
	if (second != 0 && second * least_share >= total)
		guesses.set(kept++, motion_of(g.list[both], g.motions, g.width, g.height, x, y), second, seen_in_second, false);
	return kept;
}

// A Plane is a plane of the made frame and of its neighbours, with the neighbours'
// coefficients, margin included.
template <typename T>
struct Plane {
	T *out;
	const T *a, *b;
	const float *coefficients_a, *coefficients_b;
};

// A Reading is a position in a neighbour, in 1/256 sample.
struct Reading {
	int32_t x, y;
};

__device__ bool within(Reading r, int width, int height) {
	return r.x >= -position_one / 2 && r.y >= -position_one / 2 && r.x <= (width << position_bits) - position_one / 2 &&
	       r.y <= (height << position_bits) - position_one / 2;
}

// parts divides a guess's share between the neighbours that show it.
__device__ void parts(const Guess &g, int32_t phase, uint64_t *first, uint64_t *second) {
	*first = g.seen == seen_in_both ? (uint64_t)g.share * (phase_one - phase) : g.seen == seen_in_first ? (uint64_t)g.share * phase_one : 0;
	*second = g.seen == seen_in_both ? (uint64_t)g.share * phase : g.seen == seen_in_second ? (uint64_t)g.share * phase_one : 0;
}

// A Layout describes how a plane's samples lie on the guides' grid.
struct Layout {
	int width, height, stride, coefficient_stride, sx, sy;
};

// accumulate adds w times the block of samples at r to the sums.
template <typename T, int bw, int bh>
__device__ void accumulate(float *sums, const T *from, const float *coefficients, const Layout &l, const float4 *taps, Reading r, float w) {
	if (((r.x | r.y) & (position_one - 1)) == 0) {
		// On a sample, the spline equals the sample.
		int ix = r.x >> position_bits, iy = r.y >> position_bits;
		if (ix >= 0 && iy >= 0 && ix + bw <= l.width && iy + bh <= l.height) {
			const T *p = from + (size_t)iy * l.stride + ix;
			for (int j = 0; j < bh; j++)
				for (int i = 0; i < bw; i++) sums[j * bw + i] += (float)p[(size_t)j * l.stride + i] * w;
			return;
		}
	}
	const int more = (bw > bh ? bw : bh) - 1;
	uint32_t fx, fy;
	int x = place_along(r.x, l.width, more, &fx), y = place_along(r.y, l.height, more, &fy);
	const float *p = coefficients + (size_t)y * l.coefficient_stride + x;
	if (!taps) {
		add_zp<bw, bh>(sums, p, l.coefficient_stride, fx, fy, w);
		return;
	}
	float4 tx = taps[fx], ty = taps[fy];
	float wx[4] = {tx.x, tx.y, tx.z, tx.w}, wy[4] = {ty.x, ty.y, ty.z, ty.w};
	add_block<bw, bh>(sums, p, l.coefficient_stride, wx, wy, w);
}

// read computes the positions in the neighbours that a guess leads to.
__device__ void read(const Guess &g, Vec bend, const Grid &grid, const Layout &l, int x, int y, int32_t phase, Reading *a, Reading *b) {
	int px = x << position_bits, py = y << position_bits;
	if (g.bent) {
		px -= travel(bend.x, phase_one, grid.level, l.sx);
		py -= travel(bend.y, phase_one, grid.level, l.sy);
	}
	a->x = px - travel(g.v.x, phase, grid.level, l.sx);
	a->y = py - travel(g.v.y, phase, grid.level, l.sy);
	b->x = px + travel(g.v.x, phase_one - phase, grid.level, l.sx);
	b->y = py + travel(g.v.y, phase_one - phase, grid.level, l.sy);
}

// A Sight is a guess as the neighbours show it: where, and how much each counts.
struct Sight {
	Reading a, b;
	uint64_t a_weight, b_weight;
	bool shown; // whether a neighbour has the place inside
};

// sight returns how a guess shows. A reading inside its picture counts inside_factor times
// as much as one more than half a sample outside.
__device__ Sight sight(const Guess &g, Vec bend, const Grid &grid, const Layout &l, int x, int y, int32_t phase) {
	Sight s;
	read(g, bend, grid, l, x, y, phase, &s.a, &s.b);
	parts(g, phase, &s.a_weight, &s.b_weight);
	bool in_a = within(s.a, l.width, l.height), in_b = within(s.b, l.width, l.height);
	s.shown = (in_a && s.a_weight) || (in_b && s.b_weight);
	if (in_a) s.a_weight *= inside_factor;
	if (in_b) s.b_weight *= inside_factor;
	return s;
}

// render makes this thread's block of bw by bh samples. If all readings lie outside their
// pictures, render sets mask and lists the samples.
template <typename T, int bw, int bh>
__device__ void render(const Grid &grid, const Layout &l, const Plane<T> *planes, int n, const Guesses &guesses, const float4 *taps,
                       int32_t phase, float limit, uint8_t *mask, uint32_t *list, uint32_t *count) {
	int x = (blockIdx.x * threads + threadIdx.x) * bw, y = blockIdx.y * bh;
	if (x >= l.width) return;
	int cx = x << l.sx >> grid.level, cy = y << l.sy >> grid.level;
	Vec bend = {0, 0};
	if (grid.bends) bend = grid.bends[(size_t)cy * grid.width + cx];
	int kept = grid.flows == 2 ? gather<2>(grid, guesses, cx, cy) : gather<4>(grid, guesses, cx, cy);

	uint64_t total = 0;
	bool outside = true;
	for (int k = 0; k < kept; k++) {
		Sight s = sight(guesses.get(k), bend, grid, l, x, y, phase);
		outside = outside && !s.shown;
		total += s.a_weight + s.b_weight;
	}
	int columns = min(bw, l.width - x), lines = min(bh, l.height - y);
	for (int j = 0; j < lines; j++)
		for (int i = 0; i < columns; i++) {
			uint32_t at = (y + j) * l.width + x + i;
			mask[at] = outside ? 255 : 0;
			if (outside) list[atomicAdd(count, 1u)] = at;
		}
	// The planes of single samples are made together.
	const int together = bw * bh == 1 ? 4 : 1;
	for (int first = 0; first < n; first += together) {
		float sums[together][bw * bh];
#pragma unroll
		for (int p = 0; p < together; p++)
#pragma unroll
			for (int i = 0; i < bw * bh; i++) sums[p][i] = 0;
		for (int k = 0; k < kept; k++) {
			Sight s = sight(guesses.get(k), bend, grid, l, x, y, phase);
			float wa = (float)s.a_weight / (float)total, wb = (float)s.b_weight / (float)total;
#pragma unroll
			for (int p = 0; p < together; p++) {
				if (first + p >= n) break;
				const Plane<T> &plane = planes[together == 1 ? first : p];
				if (s.a_weight) accumulate<T, bw, bh>(sums[p], plane.a, plane.coefficients_a, l, taps, s.a, wa);
				if (s.b_weight) accumulate<T, bw, bh>(sums[p], plane.b, plane.coefficients_b, l, taps, s.b, wb);
			}
		}
#pragma unroll
		for (int p = 0; p < together; p++) {
			if (first + p >= n) break;
			T *out = planes[together == 1 ? first : p].out + (size_t)y * l.stride + x;
#pragma unroll
			for (int j = 0; j < bh; j++)
#pragma unroll
				for (int i = 0; i < bw; i++)
					if (j < lines && i < columns) out[(size_t)j * l.stride + i] = (T)rounded(sums[p][j * bw + i], limit);
		}
	}
}

// Each kernel renders up to four planes of one size. The bw by bh samples of a thread
// share a pixel of the guides. o, a and b point to the planes' samples in the made
// frame and in the neighbours, ca and cb to the neighbours' coefficients; planes is the
// number of planes. taps holds the weights of a B-spline; without it the coefficients are
// those of the element of Zwart and Powell. Blocks are 128 by 1 threads, with shared memory for a motion and a
// share for each thread and each hypothesis, and one more.
#define RENDER(name, T, bw, bh)                                                                                              \
	extern "C" __global__ void __launch_bounds__(threads) name(                                                             \
		T *o0, T *o1, T *o2, T *o3, const T *a0, const T *a1, const T *a2, const T *a3, const T *b0, const T *b1,            \
		const T *b2, const T *b3, const float *ca0, const float *ca1, const float *ca2, const float *ca3, const float *cb0,  \
		const float *cb1, const float *cb2, const float *cb3, int planes, int width, int height, int stride,                 \
		int coefficient_stride, int sx, int sy, const Vec *motions, const Vec *bends, const Hypothesis *hypotheses,          \
		int count, int flows, const uint16_t *weights, const uint8_t *fixed, int guide_width, int guide_height, int level, const float4 *taps, int32_t phase, \
		float limit, uint8_t *mask, uint32_t *list, uint32_t *listed) {                                                      \
		DYNAMIC_SHARED(Vec, shared);                                                                                        \
		Guesses guesses = {shared, (uint32_t *)(shared + (count + 1) * threads)};                                           \
		Grid grid = {motions, bends, hypotheses, weights, fixed, count, flows, guide_width, guide_height, level};            \
		Layout l = {width, height, stride, coefficient_stride, sx, sy};                                                      \
		Plane<T> p[4] = {{o0, a0, b0, ca0, cb0}, {o1, a1, b1, ca1, cb1}, {o2, a2, b2, ca2, cb2}, {o3, a3, b3, ca3, cb3}};    \
		render<T, bw, bh>(grid, l, p, planes, guesses, taps, phase, limit, mask, list, listed);                              \
	}

#define RENDER_SIZES(suffix, T)          \
	RENDER(render_1x1_##suffix, T, 1, 1) \
	RENDER(render_1x2_##suffix, T, 1, 2) \
	RENDER(render_1x4_##suffix, T, 1, 4) \
	RENDER(render_2x1_##suffix, T, 2, 1) \
	RENDER(render_2x2_##suffix, T, 2, 2) \
	RENDER(render_2x4_##suffix, T, 2, 4) \
	RENDER(render_4x1_##suffix, T, 4, 1) \
	RENDER(render_4x2_##suffix, T, 4, 2) \
	RENDER(render_4x4_##suffix, T, 4, 4)

RENDER_SIZES(u8, uint8_t)
RENDER_SIZES(u16, uint16_t)
