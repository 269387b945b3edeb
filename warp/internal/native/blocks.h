// The parts of render.h that depend on the type of samples, SAMPLE.

// whole returns the sample at reading k, which lies on samples.
static inline const SAMPLE *NAME(whole)(const warp_plane *p, const readings *r, int second, int k) {
	return (const SAMPLE *)p->samples[second] + (int64_t)(r->y[second][k] >> 8) * p->sample_stride[second] + (r->x[second][k] >> 8);
}

// EACH_READING runs its body for those of guesses [begin, end) that count.
#define EACH_READING \
	for (int k = begin; k < end; k++) \
		for (int second = 0; second < 2; second++) { \
			float weight = r->weight[second][k]; \
			if (weight == 0) \
				continue; \
			int tap = r->tap[second][k]; \
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
	i32x4 v = rounded(*sum, limit);
	out[0] = (SAMPLE)v[0];
	out[1] = (SAMPLE)v[1];
	out[p->stride] = (SAMPLE)v[2];
	out[p->stride + 1] = (SAMPLE)v[3];
}

static inline void NAME(store44)(const warp_plane *p, const geometry *g, const vectors *sums, int x, int y, float limit) {
	f32x4 rows[4];
	memcpy(rows, sums, sizeof rows);
	if (x + 4 > p->width || y + 4 > p->height) {
		NAME(store)(p, g, rows, x, y, limit);
		return;
	}
	SAMPLE *out = (SAMPLE *)p->dst + (int64_t)y * p->stride + x;
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

static inline void NAME(block11)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int begin, int end, int x, int y) {
	float sum = 0;
	for (int k = begin; k < end; k++) {
		float v[2] = {0};
		const float *wx[2], *wy[2];
		int between[2];
		for (int second = 0; second < 2; second++) {
			int tap = r->tap[second][k];
			wx[second] = s->taps + 4 * (tap >> 8 & 255);
			wy[second] = s->taps + 4 * (tap & 255);
			between[second] = tap != on_sample && r->weight[second][k] != 0;
			if (tap == on_sample)
				v[second] = (float)*NAME(whole)(p, r, second, k);
		}
		const float *first = p->coefficients[0] + r->at[0][k], *second = p->coefficients[1] + r->at[1][k];
		if (between[0] & between[1])
			one_of_each(first, second, g->stride, wx, wy, v);
		else if (between[0])
			v[0] = one(first, g->stride, wx[0], wy[0]);
		else if (between[1])
			v[1] = one(second, g->stride, wx[1], wy[1]);
		if (r->weight[0][k] != 0)
			sum += v[0] * r->weight[0][k];
		if (r->weight[1][k] != 0)
			sum += v[1] * r->weight[1][k];
	}
	NAME(store1)(p, sum, x, y, s->limit);
}

// both11 is block11 for two planes.
static inline void NAME(both11)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int begin, int end, int x, int y) {
	const warp_plane *q = p + 1;
	float sums[2] = {0};
	EACH_READING
		float v[2];
		if (tap == on_sample) {
			v[0] = (float)*NAME(whole)(p, r, second, k);
			v[1] = (float)*NAME(whole)(q, r, second, k);
		} else {
			int64_t at = r->at[second][k];
			one_of_both(p->coefficients[second] + at, q->coefficients[second] + at, g->stride, wx, wy, v);
		}
		sums[0] += v[0] * weight;
		sums[1] += v[1] * weight;
	END_READING
	NAME(store1)(p, sums[0], x, y, s->limit);
	NAME(store1)(q, sums[1], x, y, s->limit);
}

static inline void NAME(block22)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int begin, int end, int x, int y) {
	f32x4 sum = all4(0);
	EACH_READING
		if (tap == on_sample) {
			const SAMPLE *from = NAME(whole)(p, r, second, k), *below = from + p->sample_stride[second];
			i32x4 v = {from[0], from[1], below[0], below[1]};
			sum += __builtin_convertvector(v, f32x4) * weight;
			continue;
		}
		sum += four(p->coefficients[second] + r->at[second][k], g->stride, wx, wy) * weight;
	END_READING
	NAME(store22)(p, g, &sum, x, y, s->limit);
}

// both22 is block22 for two planes.
static inline void NAME(both22)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int begin, int end, int x, int y) {
	const warp_plane *q = p + 1;
	f32x4 sums[2] = {all4(0), all4(0)};
	EACH_READING
		if (tap == on_sample) {
			for (int i = 0; i < 2; i++) {
				const SAMPLE *from = NAME(whole)(p + i, r, second, k), *below = from + p[i].sample_stride[second];
				i32x4 v = {from[0], from[1], below[0], below[1]};
				sums[i] += __builtin_convertvector(v, f32x4) * weight;
			}
			continue;
		}
		int64_t at = r->at[second][k];
		four_of_both(p->coefficients[second] + at, q->coefficients[second] + at, g->stride, wx, wy, weight, sums);
	END_READING
	NAME(store22)(p, g, &sums[0], x, y, s->limit);
	NAME(store22)(q, g, &sums[1], x, y, s->limit);
}

static inline void NAME(block44)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int begin, int end, int x, int y) {
	vectors sums[square] = {{0}};
	EACH_READING
		if (tap == on_sample) {
			const SAMPLE *from = NAME(whole)(p, r, second, k);
			for (int j = 0; j < square; j++, from += lanes / 4 * p->sample_stride[second])
				sums[j] += __builtin_convertvector(NAME(widen)(from, from + p->sample_stride[second]), vectors) * weight;
			continue;
		}
		sixteen(p->coefficients[second] + r->at[second][k], g->stride, wx, wy, weight, sums);
	END_READING
	NAME(store44)(p, g, sums, x, y, s->limit);
}

// block is for other shapes.
static inline void NAME(block)(const warp_scene *s, const warp_plane *p, const geometry *g, const readings *r, int begin, int end, int x, int y) {
	union {
		float sum[most_block];
		f32x4 vector[most_block / 4];
	} all = {.vector = {{0}}};
	EACH_READING
		for (int j = 0; j < g->height; j++)
			for (int i = 0; i < g->width; i++) {
				float v;
				if (tap == on_sample)
					v = (float)NAME(whole)(p, r, second, k)[(int64_t)j * p->sample_stride[second] + i];
				else
					v = one(p->coefficients[second] + r->at[second][k] + j * g->stride + i, g->stride, wx, wy);
				all.sum[j * g->width + i] += v * weight;
			}
	END_READING
	NAME(store)(p, g, all.vector, x, y, s->limit);
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
	int row = y / step_y * g.height;
	if (row >= p->height)
		return;
	readings r;
	expand(s, p, &g, list, x0, row, &r);
	if (x1 < s->width && list->count > 0)
		for (int k = 0; k < planes; k++)
			fetch_next(p + k, &g, &r, list->count - 1, render_tile / step_x * g.width);
	for (int cell = x0; cell < x1; cell += step_x) {
		int x = cell / step_x * g.width, begin = cell > x0 ? list->end[cell - x0 - 1] : 0, end = list->end[cell - x0];
		if (x >= p->width)
			break;
		if (end - begin != 1)
			divide(list, &r, begin, end);
		int inside = 0;
		for (int k = begin; k < end; k++)
			inside |= r.inside[k];
		if (!inside)
			mark(p, &g, x, row);
		for (int k = 0; k < planes; k++)
			if (g.width == 1 && g.height == 1 && k + 1 < planes)
				NAME(both11)(s, p + k++, &g, &r, begin, end, x, row);
			else if (g.width == 1 && g.height == 1)
				NAME(block11)(s, p + k, &g, &r, begin, end, x, row);
			else if (g.width == 2 && g.height == 2 && k + 1 < planes)
				NAME(both22)(s, p + k++, &g, &r, begin, end, x, row);
			else if (g.width == 2 && g.height == 2)
				NAME(block22)(s, p + k, &g, &r, begin, end, x, row);
			else if (g.width == 4 && g.height == 4)
				NAME(block44)(s, p + k, &g, &r, begin, end, x, row);
			else
				NAME(block)(s, p + k, &g, &r, begin, end, x, row);
	}
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
