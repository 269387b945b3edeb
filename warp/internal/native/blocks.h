// The parts of render.h that depend on the type of samples, SAMPLE.

// whole returns the sample at a position that lies on samples.
static inline const SAMPLE *NAME(whole)(const warp_plane *p, const sample *s) {
	return (const SAMPLE *)p->samples[s->second] + (int64_t)(s->y >> 8) * p->sample_stride[s->second] + (s->x >> 8);
}

static inline void NAME(store)(const warp_plane *p, const geometry *g, const f32x4 *sums, int x, int y, float limit) {
	SAMPLE *out = (SAMPLE *)p->dst + (int64_t)y * p->stride + x, block[most_block];
	int columns = p->width - x < g->width ? p->width - x : g->width;
	int rows = p->height - y < g->height ? p->height - y : g->height;
	for (int k = 0; k < (g->width * g->height + 3) / 4; k++) {
		i32x4 v = __builtin_convertvector(rounded(sums[k], limit), i32x4);
		for (int i = 0; i < 4; i++)
			block[4 * k + i] = (SAMPLE)v[i];
	}
	for (int j = 0; j < rows; j++)
		for (int i = 0; i < columns; i++)
			out[(int64_t)j * p->stride + i] = block[j * g->width + i];
}

static inline void NAME(store1)(const warp_plane *p, float sum, int x, int y, float limit) {
	f32x4 v = rounded(all4(sum), limit);
	((SAMPLE *)p->dst)[(int64_t)y * p->stride + x] = (SAMPLE)(int32_t)v[0];
}

static inline void NAME(block11)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	float sum = 0;
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		if (!at->wx)
			sum += (float)*NAME(whole)(p, at) * at->weight;
		else
			sum += one(p->coefficients[at->second] + at->at, g->stride, at->wx, at->wy) * at->weight;
	}
	NAME(store1)(p, sum, x, y, s->limit);
}

// both11 is block11 for two planes.
static inline void NAME(both11)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	const warp_plane *q = p + 1;
	float sums[2] = {0};
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		float v[2];
		if (!at->wx) {
			v[0] = (float)*NAME(whole)(p, at);
			v[1] = (float)*NAME(whole)(q, at);
		} else {
			one_of_both(p->coefficients[at->second] + at->at, q->coefficients[at->second] + at->at, g->stride, at->wx, at->wy, v);
		}
		sums[0] += v[0] * at->weight;
		sums[1] += v[1] * at->weight;
	}
	NAME(store1)(p, sums[0], x, y, s->limit);
	NAME(store1)(q, sums[1], x, y, s->limit);
}

static inline void NAME(block22)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	f32x4 sum = all4(0);
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		if (!at->wx) {
			const SAMPLE *from = NAME(whole)(p, at), *below = from + p->sample_stride[at->second];
			i32x4 v = {from[0], from[1], below[0], below[1]};
			sum += __builtin_convertvector(v, f32x4) * at->weight;
			continue;
		}
		sum += four(p->coefficients[at->second] + at->at, g->stride, at->wx, at->wy) * at->weight;
	}
	NAME(store)(p, g, &sum, x, y, s->limit);
}

static inline void NAME(block44)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	f32x4 sums[4] = {all4(0), all4(0), all4(0), all4(0)};
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		if (!at->wx) {
			const SAMPLE *from = NAME(whole)(p, at);
			for (int j = 0; j < 4; j++, from += p->sample_stride[at->second]) {
				i32x4 v = {from[0], from[1], from[2], from[3]};
				sums[j] += __builtin_convertvector(v, f32x4) * at->weight;
			}
			continue;
		}
		sixteen(p->coefficients[at->second] + at->at, g->stride, at->wx, at->wy, at->weight, sums);
	}
	NAME(store)(p, g, sums, x, y, s->limit);
}

// block is for other shapes.
static inline void NAME(block)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	union {
		float sum[most_block];
		f32x4 vector[most_block / 4];
	} all = {.vector = {{0}}};
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		for (int j = 0; j < g->height; j++)
			for (int i = 0; i < g->width; i++) {
				float v;
				if (!at->wx)
					v = (float)NAME(whole)(p, at)[(int64_t)j * p->sample_stride[at->second] + i];
				else
					v = one(p->coefficients[at->second] + at->at + j * g->stride + i, g->stride, at->wx, at->wy);
				all.sum[j * g->width + i] += v * at->weight;
			}
	}
	NAME(store)(p, g, all.vector, x, y, s->limit);
}

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
	sample samples[2 * warp_most_hypotheses];
	for (int cell = x0; cell < x1; cell += step_x) {
		int x = cell / step_x * g.width, outside, begin = cell > x0 ? list->end[cell - x0 - 1] : 0;
		if (x >= p->width)
			break;
		int n = expand(&g, list->list + begin, list->end[cell - x0] - begin, x, row, s->phase, samples, &outside);
		if (outside)
			mark(p, &g, x, row);
		for (int k = 0; k < n; k++)
			place(s, p, &g, &samples[k]);
		for (int k = 0; k < planes; k++)
			if (g.width == 1 && g.height == 1 && k + 1 < planes)
				NAME(both11)(s, p + k++, &g, samples, n, x, row);
			else if (g.width == 1 && g.height == 1)
				NAME(block11)(s, p + k, &g, samples, n, x, row);
			else if (g.width == 2 && g.height == 2)
				NAME(block22)(s, p + k, &g, samples, n, x, row);
			else if (g.width == 4 && g.height == 4)
				NAME(block44)(s, p + k, &g, samples, n, x, row);
			else
				NAME(block)(s, p + k, &g, samples, n, x, row);
	}
}

// render renders all planes, tile by tile.
static void NAME(render)(warp_scene s, int y0, int y1) {
	guesses list;
	for (int y = y0; y < y1; y++)
		for (int x0 = 0; x0 < s.width; x0 += render_tile) {
			int x1 = s.width - x0 < render_tile ? s.width : x0 + render_tile;
			gather(&s, y, x0, x1, &list);
			for (int p = 0; p < s.planes;) {
				int n = 1;
				while (p + n < s.planes && same_geometry(&s.plane[p], &s.plane[p + n]))
					n++;
				NAME(planes)(&s, &s.plane[p], n, &list, y, x0, x1);
				p += n;
			}
		}
}
