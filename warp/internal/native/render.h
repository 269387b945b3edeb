// The samples along the motions that count at each pixel of the grid.

// travel returns the parts of motions on the grid that are travelled at the phase, in 1/256
// sample of a plane that is 2^coarser times as coarse as the grid. The upper halves travel
// whole numbers. Lanes that nobody needs may be anything.
static inline uints travel(ints v, int32_t phase, int coarser) {
	uints whole = (uints)(v >> 16) * (uint32_t)phase, part = (uints)(v & 0xffff) * (uint32_t)phase;
	if (coarser > 0)
		return (uints)((ints)(whole + (1u << (coarser - 1)) + (part >> 16)) >> coarser);
	return (whole << -coarser) + ((part + (1u << (15 + coarser))) >> (16 + coarser));
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

// readings are those of the guesses, in the first neighbour, then in the second. Those that count of a
// tile's blocks stand in turn in list; those of block i end at end[i].
enum { most_readings = 2 * most_guesses };
typedef struct {
	int32_t at[most_readings];  // the first of the coefficients; on a sample, its row and its column, 16 bits each
	int32_t tap[most_readings]; // both fractions, or on_sample, where the spline equals the sample
	int32_t twice[most_readings]; // the block's number in the tile, twice, and 1 for the second neighbour
	float share[most_readings];
	int32_t parts[most_guesses];  // of a guess's share
	int32_t inside[most_guesses]; // whether a reading lies inside its picture
	uint16_t list[most_readings];
	int32_t end[render_tile], count, blocks;
	float total[render_tile]; // of a block's shares
} readings;

enum { on_sample = -1 };

// place finds the coefficients of the readings at (x, y) and their fractions. It leaves
// room for a block.
static inline void place(const warp_plane *p, const geometry *g, ints x, ints y, int32_t *at, int32_t *tap) {
	ints ix = x >> 8, iy = y >> 8, fx = x & 255, fy = y & 255;
	ints whole = ((fx | fy) == 0) & (ix >= 0) & (iy >= 0) & (ix <= p->width - g->width) & (iy <= p->height - g->height);
	fx &= (ix >= 1 - margin) & (ix <= g->last_x);
	fy &= (iy >= 1 - margin) & (iy <= g->last_y);
	ix = lesser(greater(ix, all(1 - margin)), all(g->last_x));
	iy = lesser(greater(iy, all(1 - margin)), all(g->last_y));
	store_ints(at, choose(whole, iy << 16 | ix, (iy + (margin - 1)) * (int32_t)g->stride + ix + (margin - 1)));
	store_ints(tap, (fx << 8 | fy) | whole);
}

// expand turns the motions of a tile's pixels, whose samples are those from x0 on of a row,
// into readings.
static inline void expand(const warp_scene *s, const warp_plane *p, const geometry *g, const guesses *list, int x0, int row, readings *r) {
	int across = g->sx - g->level, down = g->sy - g->level;
	for (int i = 0; i < list->count; i += lanes) {
		uints cell = (uint32_t)x0 + (uints)load(list->cell + i), block = across > 0 ? cell >> across : cell << -across;
		uints px = block << 8, py = (uints)all(row << 8);
		if (s->bend) {
			px -= travel(load(list->bend_x + i), phase_one, across);
			py -= travel(load(list->bend_y + i), phase_one, down);
		}
		ints vx = load(list->x + i), vy = load(list->y + i), seen = load(list->seen + i);
		ints both = seen == seen_in_both, parts = all(0), inside = all(0);
		ints twice = (load(list->cell + i) >> (across > 0 ? across : 0)) * 2;
		vectors share = __builtin_convertvector(load(list->share + i), vectors);
		for (int second = 0; second < 2; second++) {
			int32_t part = second ? phase_one - s->phase : s->phase; // travelled; the other one counts
			uints tx = travel(vx, part, across), ty = travel(vy, part, down);
			ints x = (ints)(second ? px + tx : px - tx), y = (ints)(second ? py + ty : py - ty);
			ints counts = choose(both, all(phase_one - part), (seen == seen_in_first + second) & phase_one);
			ints within = (x >= -128) & (y >= -128) & (x <= g->right) & (y <= g->bottom);
			counts *= choose(within, all(inside_factor), all(outside_factor));
			parts += counts;
			inside |= within & (counts > 0);
			vectors counted = share * __builtin_convertvector(counts, vectors);
			int k = second * most_guesses + i;
			memcpy(r->share + k, &counted, sizeof counted);
			store_ints(r->twice + k, twice + second);
			place(p, g, x, y, r->at + k, r->tap + k);
		}
		store_ints(r->parts + i, parts);
		store_ints(r->inside + i, inside);
	}
}

// fetch_next asks for the coefficients that the next tile reads if it moves as a guess does:
// the rows below those that the row of blocks above has read.
static inline void fetch_next(const warp_plane *p, const geometry *g, const readings *r, int guess, int samples) {
	enum { line = 64 / sizeof(float), above = 3 };
	for (int second = 0; second < 2; second++) {
		int k = second * most_guesses + guess;
		if (r->tap[k] == on_sample || r->share[k] == 0)
			continue;
		const float *from = p->coefficients[second] + r->at[k] + above * g->stride;
		for (int j = 0; j < g->height; j++)
			for (int i = 0; i < samples; i += line)
				__builtin_prefetch(from + j * g->stride + i);
	}
}

// append_block lists the readings that count of guesses [begin, end), those of the next block, and
// reports whether one lies inside its picture.
static inline int append_block(const guesses *g, int begin, int end, readings *r) {
	int64_t total = 0;
	int inside = 0, n = r->count;
	for (int k = begin; k < end; k++) {
		total += (int64_t)g->share[k] * r->parts[k];
		inside |= r->inside[k];
		r->list[n] = (uint16_t)k;
		n += g->seen[k] & seen_in_first;
		r->list[n] = (uint16_t)(most_guesses + k);
		n += g->seen[k] >> 1;
	}
	r->total[r->blocks] = (float)total;
	r->end[r->blocks++] = r->count = n;
	return inside;
}

// across returns the sums along x of the rows at r, one in each lane.
static inline f32x4 across(const float *r, int64_t stride, const float *wx) {
	f32x4 a = load4(r), b = load4(r + stride), c = load4(r + 2 * stride), d = load4(r + 3 * stride);
	f32x4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	f32x4 ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
	f32x4 p0 = __builtin_shufflevector(ab, cd, 0, 1, 4, 5), p1 = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	f32x4 p2 = __builtin_shufflevector(ef, gh, 0, 1, 4, 5), p3 = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
	return p0 * wx[0] + p1 * wx[1] + p2 * wx[2] + p3 * wx[3];
}

#if defined(__AVX2__)
// both_rows returns four values of each of two rows.
static inline __m256 twice(const float *p) { return _mm256_broadcast_ps((const __m128 *)p); }
static inline __m256 both_rows(const float *p, const float *q) { return _mm256_set_m128(_mm_loadu_ps(q), _mm_loadu_ps(p)); }
#endif

static inline float one(const float *p, int64_t stride, const float *wx, const float *wy) {
	f32x4 v = across(p, stride, wx) * load4(wy);
	return v[0] + v[1] + v[2] + v[3];
}

// one_of_each returns a sample of each of two planes, whose fractions differ. one_of_both
// returns the samples of two planes at one place.
#if defined(__AVX2__)
static inline void one_of_each(const float *p, const float *q, int64_t stride, const float *const wx[2], const float *const wy[2], float out[2]) {
	__m256 a = both_rows(p, q), b = both_rows(p + stride, q + stride);
	__m256 c = both_rows(p + 2 * stride, q + 2 * stride), d = both_rows(p + 3 * stride, q + 3 * stride);
	__m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
	__m256 ef = _mm256_unpackhi_ps(a, b), gh = _mm256_unpackhi_ps(c, d);
	__m256 x = both_rows(wx[0], wx[1]);
	__m256 v = _mm256_shuffle_ps(ab, cd, 0x44) * _mm256_permute_ps(x, 0) + _mm256_shuffle_ps(ab, cd, 0xee) * _mm256_permute_ps(x, 0x55) +
		_mm256_shuffle_ps(ef, gh, 0x44) * _mm256_permute_ps(x, 0xaa) + _mm256_shuffle_ps(ef, gh, 0xee) * _mm256_permute_ps(x, 0xff);
	v *= both_rows(wy[0], wy[1]);
	__m256 sum = v + _mm256_shuffle_ps(v, v, 1) + _mm256_shuffle_ps(v, v, 2) + _mm256_shuffle_ps(v, v, 3);
	out[0] = _mm256_cvtss_f32(sum);
	out[1] = _mm_cvtss_f32(_mm256_extractf128_ps(sum, 1));
}

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
static inline void one_of_each(const float *p, const float *q, int64_t stride, const float *const wx[2], const float *const wy[2], float out[2]) {
	out[0] = one(p, stride, wx[0], wy[0]);
	out[1] = one(q, stride, wx[1], wy[1]);
}

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
	return __builtin_shufflevector(a, b, 2, 3, 4, 5);
}

// four returns a block of two by two samples.
#if defined(__AVX2__)
static inline f32x4 four(const float *p, int64_t stride, const float *wx, const float *wy) {
	const float *p1 = p + stride, *p2 = p1 + stride, *p3 = p2 + stride, *p4 = p3 + stride;
	__m256 a = _mm256_set_m128(_mm_loadu_ps(p2), _mm_loadu_ps(p)), b = _mm256_set_m128(_mm_loadu_ps(p3), _mm_loadu_ps(p1));
	__m256 c = _mm256_set_m128(_mm_loadu_ps(p2 + 1), _mm_loadu_ps(p + 1)), d = _mm256_set_m128(_mm_loadu_ps(p3 + 1), _mm_loadu_ps(p1 + 1));
	__m256 rows = _mm256_shuffle_ps(a, b, 0x44) * wx[0] + _mm256_shuffle_ps(c, d, 0x44) * wx[1] +
		_mm256_shuffle_ps(a, b, 0xee) * wx[2] + _mm256_shuffle_ps(c, d, 0xee) * wx[3];
	__m128 e = _mm_loadu_ps(p4), f = _mm_loadu_ps(p4 + 1);
	__m128 r4 = e * wx[0] + f * wx[1] + _mm_movehl_ps(e, e) * wx[2] + _mm_movehl_ps(f, f) * wx[3];
	f32x4 r01 = (f32x4)_mm256_castps256_ps128(rows), r23 = (f32x4)_mm256_extractf128_ps(rows, 1);
	return r01 * wy[0] + joined(r01, r23) * wy[1] + r23 * wy[2] + joined(r23, (f32x4)r4) * wy[3];
}
#else
static inline f32x4 four(const float *p, int64_t stride, const float *wx, const float *wy) {
	f32x4 r01 = two(p, p + stride, wx), r23 = two(p + 2 * stride, p + 3 * stride, wx);
	f32x4 r4 = two(p + 4 * stride, p + 4 * stride, wx);
	return r01 * wy[0] + joined(r01, r23) * wy[1] + r23 * wy[2] + joined(r23, r4) * wy[3];
}
#endif

// four_of_both adds w times blocks of two by two samples of two planes at one place to sums.
#if defined(__AVX2__)
static inline void four_of_both(const float *p, const float *q, int64_t stride, const float *wx, const float *wy, float w, f32x4 sums[2]) {
	__m256 r[3]; // of rows 0 and 1, 2 and 3, and 4
	for (int j = 0; j < 2; j++, p += 2 * stride, q += 2 * stride) {
		__m256 a = both_rows(p, q), b = both_rows(p + stride, q + stride);
		__m256 c = both_rows(p + 1, q + 1), d = both_rows(p + stride + 1, q + stride + 1);
		r[j] = _mm256_shuffle_ps(a, b, 0x44) * wx[0] + _mm256_shuffle_ps(c, d, 0x44) * wx[1] +
			_mm256_shuffle_ps(a, b, 0xee) * wx[2] + _mm256_shuffle_ps(c, d, 0xee) * wx[3];
	}
	__m256 e = both_rows(p, q), f = both_rows(p + 1, q + 1);
	r[2] = e * wx[0] + f * wx[1] + _mm256_shuffle_ps(e, e, 0xee) * wx[2] + _mm256_shuffle_ps(f, f, 0xee) * wx[3];
	__m256 v = (r[0] * wy[0] + _mm256_shuffle_ps(r[0], r[1], 0x4e) * wy[1] + r[1] * wy[2] + _mm256_shuffle_ps(r[1], r[2], 0x4e) * wy[3]) * w;
	sums[0] += (f32x4)_mm256_castps256_ps128(v);
	sums[1] += (f32x4)_mm256_extractf128_ps(v, 1);
}
#else
static inline void four_of_both(const float *p, const float *q, int64_t stride, const float *wx, const float *wy, float w, f32x4 sums[2]) {
	sums[0] += four(p, stride, wx, wy) * w;
	sums[1] += four(q, stride, wx, wy) * w;
}
#endif

// A block of four by four samples is square vectors, of one or two rows each. sixteen adds w times
// a block to sums.
enum { square = 16 / lanes };
#if defined(__AVX2__)
static inline void sixteen(const float *p, int64_t stride, const float *wx, const float *wy, float w, vectors sums[square]) {
	__m256 r[4]; // of rows 0 and 1, 2 and 3, and so on
	for (int j = 0; j < 3; j++, p += 2 * stride) {
		const float *q = p + stride;
		r[j] = both_rows(p, q) * wx[0] + both_rows(p + 1, q + 1) * wx[1] + both_rows(p + 2, q + 2) * wx[2] + both_rows(p + 3, q + 3) * wx[3];
	}
	r[3] = twice(p) * wx[0] + twice(p + 1) * wx[1] + twice(p + 2) * wx[2] + twice(p + 3) * wx[3];
	__m256 odd[3]; // of rows 1 and 2, 3 and 4, 5 and 6
	for (int j = 0; j < 3; j++)
		odd[j] = _mm256_permute2f128_ps(r[j], r[j + 1], 0x21);
	for (int j = 0; j < square; j++)
		sums[j] += (vectors)((r[j] * wy[0] + odd[j] * wy[1] + r[j + 1] * wy[2] + odd[j + 1] * wy[3]) * w);
}
#else
static inline void sixteen(const float *p, int64_t stride, const float *wx, const float *wy, float w, vectors sums[square]) {
	f32x4 r[7];
	for (int j = 0; j < 7; j++, p += stride)
		r[j] = load4(p) * wx[0] + load4(p + 1) * wx[1] + load4(p + 2) * wx[2] + load4(p + 3) * wx[3];
	for (int j = 0; j < 4; j++)
		sums[j] += (r[j] * wy[0] + r[j + 1] * wy[1] + r[j + 2] * wy[2] + r[j + 3] * wy[3]) * w;
}
#endif

// spline sets v to a block of samples.
static inline void spline(const float *p, const geometry *g, const float *wx, const float *wy, float *v) {
	if (g->width == 2 && g->height == 2) {
		f32x4 block = four(p, g->stride, wx, wy);
		memcpy(v, &block, sizeof block);
	} else if (g->width == 4 && g->height == 4) {
		vectors block[square] = {{0}};
		sixteen(p, g->stride, wx, wy, 1, block);
		memcpy(v, block, sizeof block);
	} else {
		for (int y = 0; y < g->height; y++, p += g->stride)
			for (int x = 0; x < g->width; x++)
				*v++ = one(p + x, g->stride, wx, wy);
	}
}

static inline i32x4 rounded(f32x4 v, float limit) { return __builtin_convertvector(bounded(v + 0.5f, limit), i32x4); }

#if defined(__AVX2__)
// rounded_rows is rounded for two rows of four.
static inline __m256i rounded_rows(vectors v, float limit) {
	__m256 sum = (__m256)(v + 0.5f);
	return _mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), _mm256_set1_ps(limit)));
}
#endif

// signal returns the signal of PQ from least to most whose light is nearest to v; on a tie the lower one. least is below most.
static inline int signal(const warp_scene *s, float v, int least, int most) {
	const float *light = s->light;
	if (!(v > light[least]))
		return least;
	if (v >= light[most])
		return most;
	uint32_t bits;
	memcpy(&bits, &v, sizeof bits);
	int low = least, b = (int)(bits >> light_shift) - s->first;
	if (b >= 0 && s->below[b] > low)
		low = s->below[b];
	while (light[low + 1] <= v)
		low++;
	return light[low + 1] - v < v - light[low] ? low + 1 : low;
}

// mirrored maps i into [0, n) by reflection about the first and last sample.
static inline int mirrored(int i, int n) {
	if (i >= 0 && i < n)
		return i;
	if (n == 1)
		return 0;
	int period = 2 * (n - 1);
	i = i % period + (i % period < 0 ? period : 0);
	return i < period - i ? i : period - i;
}

static inline void mark(const warp_plane *p, const geometry *g, int x, int y) {
	for (int j = 0; j < g->height && y + j < p->height; j++)
		for (int i = 0; i < g->width && x + i < p->width; i++)
			p->mask[(int64_t)(y + j) * p->mask_stride + x + i] = 255;
}

static inline int same_geometry(const warp_plane *p, const warp_plane *q) { return p->sx == q->sx && p->sy == q->sy; }

static void floats8(float *restrict dst, const uint8_t *restrict src, int64_t n) {
	for (int64_t i = 0; i < n; i++)
		dst[i] = src[i];
}

static void floats16(float *restrict dst, const uint16_t *restrict src, int64_t n) {
	for (int64_t i = 0; i < n; i++)
		dst[i] = src[i];
}
