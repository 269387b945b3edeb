// The parts of render.h that depend on the type of samples, SAMPLE.

// whole returns the sample at a position that lies on samples, if the block lies inside
// the picture, or NULL. On a sample, the spline equals the sample.
static inline const SAMPLE *NAME(whole)(const warp_plane *p, const geometry *g, const sample *s) {
	int ix = s->x >> 8, iy = s->y >> 8;
	if (((s->x | s->y) & 255) || ix < 0 || iy < 0 || ix + g->width > p->width || iy + g->height > p->height)
		return NULL;
	return (const SAMPLE *)p->samples[s->second] + (int64_t)iy * p->sample_stride[s->second] + ix;
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

static inline void NAME(block11)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	float sum = 0;
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		const SAMPLE *from = NAME(whole)(p, g, at);
		if (from) {
			sum += (float)*from * at->weight;
			continue;
		}
		int fx, fy;
		const float *c = place(p, p->coefficients[at->second], at->x, at->y, 0, &fx, &fy);
		sum += one(c, p->coefficient_stride, s->taps + 4 * fx, s->taps + 4 * fy) * at->weight;
	}
	f32x4 v = rounded(all4(sum), s->limit);
	((SAMPLE *)p->dst)[(int64_t)y * p->stride + x] = (SAMPLE)(int32_t)v[0];
}

static inline void NAME(block22)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	f32x4 sum = all4(0);
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		const SAMPLE *from = NAME(whole)(p, g, at);
		if (from) {
			const SAMPLE *below = from + p->sample_stride[at->second];
			i32x4 v = {from[0], from[1], below[0], below[1]};
			sum += __builtin_convertvector(v, f32x4) * at->weight;
			continue;
		}
		int fx, fy;
		const float *c = place(p, p->coefficients[at->second], at->x, at->y, 1, &fx, &fy);
		sum += four(c, p->coefficient_stride, s->taps + 4 * fx, s->taps + 4 * fy) * at->weight;
	}
	NAME(store)(p, g, &sum, x, y, s->limit);
}

static inline void NAME(block44)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	f32x4 sums[4] = {all4(0), all4(0), all4(0), all4(0)};
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		const SAMPLE *from = NAME(whole)(p, g, at);
		if (from) {
			for (int j = 0; j < 4; j++, from += p->sample_stride[at->second]) {
				i32x4 v = {from[0], from[1], from[2], from[3]};
				sums[j] += __builtin_convertvector(v, f32x4) * at->weight;
			}
			continue;
		}
		int fx, fy;
		const float *c = place(p, p->coefficients[at->second], at->x, at->y, 3, &fx, &fy);
		sixteen(c, p->coefficient_stride, s->taps + 4 * fx, s->taps + 4 * fy, at->weight, sums);
	}
	NAME(store)(p, g, sums, x, y, s->limit);
}

// blocks of other shapes.
static inline void NAME(block)(const warp_scene *s, const warp_plane *p, const geometry *g, const sample *list, int n, int x, int y) {
	union {
		float sum[most_block];
		f32x4 vector[most_block / 4];
	} all = {.vector = {{0}}};
	int larger = g->width > g->height ? g->width : g->height;
	for (int k = 0; k < n; k++) {
		const sample *at = &list[k];
		const SAMPLE *from = NAME(whole)(p, g, at);
		int fx, fy;
		const float *c = place(p, p->coefficients[at->second], at->x, at->y, larger - 1, &fx, &fy);
		for (int j = 0; j < g->height; j++)
			for (int i = 0; i < g->width; i++) {
				float v = from ? (float)from[(int64_t)j * p->sample_stride[at->second] + i] :
					one(c + (int64_t)j * p->coefficient_stride + i, p->coefficient_stride, s->taps + 4 * fx, s->taps + 4 * fy);
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
		for (int k = 0; k < planes; k++)
			if (g.width == 1 && g.height == 1)
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
