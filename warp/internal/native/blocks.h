// The parts of render.h that depend on the type of samples, SAMPLE.

// whole returns the sample at reading k, which lies on samples.
static inline const SAMPLE *NAME(whole)(const warp_plane *p, const readings *r, int k) {
	int second = r->twice[k] & 1;
	return (const SAMPLE *)p->samples[second] + (int64_t)(r->at[k] >> 16) * p->sample_stride[second] + (r->at[k] & 0xffff);
}

// between returns the coefficients of another one.
static inline const float *NAME(between)(const warp_plane *p, const readings *r, int k) {
	return p->coefficients[r->twice[k] & 1] + r->at[k];
}

// EACH_READING runs its body for those in [begin, end) of the list.
#define EACH_READING(begin, end) \
	for (int i = (begin); i < (end); i++) { \
		int k = r->list[i], tap = r->tap[k], block = r->twice[k] >> 1; \
		float weight = r->share[k] / r->total[block]; \
		const float *wx = s->taps + 4 * (tap >> 8 & 255), *wy = s->taps + 4 * (tap & 255);
#define END_READING }

static inline void NAME(store)(const warp_plane *p, const geometry *g, const f32x4 *sums, int x, int y, float limit) {
	SAMPLE *out = (SAMPLE *)p->dst + (int64_t)y * p->stride + x, block[most_block];
	int columns = p->width - x < g->width ? p->width - x : g->width;
	int rows = p->height - y < g->height ? p->height - y : g->height;
	for (int k = 0; k < (g->width * g->height + 3) / 4; k++) {
		i32x4 v = rounded(sums[k], limit);
		for (int i = 0; i < 4; i++)
			block[4 * k + i] = (SAMPLE)v[i];
	}
	for (int j = 0; j < rows; j++)
		for (int i = 0; i < columns; i++)
			out[(int64_t)j * p->stride + i] = block[j * g->width + i];
}

// narrow sets dst to a and b, whose numbers are samples. widen returns as many samples as a vector
// holds, four in a row; with four lanes, those at lower are not read.
static inline void NAME(narrow)(SAMPLE *dst, i32x4 a, i32x4 b) {
#if defined(__SSE2__)
	__m128i words = _mm_packs_epi32((__m128i)a, (__m128i)b); // all but those of 16 bits fit
	if (sizeof(SAMPLE) == 1) {
		_mm_storel_epi64((__m128i *)dst, _mm_packus_epi16(words, words));
		return;
	}
#endif
	for (int i = 0; i < 4; i++) {
		dst[i] = (SAMPLE)a[i];
		dst[4 + i] = (SAMPLE)b[i];
	}
}

static inline ints NAME(widen)(const SAMPLE *upper, const SAMPLE *lower) {
	typedef SAMPLE NAME(row) __attribute__((vector_size(lanes * sizeof(SAMPLE))));
	NAME(row) v;
	memcpy(&v, upper, 4 * sizeof(SAMPLE));
	if (lanes > 4)
		memcpy((SAMPLE *)&v + 4, lower, 4 * sizeof(SAMPLE));
	return __builtin_convertvector(v, ints);
}

// store22 and store44 store blocks of these sizes.
static inline void NAME(store22)(const warp_plane *p, const geometry *g, const f32x4 *sum, int x, int y, float limit) {
	if (x + 2 > p->width || y + 2 > p->height) {
		NAME(store)(p, g, sum, x, y, limit);
		return;
	}
	SAMPLE *out = (SAMPLE *)p->dst + (int64_t)y * p->stride + x;
	SAMPLE v[8];
	NAME(narrow)(v, rounded(*sum, limit), rounded(*sum, limit));
	memcpy(out, v, 2 * sizeof *v);
	memcpy(out + p->stride, v + 2, 2 * sizeof *v);
}

static inline void NAME(store44)(const warp_plane *p, const geometry *g, const vectors *sums, int x, int y, float limit) {
	f32x4 rows[4];
	memcpy(rows, sums, sizeof rows);
	if (x + 4 > p->width || y + 4 > p->height) {
		NAME(store)(p, g, rows, x, y, limit);
		return;
	}
	SAMPLE *out = (SAMPLE *)p->dst + (int64_t)y * p->stride + x;
#if defined(__AVX2__)
	// In the lower half rows 0 and 2, in the upper one rows 1 and 3.
	__m256i all = _mm256_packus_epi32(rounded_rows(sums[0], limit), rounded_rows(sums[1], limit));
	if (sizeof(SAMPLE) == 1)
		all = _mm256_packus_epi16(all, all);
	SAMPLE v[2][16 / sizeof(SAMPLE)];
	memcpy(v, &all, sizeof all);
	for (int j = 0; j < 4; j++)
		memcpy(out + j * p->stride, v[j & 1] + 2 * (j & 2), 4 * sizeof(SAMPLE));
	return;
#endif
	for (int j = 0; j < 4; j += 2, out += 2 * p->stride) {
		SAMPLE v[8];
		NAME(narrow)(v, rounded(rows[j], limit), rounded(rows[j + 1], limit));
		memcpy(out, v, sizeof v / 2);
		memcpy(out + p->stride, v + 4, sizeof v / 2);
	}
}

static inline void NAME(store1)(const warp_plane *p, float sum, int x, int y, float limit) {
	((SAMPLE *)p->dst)[(int64_t)y * p->stride + x] = (SAMPLE)rounded(all4(sum), limit)[0];
}

// The functions that follow set the samples of a tile's blocks, which begin at (x, y).

static inline void NAME(tile11)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int x, int y) {
	float sums[render_tile] = {0};
	// Two readings at a time. The last one may stand beside itself.
	for (int i = 0; i < r->count; i += 2) {
		int count = i + 1 < r->count ? 2 : 1, between[2];
		float v[2];
		const float *wx[2], *wy[2], *from[2];
		for (int j = 0; j < 2; j++) {
			int k = r->list[i + (j < count ? j : 0)], tap = r->tap[k];
			wx[j] = s->taps + 4 * (tap >> 8 & 255);
			wy[j] = s->taps + 4 * (tap & 255);
			between[j] = tap != on_sample;
			if (between[j])
				from[j] = NAME(between)(p, r, k);
			else
				v[j] = (float)*NAME(whole)(p, r, k);
		}
		if (between[0] & between[1])
			one_of_each(from[0], from[1], g->stride, wx, wy, v);
		else if (between[0])
			v[0] = one(from[0], g->stride, wx[0], wy[0]);
		else if (between[1])
			v[1] = one(from[1], g->stride, wx[1], wy[1]);
		for (int j = 0; j < count; j++) {
			int k = r->list[i + j], block = r->twice[k] >> 1;
			sums[block] += v[j] * (r->share[k] / r->total[block]);
		}
	}
	for (int b = 0; b < r->blocks; b++)
		NAME(store1)(p, sums[b], x + b, y, s->limit);
}

// both11 is tile11 for two planes.
static inline void NAME(both11)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int x, int y) {
	const warp_plane *q = p + 1;
	float sums[render_tile][2] = {{0}};
	EACH_READING(0, r->count)
		float v[2], *sum = sums[block];
		if (tap == on_sample) {
			v[0] = (float)*NAME(whole)(p, r, k);
			v[1] = (float)*NAME(whole)(q, r, k);
		} else {
			one_of_both(NAME(between)(p, r, k), NAME(between)(q, r, k), g->stride, wx, wy, v);
		}
		sum[0] += v[0] * weight;
		sum[1] += v[1] * weight;
	END_READING
	for (int b = 0; b < r->blocks; b++) {
		NAME(store1)(p, sums[b][0], x + b, y, s->limit);
		NAME(store1)(q, sums[b][1], x + b, y, s->limit);
	}
}

static inline f32x4 NAME(whole22)(const warp_plane *p, const readings *r, int k) {
	const SAMPLE *from = NAME(whole)(p, r, k), *below = from + p->sample_stride[r->twice[k] & 1];
	return __builtin_convertvector(((i32x4){from[0], from[1], below[0], below[1]}), f32x4);
}

static inline void NAME(tile22)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int x, int y) {
	f32x4 sums[render_tile] = {{0}};
	EACH_READING(0, r->count)
		f32x4 v = tap == on_sample ? NAME(whole22)(p, r, k) : four(NAME(between)(p, r, k), g->stride, wx, wy);
		sums[block] += v * weight;
	END_READING
	for (int b = 0; b < r->blocks; b++)
		NAME(store22)(p, g, &sums[b], x + 2 * b, y, s->limit);
}

// both22 is tile22 for two planes.
static inline void NAME(both22)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int x, int y) {
	const warp_plane *q = p + 1;
	f32x4 sums[render_tile][2] = {{{0}}};
	EACH_READING(0, r->count)
		f32x4 *sum = sums[block];
		if (tap == on_sample) {
			sum[0] += NAME(whole22)(p, r, k) * weight;
			sum[1] += NAME(whole22)(q, r, k) * weight;
		} else {
			four_of_both(NAME(between)(p, r, k), NAME(between)(q, r, k), g->stride, wx, wy, weight, sum);
		}
	END_READING
	for (int b = 0; b < r->blocks; b++) {
		NAME(store22)(p, g, &sums[b][0], x + 2 * b, y, s->limit);
		NAME(store22)(q, g, &sums[b][1], x + 2 * b, y, s->limit);
	}
}

static inline void NAME(tile44)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int x, int y) {
	vectors sums[render_tile][square] = {{{0}}};
	EACH_READING(0, r->count)
		vectors *sum = sums[block];
		if (tap == on_sample) {
			int64_t stride = p->sample_stride[r->twice[k] & 1];
			const SAMPLE *from = NAME(whole)(p, r, k);
			for (int j = 0; j < square; j++, from += lanes / 4 * stride)
				sum[j] += __builtin_convertvector(NAME(widen)(from, from + stride), vectors) * weight;
		} else {
			sixteen(NAME(between)(p, r, k), g->stride, wx, wy, weight, sum);
		}
	END_READING
	for (int b = 0; b < r->blocks; b++)
		NAME(store44)(p, g, sums[b], x + 4 * b, y, s->limit);
}

// add_lit adds w times a block of samples of neighbour second, from column x and row y on, to sum. They are signals of the light v,
// within the limits of the samples around: those in the next column, too, if right is 1, and in the next row if below is.
static inline void NAME(add_lit)(const warp_scene *s, const warp_plane *q, const geometry *g, int second, int x, int y, int right, int below, const float *v,
	float w, float *sum) {
	const SAMPLE *samples = q->samples[second];
	int64_t stride = q->sample_stride[second];
	int inside = x >= 0 && y >= 0 && x + g->width < q->width && y + g->height < q->height;
	for (int j = y; j < y + g->height; j++) {
		const SAMPLE *upper = samples + (inside ? j : mirrored(j, q->height)) * stride;
		const SAMPLE *lower = samples + (inside ? j + below : mirrored(j + below, q->height)) * stride;
		for (int i = x; i < x + g->width; i++) {
			int m = inside ? i : mirrored(i, q->width), n = inside ? i + right : mirrored(i + right, q->width);
			int least = upper[m] < upper[n] ? upper[m] : upper[n], most = upper[m] < upper[n] ? upper[n] : upper[m];
			int lesser = lower[m] < lower[n] ? lower[m] : lower[n], greater = lower[m] < lower[n] ? lower[n] : lower[m];
			least = lesser < least ? lesser : least;
			most = greater > most ? greater : most;
			*sum++ += (float)(least == most ? least : signal(s, *v, least, most)) * w;
			v++;
		}
	}
}

// tile is for other shapes, and for samples that are read in light.
static inline void NAME(tile)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int x, int y, int lit) {
	for (int b = 0; b < r->blocks; b++) {
		union {
			float sum[most_block];
			f32x4 vector[most_block / 4];
		} all = {.vector = {{0}}};
		EACH_READING(b > 0 ? r->end[b - 1] : 0, r->end[b])
			int second = r->twice[k] & 1;
			float v[most_block], *sum = all.sum;
			if (tap == on_sample) {
				const SAMPLE *from = NAME(whole)(p, r, k);
				for (int j = 0; j < g->height; j++, from += p->sample_stride[second])
					for (int i = 0; i < g->width; i++)
						*sum++ += (float)from[i] * weight;
				continue;
			}
			spline(NAME(between)(p, r, k), g, wx, wy, v);
			if (lit)
				NAME(add_lit)(s, p, g, second, r->at[k] % (int)g->stride - (margin - 1), r->at[k] / (int)g->stride - (margin - 1),
					(tap >> 8) > 0, (tap & 255) > 0, v, weight, sum);
			else
				for (int i = 0; i < g->width * g->height; i++)
					sum[i] += v[i] * weight;
		END_READING
		NAME(store)(p, g, all.vector, x + b * g->width, y, s->limit);
	}
}

#undef EACH_READING
#undef END_READING

// planes renders the blocks of pixels [x0, x1) of row y of the grid in planes of one
// geometry.
static inline void NAME(planes)(const warp_scene *s, const warp_plane *p, int planes, const guesses *list, int y, int x0, int x1) {
	geometry g = geometry_of(s, p);
	int step_x = g.sx > g.level ? 1 << (g.sx - g.level) : 1, step_y = g.sy > g.level ? 1 << (g.sy - g.level) : 1;
	if (y & (step_y - 1))
		return;
	int row = y / step_y * g.height, left = x0 / step_x * g.width;
	if (row >= p->height)
		return;
	readings r;
	r.blocks = r.count = 0;
	expand(s, p, &g, list, x0, row, &r);
	if (x1 < s->width && list->count > 0)
		for (int k = 0; k < planes; k++)
			fetch_next(p + k, &g, &r, list->count - 1, render_tile / step_x * g.width);
	for (int cell = x0, x = left; cell < x1 && x < p->width; cell += step_x, x += g.width)
		if (!append_block(list, cell > x0 ? list->end[cell - x0 - 1] : 0, list->end[cell - x0], &r))
			mark(p, &g, x, row);
	for (int k = 0; k < planes; k++)
		if (s->light)
			NAME(tile)(s, p + k, &g, &r, left, row, 1);
		else if (g.width == 1 && g.height == 1 && k + 1 < planes)
			NAME(both11)(s, p + k++, &g, &r, left, row);
		else if (g.width == 1 && g.height == 1)
			NAME(tile11)(s, p + k, &g, &r, left, row);
		else if (g.width == 2 && g.height == 2 && k + 1 < planes)
			NAME(both22)(s, p + k++, &g, &r, left, row);
		else if (g.width == 2 && g.height == 2)
			NAME(tile22)(s, p + k, &g, &r, left, row);
		else if (g.width == 4 && g.height == 4)
			NAME(tile44)(s, p + k, &g, &r, left, row);
		else
			NAME(tile)(s, p + k, &g, &r, left, row, 0);
}

// render renders all planes, tile by tile.
static void NAME(render)(warp_scene s, int y0, int y1) {
	guesses list;
	for (int y = y0; y < y1; y++)
		for (int x0 = 0; x0 < s.width; x0 += render_tile) {
			int x1 = s.width - x0 < render_tile ? s.width : x0 + render_tile;
			if (x1 < s.width)
				fetch_ahead(&s, y, x1);
			gather(&s, y, x0, x1, &list);
			for (int p = 0; p < s.planes;) {
				int n = 1;
				while (p + n < s.planes && same_geometry(&s.plane[p], &s.plane[p + n]))
					n++;
				NAME(planes)(&s, &s.plane[p], n, &list, y, x0, x1);
				p += n;
			}
			expect(&s, y, x0, x1, &list);
		}
}
