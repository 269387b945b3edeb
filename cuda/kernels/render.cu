// The samples of a made frame: the kernels read both neighbours along the motions that
// count at each pixel of the guides, and blend the readings by phase and share.

#include "convert.cuh"
#include "hypothesis.cuh"
#include "sampler.cuh"

__device__ bool same(int32_t a, int32_t b) { return (uint32_t)(a - b + same_motion) <= 2 * same_motion; }

// Seen is the set of neighbours that show a guess.
enum Seen { seen_in_first = 1, seen_in_second = 2, seen_in_both = 3 };

__device__ int seen_in(int kind) { return kind == only_first ? seen_in_first : kind == only_second ? seen_in_second : seen_in_both; }

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
	__device__ void set(int k, Guess g) const {
		motions[k * threads + threadIdx.x] = g.v;
		shares[k * threads + threadIdx.x] = g.share << 3 | g.seen << 1 | g.bent;
	}
};

// A Grid is the guides' grid with the motions and weights on it.
struct Grid {
	const Vec *motions, *bends;
	const Hypothesis *list;
	const uint16_t *weights;
	int hypotheses, width, height, level;
};

// gather lists the motions that count at a pixel and returns their number. It counts
// motions that differ by no more than same_motion as one, and omits shares below
// 1/least_share of the pixel's total.
__device__ int gather(const Grid &g, const Guesses &guesses, int x, int y) {
	size_t size = (size_t)g.width * g.height, at = (size_t)y * g.width + x;
	uint32_t total = 0;
	int n = 0;
	for (int h = 0; h < g.hypotheses; h++) {
		uint32_t w = g.weights[h * size + at];
		if (w == 0) continue;
		total += w;
		Hypothesis hypothesis = g.list[h];
		Vec v = motion_of(hypothesis, g.motions, g.width, g.height, x, y);
		int k = 0;
		while (k < n) {
			Guess o = guesses.get(k);
			if (o.seen == seen_in(hypothesis.kind) && same(o.v.x, v.x) && same(o.v.y, v.y)) {
				o.share += w;
				guesses.set(k, o);
				break;
			}
			k++;
		}
		if (k == n) {
			Guess o = {v, w, seen_in(hypothesis.kind), bends(hypothesis.kind)};
			guesses.set(n++, o);
		}
	}
	int kept = 0;
	for (int k = 0; k < n; k++) {
		Guess o = guesses.get(k);
		if (o.share * least_share >= total) guesses.set(kept++, o);
	}
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

// render makes this thread's block of bw by bh samples. A reading inside its picture
// counts inside_factor times as much as one more than half a sample outside. If all
// readings lie outside their pictures, render sets mask and lists the samples.
template <typename T, int bw, int bh>
__device__ void render(const Grid &grid, const Layout &l, const Plane<T> *planes, int n, const Guesses &guesses, const float4 *taps,
                       int32_t phase, float limit, uint8_t *mask, uint32_t *list, uint32_t *count) {
	int x = (blockIdx.x * threads + threadIdx.x) * bw, y = blockIdx.y * bh;
	if (x >= l.width) return;
	int cx = x << l.sx >> grid.level, cy = y << l.sy >> grid.level;
	Vec bend = {0, 0};
	if (grid.bends) bend = grid.bends[(size_t)cy * grid.width + cx];
	int kept = gather(grid, guesses, cx, cy);

	uint64_t total = 0;
	bool outside = true;
	for (int k = 0; k < kept; k++) {
		Guess g = guesses.get(k);
		Reading a, b;
		read(g, bend, grid, l, x, y, phase, &a, &b);
		bool in_a = within(a, l.width, l.height), in_b = within(b, l.width, l.height);
		uint64_t wa, wb;
		parts(g, phase, &wa, &wb);
		outside = outside && !(in_a && wa) && !(in_b && wb);
		total += wa * (in_a ? inside_factor : 1) + wb * (in_b ? inside_factor : 1);
	}
	int columns = min(bw, l.width - x), lines = min(bh, l.height - y);
	for (int j = 0; j < lines; j++)
		for (int i = 0; i < columns; i++) {
			uint32_t at = (y + j) * l.width + x + i;
			mask[at] = outside ? 255 : 0;
			if (outside) list[atomicAdd(count, 1u)] = at;
		}
	for (int p = 0; p < 4; p++) {
		if (p >= n) break;
		float sums[bw * bh];
		for (int i = 0; i < bw * bh; i++) sums[i] = 0;
		for (int k = 0; k < kept; k++) {
			Guess g = guesses.get(k);
			Reading a, b;
			read(g, bend, grid, l, x, y, phase, &a, &b);
			uint64_t wa, wb;
			parts(g, phase, &wa, &wb);
			if (within(a, l.width, l.height)) wa *= inside_factor;
			if (within(b, l.width, l.height)) wb *= inside_factor;
			if (wa) accumulate<T, bw, bh>(sums, planes[p].a, planes[p].coefficients_a, l, taps, a, (float)wa / (float)total);
			if (wb) accumulate<T, bw, bh>(sums, planes[p].b, planes[p].coefficients_b, l, taps, b, (float)wb / (float)total);
		}
		for (int j = 0; j < bh; j++)
			for (int i = 0; i < bw; i++)
				if (j < lines && i < columns) planes[p].out[(size_t)(y + j) * l.stride + x + i] = (T)rounded(sums[j * bw + i], limit);
	}
}

// Each kernel renders up to four planes of one size. The bw by bh samples of a thread
// share a pixel of the guides. o, a and b point to the planes' samples in the made
// frame and in the neighbours, ca and cb to the neighbours' coefficients; planes is the
// number of planes. taps holds the weights of a B-spline; without it the coefficients are
// those of the element of Zwart and Powell. Blocks are 128 by 1 threads, with shared memory for a motion and a
// share for each thread and hypothesis.
#define RENDER(name, T, bw, bh)                                                                                              \
	extern "C" __global__ void __launch_bounds__(threads) name(                                                             \
		T *o0, T *o1, T *o2, T *o3, const T *a0, const T *a1, const T *a2, const T *a3, const T *b0, const T *b1,            \
		const T *b2, const T *b3, const float *ca0, const float *ca1, const float *ca2, const float *ca3, const float *cb0,  \
		const float *cb1, const float *cb2, const float *cb3, int planes, int width, int height, int stride,                 \
		int coefficient_stride, int sx, int sy, const Vec *motions, const Vec *bends, const Hypothesis *hypotheses,          \
		int count, const uint16_t *weights, int guide_width, int guide_height, int level, const float4 *taps, int32_t phase, \
		float limit, uint8_t *mask, uint32_t *list, uint32_t *listed) {                                                      \
		DYNAMIC_SHARED(Vec, shared);                                                                                        \
		Guesses guesses = {shared, (uint32_t *)(shared + count * threads)};                                                 \
		Grid grid = {motions, bends, hypotheses, weights, count, guide_width, guide_height, level};                          \
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
