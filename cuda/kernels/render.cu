// The samples of a made frame: the kernels read both neighbours along the motions that
// count at each pixel of the guides, and blend the readings by phase and share.

#include "convert.cuh"
#include "guess.cuh"
#include "sampler.cuh"

// Blocks are small, because a warp with short lists waits for the end of its block.
enum { threads = 64 };

// Plane is a plane of the made frame and of its neighbours, with the neighbours' coefficients,
// margin included.
template <typename T>
struct Plane {
	T *out;
	const T *a, *b;
	const float *coefficients_a, *coefficients_b;
};

// Group holds up to four planes of one size, and the samples that neither neighbour shows.
template <typename T>
struct Group {
	Plane<T> plane[4];
	int planes, width, height, stride, coefficient_stride, sx, sy;
	uint8_t *mask;
	uint32_t *list, *listed;

	// at is a sequence of choices, because a table would be in slow memory.
	__device__ Plane<T> at(int i) const { return i == 0 ? plane[0] : i == 1 ? plane[1] : i == 2 ? plane[2] : plane[3]; }
};

// Light turns samples that are 16-bit signals of PQ into light and back, by the tables of package warp's LightTable: the light of each
// signal, and by the upper bits of a light, from first on, the last signal with no more light than the least that has these bits.
struct Light {
	const float *of;
	const uint16_t *below;
	int first;

	// sample returns the signal from least to most whose light is nearest to v; on a tie the lower one. least is below most.
	__device__ int sample(float v, int least, int most) const {
		if (!(v > of[least])) return least;
		if (v >= of[most]) return most;
		int low = least, b = (__float_as_int(v) >> light_shift) - first;
		if (b >= 0) low = max(low, (int)below[b]);
		while (of[low + 1] <= v) low++;
		return of[low + 1] - v < v - of[low] ? low + 1 : low;
	}
};

// Reading is a position in a neighbour, in 1/256 sample.
struct Reading {
	int32_t x, y;
};

__device__ bool within(Reading r, int width, int height) {
	return r.x >= -position_one / 2 && r.y >= -position_one / 2 && r.x <= (width << position_bits) - position_one / 2 &&
	       r.y <= (height << position_bits) - position_one / 2;
}

// well_within reports whether r is so far inside a picture, whose sides have at least edge samples,
// that the same motion leads inside in planes of any subsampling.
enum { edge = 4 };

__device__ bool well_within(Reading r, int width, int height) {
	return (uint32_t)r.x <= (uint32_t)(width - edge) << position_bits && (uint32_t)r.y <= (uint32_t)(height - edge) << position_bits;
}

// Origin is the place of a block's first sample, in 1/256 sample, for straight guesses and for bent
// ones.
struct Origin {
	int32_t x, y, bent_x, bent_y;
};

// View describes how the guides' motions lead to a group's samples.
struct View {
	int width, height, sx, sy, level;
	int32_t phase;

	__device__ Origin origin(int x, int y, Vec bend) const {
		x <<= position_bits;
		y <<= position_bits;
		Origin o = {x, y, x - travel(bend.x, phase_one, level, sx), y - travel(bend.y, phase_one, level, sy)};
		return o;
	}
	__device__ Reading first(const Guess &g, const Origin &o) const {
		Reading r = {(g.bent ? o.bent_x : o.x) - travel(g.v.x, phase, level, sx), (g.bent ? o.bent_y : o.y) - travel(g.v.y, phase, level, sy)};
		return r;
	}
	__device__ Reading second(const Guess &g, const Origin &o) const {
		Reading r = {(g.bent ? o.bent_x : o.x) + travel(g.v.x, phase_one - phase, level, sx),
		             (g.bent ? o.bent_y : o.y) + travel(g.v.y, phase_one - phase, level, sy)};
		return r;
	}
};

// Sight is how much a guess counts in each neighbour.
struct Sight {
	uint64_t first, second;
	bool shown; // whether the place is inside a neighbour
};

// sight returns how a guess shows at its readings. A reading inside its picture counts
// inside_factor times as much as one more than half a sample outside. well is set if both are known
// to be well within.
__device__ Sight sight(const Guess &g, Reading first, Reading second, const View &view, bool well) {
	Sight s;
	parts(g, view.phase, &s.first, &s.second);
	bool in_first = well || within(first, view.width, view.height), in_second = well || within(second, view.width, view.height);
	s.shown = (in_first && s.first) || (in_second && s.second);
	if (in_first) s.first *= inside_factor;
	if (in_second) s.second *= inside_factor;
	return s;
}

// quotient returns n/d, rounded to nearest. inverse is 1/d, rounded to nearest (P. W.
// Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor",
// IBM Journal of Research and Development 34, 1990).
__device__ float quotient(float n, float d, float inverse) {
	float q = n * inverse;
	q = __fmaf_rn(__fmaf_rn(-q, d, n), inverse, q);
	return __fmaf_rn(__fmaf_rn(-q, d, n), inverse, q);
}

// Whole is the total weight of a pixel's readings, its inverse, whether a neighbour shows any, and
// whether all are well within.
struct Whole {
	float sum, inverse;
	bool shown, well;
};

// sum_up returns the Whole of a pixel's guesses. well is set if all readings are known to be well
// within.
__device__ Whole sum_up(const List &list, const Origin &o, const View &view, bool well) {
	Whole whole;
	whole.shown = list.n > 0;
	whole.well = well || (view.width >= edge && view.height >= edge);
	uint32_t shares = 0;
	for (int k = 0; k < list.n; k++) {
		Guess g = list.get(k);
		shares += g.share;
		if (!well && whole.well)
			whole.well = well_within(view.first(g, o), view.width, view.height) && well_within(view.second(g, o), view.width, view.height);
	}
	uint64_t total = (uint64_t)shares * (phase_one * inside_factor);
	if (!whole.well) {
		total = 0;
		whole.shown = false;
		for (int k = 0; k < list.n; k++) {
			Guess g = list.get(k);
			Sight s = sight(g, view.first(g, o), view.second(g, o), view, false);
			whole.shown = whole.shown || s.shown;
			total += s.first + s.second;
		}
	}
	whole.sum = (float)total;
	whole.inverse = __frcp_rn(whole.sum);
	return whole;
}

// add_light adds w times a block of samples to sums, as package warp's addLight does. (x, y) is the place of the first of them,
// which has the fractions fx and fy, and p points to the first of its coefficients.
template <int bw, int bh, typename T>
__device__ void add_light(float *sums, const T *from, const float *p, const Group<T> &group, int x, int y, uint32_t fx, uint32_t fy, const float *wx,
                          const float *wy, const Light &light, float w) {
	for (int j = 0; j < bh; j++, p += group.coefficient_stride) {
		const T *upper = from + (size_t)mirror(y + j, group.height) * group.stride;
		const T *lower = from + (size_t)mirror(y + j + (fy > 0), group.height) * group.stride;
		for (int i = 0; i < bw; i++) {
			int left = mirror(x + i, group.width), right = mirror(x + i + (fx > 0), group.width);
			int least = min(min(upper[left], upper[right]), min(lower[left], lower[right]));
			int most = max(max(upper[left], upper[right]), max(lower[left], lower[right]));
			if (least != most) {
				float v = 0;
				add_block<1, 1>(&v, p + i, group.coefficient_stride, wx, wy, 1);
				least = light.sample(v, least, most);
			}
			sums[j * bw + i] += (float)least * w;
		}
	}
}

// accumulate adds w times the block of samples at r, in each of n planes of neighbour b or of a, to
// the sums; most is the largest n. well says that r lies well within the planes, and lit that light is read between the samples.
template <typename T, int bw, int bh, int most, bool lit>
__device__ void accumulate(float (*sums)[bw * bh], const Plane<T> *planes, int n, bool b, const Group<T> &group, bool spline, const float4 *taps, Reading r,
                           float w, bool well, const Light &light) {
	if (((r.x | r.y) & (position_one - 1)) == 0) {
		// On a sample, the spline equals the sample.
		int ix = r.x >> position_bits, iy = r.y >> position_bits;
		if (well || (ix >= 0 && iy >= 0 && ix + bw <= group.width && iy + bh <= group.height)) {
#pragma unroll
			for (int p = 0; p < most; p++) {
				if (p >= n) break;
				const T *from = (b ? planes[p].b : planes[p].a) + (uint32_t)(iy * group.stride + ix);
#pragma unroll
				for (int j = 0; j < bh; j++)
#pragma unroll
					for (int i = 0; i < bw; i++) sums[p][j * bw + i] += (float)from[(size_t)j * group.stride + i] * w;
			}
			return;
		}
	}
	const int more = (bw > bh ? bw : bh) - 1;
	uint32_t fx = r.x & (position_one - 1), fy = r.y & (position_one - 1);
	int x = (r.x >> position_bits) + coefficient_margin - 1, y = (r.y >> position_bits) + coefficient_margin - 1;
	if (!well) {
		x = place_along(r.x, group.width, more, &fx);
		y = place_along(r.y, group.height, more, &fy);
	}
	uint32_t at = y * group.coefficient_stride + x;
	if (!spline) {
#pragma unroll
		for (int p = 0; p < most; p++) {
			if (p >= n) break;
			add_zp<bw, bh>(sums[p], (b ? planes[p].coefficients_b : planes[p].coefficients_a) + at, group.coefficient_stride, fx, fy, w);
		}
		return;
	}
	float4 tx = taps[fx], ty = taps[fy];
	float wx[4] = {tx.x, tx.y, tx.z, tx.w}, wy[4] = {ty.x, ty.y, ty.z, ty.w};
#pragma unroll
	for (int p = 0; p < most; p++) {
		if (p >= n) break;
		if (lit) {
			add_light<bw, bh>(sums[p], b ? planes[p].b : planes[p].a, (b ? planes[p].coefficients_b : planes[p].coefficients_a) + at, group,
			                  x - (coefficient_margin - 1), y - (coefficient_margin - 1), fx, fy, wx, wy, light, w);
			continue;
		}
		add_block<bw, bh>(sums[p], (b ? planes[p].coefficients_b : planes[p].coefficients_a) + at, group.coefficient_stride, wx, wy, w);
	}
}

// render makes a block of bw by bh samples of each of a group's planes, at (x, y), from a pixel's
// guesses. If all readings are outside their pictures, render sets mask and lists the samples. It
// returns whether all readings are well within, which well says if it is known.
template <typename T, int bw, int bh, bool lit>
__device__ bool render(const Group<T> &group, const List &list, Vec bend, int level, int x, int y, bool spline, const float4 *taps, int32_t phase,
                       float limit, bool well, const Light &light) {
	View view = {group.width, group.height, group.sx, group.sy, level, phase};
	Origin o = view.origin(x, y, bend);
	Whole whole = sum_up(list, o, view, well);
	int columns = min(bw, group.width - x), lines = min(bh, group.height - y);
	for (int j = 0; j < lines; j++)
		for (int i = 0; i < columns; i++) {
			uint32_t at = (y + j) * group.width + x + i;
			group.mask[at] = whole.shown ? 0 : 255;
			if (!whole.shown) group.list[atomicAdd(group.listed, 1u)] = at;
		}
	// The planes of single samples are made together.
	const int together = bw * bh == 1 ? 4 : 1;
	for (int first = 0; first < group.planes; first += together) {
		Plane<T> planes[together];
		float sums[together][bw * bh];
#pragma unroll
		for (int p = 0; p < together; p++) {
			planes[p] = together == 1 ? group.at(first) : group.plane[p];
#pragma unroll
			for (int i = 0; i < bw * bh; i++) sums[p][i] = 0;
		}
		for (int k = 0; k < list.n; k++) {
			Guess g = list.get(k);
			Reading readings[2] = {view.first(g, o), view.second(g, o)};
			Sight s = sight(g, readings[0], readings[1], view, whole.well);
			// A single copy of the code serves both neighbours, to save instruction cache.
#pragma unroll 1
			for (int b = 0; b < 2; b++) {
				float w = quotient((float)(b ? s.second : s.first), whole.sum, whole.inverse);
				if (w == 0) continue;
				Reading r = b ? readings[1] : readings[0];
				accumulate<T, bw, bh, together, lit>(sums, planes, group.planes - first, b != 0, group, spline, taps, r, w, whole.well, light);
			}
		}
#pragma unroll
		for (int p = 0; p < together; p++) {
			if (first + p >= group.planes) break;
			T *out = planes[p].out + (uint32_t)(y * group.stride + x);
#pragma unroll
			for (int j = 0; j < bh; j++)
#pragma unroll
				for (int i = 0; i < bw; i++)
					if (j < lines && i < columns) out[(size_t)j * group.stride + i] = (T)rounded(sums[p][j * bw + i], limit);
		}
	}
	return whole.well;
}

// render_groups makes one or two groups of planes. A pixel of the guides makes side by side samples
// of the first group and, if it is the first of the pixels that share them, cw by ch samples of the
// second. The weights of a B-spline are copied, because threads read them at scattered places.
template <typename T, int side, int cw, int ch, bool lit>
__device__ void render_groups(const Guesses &guesses, const Vec *bends, int guide_width, int level, const Group<T> &group, const Group<T> &other,
                              float4 *own_taps, const float4 *taps, int32_t phase, float limit, const Light &light) {
	int column = blockIdx.x * threads + threadIdx.x, row = blockIdx.y;
	bool spline = taps != nullptr, well = false;
	if (spline)
		for (int i = threadIdx.x; i < position_one; i += threads) own_taps[i] = taps[i];
	__syncthreads();
	Vec bend = {0, 0};
	if (column * side < group.width) {
		uint32_t pixel = row * guide_width + column;
		if (bends) bend = bends[pixel];
		well = render<T, side, side, lit>(group, guesses.of(pixel), bend, level, column * side, row * side, spline, own_taps, phase, limit, false, light);
	}
	int across = other.sx > level ? other.sx - level : 0, down = other.sy > level ? other.sy - level : 0;
	if (other.planes == 0 || row & ((1 << down) - 1)) return;
	int pixel = threadIdx.x << across, x = (blockIdx.x * threads >> across) + threadIdx.x;
	if (pixel >= threads || x * cw >= other.width) return;
	uint32_t at = row * guide_width + (x << across);
	if (across && bends) bend = bends[at];
	render<T, cw, ch, lit>(other, guesses.of(at), bend, level, x * cw, (row >> down) * ch, spline, own_taps, phase, limit, well && across == 0, light);
}

#define GROUP_PARAMETERS(T, g)                                                                                                  \
	T *g##_o0, T *g##_o1, T *g##_o2, T *g##_o3, const T *g##_a0, const T *g##_a1, const T *g##_a2, const T *g##_a3,             \
		const T *g##_b0, const T *g##_b1, const T *g##_b2, const T *g##_b3, const float *g##_ca0, const float *g##_ca1,         \
		const float *g##_ca2, const float *g##_ca3, const float *g##_cb0, const float *g##_cb1, const float *g##_cb2,           \
		const float *g##_cb3, int g##_planes, int g##_width, int g##_height, int g##_stride, int g##_coefficient_stride,        \
		int g##_sx, int g##_sy, uint8_t *g##_mask, uint32_t *g##_list, uint32_t *g##_listed

#define GROUP_OF(g)                                                                                                             \
	{                                                                                                                           \
		{{g##_o0, g##_a0, g##_b0, g##_ca0, g##_cb0}, {g##_o1, g##_a1, g##_b1, g##_ca1, g##_cb1},                                \
		 {g##_o2, g##_a2, g##_b2, g##_ca2, g##_cb2}, {g##_o3, g##_a3, g##_b3, g##_ca3, g##_cb3}},                               \
			g##_planes, g##_width, g##_height, g##_stride, g##_coefficient_stride, g##_sx, g##_sy, g##_mask, g##_list,          \
			g##_listed                                                                                                          \
	}

// Each kernel renders a group of planes, in which a pixel of the guides covers a square, and, if
// other_planes is above 0, a group of lower resolution. For each group, o, a and b point to the
// planes' samples in the made frame and in the neighbours, and ca and cb to the neighbours'
// coefficients. motions, packed and counts are the guesses. taps holds the weights of a B-spline;
// without it, the coefficients belong to the element of Zwart and Powell. The kernels of light sample in light, by the tables of
// Light. Blocks are 64 by 1 threads, with shared memory for taps. Larger blocks of samples take more registers, and too few threads
// fit.
#define RENDER(name, T, side, cw, ch, lit)                                                                                     \
	extern "C" __global__ void __launch_bounds__(threads, side == 4 ? 10 : 14) name(                                             \
		GROUP_PARAMETERS(T, group), GROUP_PARAMETERS(T, other), const Vec *motions, const uint32_t *packed,                     \
		const uint8_t *counts, const Vec *bends, int guide_width, int guide_height, int level, const float4 *taps,             \
		int32_t phase, float limit, const float *light, const uint16_t *below, int first) {                                    \
		DYNAMIC_SHARED(float4, own_taps);                                                                                      \
		Guesses guesses = {motions, packed, counts, (uint32_t)(guide_width * guide_height)};                                   \
		Group<T> group = GROUP_OF(group), other = GROUP_OF(other);                                                             \
		Light table = {light, below, first};                                                                                   \
		render_groups<T, side, cw, ch, lit>(guesses, bends, guide_width, level, group, other, own_taps, taps, phase, limit, table); \
	}

#define RENDER_SIZES(suffix, T)                      \
	RENDER(render_1_1x1_##suffix, T, 1, 1, 1, false) \
	RENDER(render_2_1x1_##suffix, T, 2, 1, 1, false) \
	RENDER(render_2_1x2_##suffix, T, 2, 1, 2, false) \
	RENDER(render_2_2x1_##suffix, T, 2, 2, 1, false) \
	RENDER(render_4_1x1_##suffix, T, 4, 1, 1, false) \
	RENDER(render_4_1x4_##suffix, T, 4, 1, 4, false) \
	RENDER(render_4_2x2_##suffix, T, 4, 2, 2, false) \
	RENDER(render_4_2x4_##suffix, T, 4, 2, 4, false) \
	RENDER(render_4_4x2_##suffix, T, 4, 4, 2, false)

RENDER_SIZES(u8, uint8_t)
RENDER_SIZES(u16, uint16_t)

// The planes of floating-point light are never subsampled.
RENDER(render_1_1x1_light, uint16_t, 1, 1, 1, true)
RENDER(render_2_1x1_light, uint16_t, 2, 1, 1, true)
RENDER(render_4_1x1_light, uint16_t, 4, 1, 1, true)
