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

// gather_vector appends the guesses of the lanes from skip on to the n that g has. i is the
// first lane's pixel, and tile is its place in the tile.
static inline int gather_vector(const warp_scene *s, int64_t i, int skip, int tile, guesses *g, int n) {
	head heads[warp_most_hypotheses];
	int count = 0;
	ints total = all(0);
	for (int k = 0; k < s->hypotheses; k++) {
		ints w = load_words(s->weight[k] + i), rest = w > 0, x, y;
		if (!any(rest))
			continue;
		total += w;
		components(&s->motion[k][i].x, &x, &y);
		for (int j = 0; j < count; j++) {
			head *h = &heads[j];
			if (s->seen[h->hypothesis] != s->seen[k])
				continue;
			ints same = rest & h->at & near(h->x, x) & near(h->y, y);
			h->share += w & same;
			rest &= ~same;
			if (!any(rest))
				break;
		}
		if (any(rest)) {
			heads[count] = (head){x, y, rest, w & rest, k};
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
	int64_t row = (int64_t)y * s->width;
	for (int x = x0; x < x1;) {
		int from = x + lanes <= s->width ? x : s->width - lanes;
		n = gather_vector(s, row + from, x - from, from - x0, g, n);
		x = from + lanes;
	}
}

// travel returns the part of a motion on the grid that is travelled at the phase, in
// 1/256 sample of the plane.
static inline int32_t travel(int32_t v, int32_t phase, int shift) {
	return (int32_t)(((int64_t)v * phase + ((int64_t)1 << (shift - 1))) >> shift);
}

// sample is a reading of a neighbour: its position and its share of the result.
typedef struct {
	int32_t x, y, second;
	float weight;
} sample;

typedef struct {
	int level, sx, sy, width, height; // of the block
	int last_x, last_y;               // the last places inside, in 1/256 sample
} geometry;

static inline geometry geometry_of(const warp_scene *s, const warp_plane *p) {
	geometry g = {.level = s->level, .sx = p->sx, .sy = p->sy};
	g.width = s->level > p->sx ? 1 << (s->level - p->sx) : 1;
	g.height = s->level > p->sy ? 1 << (s->level - p->sy) : 1;
	g.last_x = (p->width << 8) - 128;
	g.last_y = (p->height << 8) - 128;
	return g;
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
		int64_t share = v->share;
		int64_t parts[2] = {
			v->seen == seen_in_first ? share * phase_one : v->seen == seen_in_second ? 0 : share * (phase_one - phase),
			v->seen == seen_in_second ? share * phase_one : v->seen == seen_in_first ? 0 : share * phase,
		};
		for (int second = 0; second < 2; second++) {
			if (parts[second] == 0)
				continue;
			int32_t sx = second ? px + travel(v->x, phase_one - phase, shift_x) : px - travel(v->x, phase, shift_x);
			int32_t sy = second ? py + travel(v->y, phase_one - phase, shift_y) : py - travel(v->y, phase, shift_y);
			int within = sx >= -128 && sy >= -128 && sx <= g->last_x && sy <= g->last_y;
			beyond &= !within;
			weight[n] = parts[second] * (within ? inside_factor : outside_factor);
			total += weight[n];
			out[n] = (sample){sx, sy, second, 0};
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
	typedef int32_t order __attribute__((vector_size(16)));
	f32x4 ab = __builtin_shuffle(a, b, (order){0, 4, 1, 5}), cd = __builtin_shuffle(c, d, (order){0, 4, 1, 5});
	f32x4 ef = __builtin_shuffle(a, b, (order){2, 6, 3, 7}), gh = __builtin_shuffle(c, d, (order){2, 6, 3, 7});
	f32x4 p0 = __builtin_shuffle(ab, cd, (order){0, 1, 4, 5}), p1 = __builtin_shuffle(ab, cd, (order){2, 3, 6, 7});
	f32x4 p2 = __builtin_shuffle(ef, gh, (order){0, 1, 4, 5}), p3 = __builtin_shuffle(ef, gh, (order){2, 3, 6, 7});
	return p0 * wx[0] + p1 * wx[1] + p2 * wx[2] + p3 * wx[3];
}

static inline float one(const float *p, int64_t stride, const float *wx, const float *wy) {
	f32x4 v = across(p, stride, wx) * load4(wy);
	return v[0] + v[1] + v[2] + v[3];
}

// two returns, for two rows of coefficients, the sums along x for two columns.
static inline f32x4 two(const float *p, const float *q, const float *wx) {
	return pairs(p, q) * wx[0] + pairs(p + 1, q + 1) * wx[1] + pairs(p + 2, q + 2) * wx[2] + pairs(p + 3, q + 3) * wx[3];
}

// joined returns the second half of a and the first half of b.
static inline f32x4 joined(f32x4 a, f32x4 b) {
	typedef int32_t order __attribute__((vector_size(16)));
	return __builtin_shuffle(a, b, (order){2, 3, 4, 5});
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

// place returns the first of the coefficients of a position and sets the fractions. It
// leaves room for block further samples to the right and below.
static inline const float *place(const warp_plane *p, const float *c, int32_t x, int32_t y, int block, int *fx, int *fy) {
	int ix = x >> 8, iy = y >> 8, last_x = p->width + margin - 3 - block, last_y = p->height + margin - 3 - block;
	*fx = x & 255;
	*fy = y & 255;
	if (ix < 1 - margin)
		ix = 1 - margin, *fx = 0;
	else if (ix > last_x)
		ix = last_x, *fx = 0;
	if (iy < 1 - margin)
		iy = 1 - margin, *fy = 0;
	else if (iy > last_y)
		iy = last_y, *fy = 0;
	return c + (int64_t)(iy + margin - 1) * p->coefficient_stride + ix + margin - 1;
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
