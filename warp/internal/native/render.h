// The motions that count at each pixel of the grid, and the samples along them.

enum { phase_one = 65536, seen_in_neither, seen_in_first = 1, seen_in_second, seen_in_both };
enum { least_share = 32, same_motion = 64, inside_factor = 100, outside_factor = 1 };
enum { render_tile = 64, most_block = 16, margin = 8 };

typedef struct {
	int32_t x, y;
	warp_vec bend;
	uint32_t share, seen;
} guess;

// guesses are those of a tile's pixels in turn; those of pixel i end at end[i].
typedef struct {
	guess list[render_tile * warp_most_hypotheses];
	int32_t end[render_tile];
} guesses;

static inline ints near(ints a, ints b) { return (uints)(a - b + same_motion) <= (uints)all(2 * same_motion); }

// head is a motion that differs from those of earlier heads, at some of the lanes.
typedef struct {
	ints x, y, at, share;
	int hypothesis;
} head;

// gather_vector appends the guesses of the lanes from skip on to the n that g has. (x0, y)
// is the first lane's pixel, and tile is its place in the tile.
static inline int gather_vector(const warp_scene *s, int x0, int y, int skip, int tile, guesses *g, int n) {
	int64_t i = (int64_t)y * s->width + x0;
	head heads[warp_most_hypotheses];
	int count = 0;
	ints total = all(0);
	for (int k = 0; k < s->hypotheses; k++) {
		ints w = load_words(s->weight[k] + i), rest = w > 0, vx, vy;
		if (!any(rest))
			continue;
		total += w;
		components(&s->motion[k][(int64_t)y * s->stride[k] + x0].x, &vx, &vy);
		for (int j = 0; j < count; j++) {
			head *h = &heads[j];
			if (s->seen[h->hypothesis] != s->seen[k])
				continue;
			ints same = rest & h->at & near(h->x, vx) & near(h->y, vy);
			h->share += w & same;
			rest &= ~same;
			if (!any(rest))
				break;
		}
		if (any(rest)) {
			heads[count] = (head){vx, vy, rest, w & rest, k};
			count++;
		}
	}
	unsigned kept[warp_most_hypotheses];
	for (int j = 0; j < count; j++)
		kept[j] = bits(heads[j].at & ((heads[j].share * least_share) >= total));
	for (int lane = skip; lane < lanes; lane++) {
		for (int j = 0; j < count; j++) {
			if (!(kept[j] >> lane & 1))
				continue;
			const head *h = &heads[j];
			g->list[n++] = (guess){
				h->x[lane], h->y[lane], s->bend && s->bends[h->hypothesis] ? s->bend[i + lane] : (warp_vec){0, 0},
				(uint32_t)h->share[lane], s->seen[h->hypothesis],
			};
		}
		g->end[tile + lane] = n;
	}
	return n;
}

// gather sets the guesses of pixels [x0, x1) of row y. The last vector of a row ends with
// the row.
static inline void gather(const warp_scene *s, int y, int x0, int x1, guesses *g) {
	int n = 0;
	for (int x = x0; x < x1;) {
		int from = x + lanes <= s->width ? x : s->width - lanes;
		n = gather_vector(s, from, y, x - from, from - x0, g, n);
		x = from + lanes;
	}
}

// travel returns the part of a motion on the grid that is travelled at the phase, in
// 1/256 sample of the plane.
static inline int32_t travel(int32_t v, int32_t phase, int shift) {
	return (int32_t)(((int64_t)v * phase + ((int64_t)1 << (shift - 1))) >> shift);
}

// geometry is what the planes of a layer have in common.
typedef struct {
	int level, sx, sy, width, height; // of the block
	int right, bottom;                // the last places inside, in 1/256 sample
	int last_x, last_y;               // the last places that leave room for a block
	int64_t stride;                   // of the coefficients
} geometry;

static inline geometry geometry_of(const warp_scene *s, const warp_plane *p) {
	geometry g = {.level = s->level, .sx = p->sx, .sy = p->sy, .stride = p->coefficient_stride};
	g.width = s->level > p->sx ? 1 << (s->level - p->sx) : 1;
	g.height = s->level > p->sy ? 1 << (s->level - p->sy) : 1;
	g.right = (p->width << 8) - 128;
	g.bottom = (p->height << 8) - 128;
	int block = (g.width > g.height ? g.width : g.height) - 1;
	g.last_x = p->width + margin - 3 - block;
	g.last_y = p->height + margin - 3 - block;
	return g;
}

// sample is a reading of a neighbour, and its share of the result.
typedef struct {
	int32_t x, y; // 1/256 sample
	int32_t second;
	float weight;
	int64_t at;           // the first of the coefficients
	const float *wx, *wy; // or NULL on a sample, where the spline equals the sample
} sample;

// place finds the coefficients of a sample. It leaves room for a block.
static inline void place(const warp_scene *s, const warp_plane *p, const geometry *g, sample *at) {
	int ix = at->x >> 8, iy = at->y >> 8, fx = at->x & 255, fy = at->y & 255;
	if ((fx | fy) == 0 && ix >= 0 && iy >= 0 && ix + g->width <= p->width && iy + g->height <= p->height) {
		at->wx = at->wy = NULL;
		return;
	}
	if (ix < 1 - margin)
		ix = 1 - margin, fx = 0;
	else if (ix > g->last_x)
		ix = g->last_x, fx = 0;
	if (iy < 1 - margin)
		iy = 1 - margin, fy = 0;
	else if (iy > g->last_y)
		iy = g->last_y, fy = 0;
	at->at = (iy + margin - 1) * g->stride + ix + margin - 1;
	at->wx = s->taps + 4 * fx;
	at->wy = s->taps + 4 * fy;
}

// expand turns the motions at a block into readings of both neighbours. It returns their
// number, and sets outside to whether all of them lie outside their pictures.
static inline int expand(const geometry *g, const guess *list, int m, int x, int y, int32_t phase, sample *out,
	int *outside) {
	int64_t weight[2 * warp_most_hypotheses], total = 0;
	int n = 0, shift_x = 16 + g->sx - g->level, shift_y = 16 + g->sy - g->level, beyond = 1;
	for (int k = 0; k < m; k++) {
		const guess *v = &list[k];
		int32_t px = (x << 8) - travel(v->bend.x, phase_one, shift_x), py = (y << 8) - travel(v->bend.y, phase_one, shift_y);
		int64_t share = v->share, parts[2] = {share * (phase_one - phase), share * phase};
		if (v->seen != seen_in_both) {
			parts[0] = v->seen == seen_in_first ? share * phase_one : 0;
			parts[1] = v->seen == seen_in_first ? 0 : share * phase_one;
		}
		int32_t sx[2] = {px - travel(v->x, phase, shift_x), px + travel(v->x, phase_one - phase, shift_x)};
		int32_t sy[2] = {py - travel(v->y, phase, shift_y), py + travel(v->y, phase_one - phase, shift_y)};
		for (int second = 0; second < 2; second++) {
			if (parts[second] == 0)
				continue;
			int within = (sx[second] >= -128) & (sy[second] >= -128) & (sx[second] <= g->right) & (sy[second] <= g->bottom);
			beyond &= !within;
			weight[n] = within ? parts[second] * inside_factor : parts[second] * outside_factor;
			total += weight[n];
			out[n].x = sx[second];
			out[n].y = sy[second];
			out[n].second = second;
			n++;
		}
	}
	for (int k = 0; k < n; k++)
		out[k].weight = (float)weight[k] / (float)total;
	*outside = beyond;
	return n;
}

// across returns the sums along x of the rows at r, one in each lane.
static inline f32x4 across(const float *r, int64_t stride, const float *wx) {
	f32x4 a = load4(r), b = load4(r + stride), c = load4(r + 2 * stride), d = load4(r + 3 * stride);
	f32x4 ab = shuffled(a, b, 0, 4, 1, 5), cd = shuffled(c, d, 0, 4, 1, 5);
	f32x4 ef = shuffled(a, b, 2, 6, 3, 7), gh = shuffled(c, d, 2, 6, 3, 7);
	f32x4 p0 = shuffled(ab, cd, 0, 1, 4, 5), p1 = shuffled(ab, cd, 2, 3, 6, 7);
	f32x4 p2 = shuffled(ef, gh, 0, 1, 4, 5), p3 = shuffled(ef, gh, 2, 3, 6, 7);
	return p0 * wx[0] + p1 * wx[1] + p2 * wx[2] + p3 * wx[3];
}

static inline float one(const float *p, int64_t stride, const float *wx, const float *wy) {
	f32x4 v = across(p, stride, wx) * load4(wy);
	return v[0] + v[1] + v[2] + v[3];
}

// one_of_both returns the samples of two planes at one place.
#if defined(__AVX2__)
static inline void one_of_both(const float *p, const float *q, int64_t stride, const float *wx, const float *wy, float out[2]) {
	__m256 a = _mm256_set_m128(_mm_loadu_ps(q), _mm_loadu_ps(p));
	__m256 b = _mm256_set_m128(_mm_loadu_ps(q + stride), _mm_loadu_ps(p + stride));
	__m256 c = _mm256_set_m128(_mm_loadu_ps(q + 2 * stride), _mm_loadu_ps(p + 2 * stride));
	__m256 d = _mm256_set_m128(_mm_loadu_ps(q + 3 * stride), _mm_loadu_ps(p + 3 * stride));
	__m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
	__m256 ef = _mm256_unpackhi_ps(a, b), gh = _mm256_unpackhi_ps(c, d);
	__m256 v = _mm256_shuffle_ps(ab, cd, 0x44) * wx[0] + _mm256_shuffle_ps(ab, cd, 0xee) * wx[1] +
		_mm256_shuffle_ps(ef, gh, 0x44) * wx[2] + _mm256_shuffle_ps(ef, gh, 0xee) * wx[3];
	v *= _mm256_broadcast_ps((const __m128 *)wy);
	__m256 sum = v + _mm256_shuffle_ps(v, v, 1) + _mm256_shuffle_ps(v, v, 2) + _mm256_shuffle_ps(v, v, 3);
	out[0] = _mm256_cvtss_f32(sum);
	out[1] = _mm_cvtss_f32(_mm256_extractf128_ps(sum, 1));
}
#else
static inline void one_of_both(const float *p, const float *q, int64_t stride, const float *wx, const float *wy, float out[2]) {
	out[0] = one(p, stride, wx, wy);
	out[1] = one(q, stride, wx, wy);
}
#endif

// two returns, for two rows of coefficients, the sums along x for two columns.
static inline f32x4 two(const float *p, const float *q, const float *wx) {
	return pairs(p, q) * wx[0] + pairs(p + 1, q + 1) * wx[1] + pairs(p + 2, q + 2) * wx[2] + pairs(p + 3, q + 3) * wx[3];
}

// joined returns the second half of a and the first half of b.
static inline f32x4 joined(f32x4 a, f32x4 b) {
	return shuffled(a, b, 2, 3, 4, 5);
}

// four returns a block of two by two samples.
static inline f32x4 four(const float *p, int64_t stride, const float *wx, const float *wy) {
	f32x4 r01 = two(p, p + stride, wx), r23 = two(p + 2 * stride, p + 3 * stride, wx);
	f32x4 r4 = two(p + 4 * stride, p + 4 * stride, wx);
	return r01 * wy[0] + joined(r01, r23) * wy[1] + r23 * wy[2] + joined(r23, r4) * wy[3];
}

// sixteen adds w times a block of four by four samples to sums.
static inline void sixteen(const float *p, int64_t stride, const float *wx, const float *wy, float w, f32x4 sums[4]) {
	f32x4 r[7];
	for (int j = 0; j < 7; j++, p += stride)
		r[j] = load4(p) * wx[0] + load4(p + 1) * wx[1] + load4(p + 2) * wx[2] + load4(p + 3) * wx[3];
	for (int j = 0; j < 4; j++)
		sums[j] += (r[j] * wy[0] + r[j + 1] * wy[1] + r[j + 2] * wy[2] + r[j + 3] * wy[3]) * w;
}

static inline f32x4 rounded(f32x4 v, float limit) {
	f32x4 zero = {0}, most = all4(limit);
	v += 0.5f;
	i32x4 positive = v > zero, below = v < most;
	v = (f32x4)((i32x4)v & positive);
	return (f32x4)(((i32x4)v & below) | ((i32x4)most & ~below));
}

static inline void mark(const warp_plane *p, const geometry *g, int x, int y) {
	for (int j = 0; j < g->height && y + j < p->height; j++)
		for (int i = 0; i < g->width && x + i < p->width; i++)
			p->mask[(int64_t)(y + j) * p->mask_stride + x + i] = 255;
}

static inline int same_geometry(const warp_plane *p, const warp_plane *q) { return p->sx == q->sx && p->sy == q->sy; }

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define SAMPLE uint8_t
#define NAME(name) JOIN(name, 8)
#include "blocks.h"
#undef SAMPLE
#undef NAME
#define SAMPLE uint16_t
#define NAME(name) JOIN(name, 16)
#include "blocks.h"
