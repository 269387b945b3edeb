// The search for the vectors of patches.

static const int8_t neighbour_x[9] = {0, 1, -1, 0, 0, 1, -1, 1, -1};
static const int8_t neighbour_y[9] = {0, 0, 0, 1, -1, 1, -1, -1, 1};

static inline int same_place(dis_vector v, dis_vector w) {
	return (((v.x ^ w.x) | (v.y ^ w.y)) >> unseen_bits) == 0;
}

enum { groups = patch_size / rows_at_once };

typedef struct {
	words a[groups]; // 16 times the samples
	words gx[groups], gy[groups];
	const dis_search *s;
	const uint8_t *from, *b; // the patch's first sample in a; sample (0, 0) of b
	int x, y;
	int filled, prepared;
	int32_t sum_x, sum_y;
	float a11, a12, a22;
} patch;

static inline void open_patch(patch *p, const dis_search *s, const uint8_t *a, const uint8_t *b, int column, int row) {
	int x = s->stride * column, y = s->stride * row;
	p->s = s;
	p->x = x < s->width - patch_size ? x : s->width - patch_size;
	p->y = y < s->height - patch_size ? y : s->height - patch_size;
	p->from = a + (int64_t)p->y * s->pitch + p->x;
	p->b = b;
	p->filled = p->prepared = 0;
}

static inline void fill(patch *p) {
	for (int j = 0; j < groups; j++)
		p->a[j] = widen_rows(p->from + (int64_t)rows_at_once * j * p->s->pitch, p->s->pitch) << 4;
	p->filled = 1;
}

// window reads the rows of b that a patch needs, group by group. With two rows a group, it reads
// one row more than it needs at the end, which is within the border.
typedef struct {
	place from;
	int pitch;
	words upper;
} window;

static inline words across(window *w) {
	words t = across_rows(w->from.at, w->pitch, &w->from.beyond);
	w->from.at += rows_at_once * w->pitch;
	return t;
}

static inline window open_window(const patch *p, dis_vector v) {
	window w = {.from = place_of(p->s, p->b, p->x, p->y, v, patch_size - 1), .pitch = p->s->pitch};
	w.upper = across(&w);
	return w;
}

// differences returns the differences of the j-th group.
static inline words differences(window *w, const patch *p, int j) {
	words following = across(w), lower = one_row_on(w->upper, following);
	words d = between_rows(w->upper, lower, &w->from.beyond) - p->a[j];
	w->upper = following;
	return d;
}

static inline int32_t total(const patch *p, int32_t sd, int32_t sdd) {
	return p->s->normalize ? sdd - (int32_t)((int64_t)sd * sd >> 6) : sdd;
}

static inline int32_t cost(patch *p, dis_vector v) {
	if (!p->filled)
		fill(p);
	window w = open_window(p, v);
	words sd = all(0); // eight differences fit into 16 bits
	sums sdd = dot_rows(sd, sd);
	for (int j = 0; j < groups; j++) {
		words d = differences(&w, p, j);
		sd += d;
		sdd += dot_rows(d, d);
	}
	return total(p, sum_rows(dot_rows(sd, all(1))), sum_rows(sdd));
}

static inline int32_t slope(const patch *p, dis_vector v, int32_t *bx, int32_t *by) {
	window w = open_window(p, v);
	words sd = all(0);
	sums sdd = dot_rows(sd, sd), sx = sdd, sy = sdd;
	for (int j = 0; j < groups; j++) {
		words d = differences(&w, p, j);
		sd += d;
		sdd += dot_rows(d, d);
		sx += dot_rows(d, p->gx[j]);
		sy += dot_rows(d, p->gy[j]);
	}
	int32_t every = sum_rows(dot_rows(sd, all(1)));
	*bx = sum_rows(sx);
	*by = sum_rows(sy);
	if (p->s->normalize) {
		*bx -= (int32_t)((int64_t)every * p->sum_x >> 6);
		*by -= (int32_t)((int64_t)every * p->sum_y >> 6);
	}
	return total(p, every, sum_rows(sdd));
}

static void prepare(patch *p) {
	words gx = all(0), gy = gx;
	sums vxx = dot_rows(gx, gx), vxy = vxx, vyy = vxx;
	const uint8_t *at = p->from;
	int pitch = p->s->pitch;
	for (int j = 0; j < groups; j++, at += rows_at_once * pitch) {
		words dx = (widen_rows(at + 1, pitch) - widen_rows(at - 1, pitch)) << 2;
		words dy = (widen_rows(at + pitch, pitch) - widen_rows(at - pitch, pitch)) << 2;
		p->gx[j] = dx;
		p->gy[j] = dy;
		gx += dx;
		gy += dy;
		vxx += dot_rows(dx, dx);
		vxy += dot_rows(dx, dy);
		vyy += dot_rows(dy, dy);
	}
	int64_t x = sum_rows(dot_rows(gx, all(1))), y = sum_rows(dot_rows(gy, all(1)));
	int64_t xx = sum_rows(vxx), xy = sum_rows(vxy), yy = sum_rows(vyy);
	p->sum_x = (int32_t)x;
	p->sum_y = (int32_t)y;
	if (p->s->normalize) {
		xx -= x * x >> 6;
		xy -= x * y >> 6;
		yy -= y * y >> 6;
	}
	xx += damping;
	yy += damping;
	int64_t det = xx * yy - xy * xy;
	float k = 512.0f / (float)(det > 1 ? det : 1);
	p->a11 = (float)yy * k;
	p->a12 = -(float)xy * k;
	p->a22 = (float)xx * k;
	p->prepared = 1;
}

static inline int32_t step(float d) {
	d = d < -step_limit ? -step_limit : d;
	return nearest1(d > step_limit ? step_limit : d);
}

static inline void descend(patch *p, dis_best *v) {
	int iterations = p->s->iterations;
	if (v->fixed || iterations == 0)
		return;
	if (v->cost == 0) { // all differences are the same, so the step is 0
		v->fixed = 1;
		return;
	}
	if (!p->filled)
		fill(p);
	if (!p->prepared)
		prepare(p);
	dis_vector from = v->v, next = from;
	int32_t bx, by;
	slope(p, next, &bx, &by);
	for (int t = 0; t < iterations; t++) {
		float fx = (float)bx, fy = (float)by;
		int32_t dx = step(p->a11 * fx + p->a12 * fy), dy = step(p->a12 * fx + p->a22 * fy);
		if (dx == 0 && dy == 0) {
			v->fixed = 1;
			return;
		}
		next.x -= dx;
		next.y -= dy;
		if (absolute(next.x - from.x) > step_limit || absolute(next.y - from.y) > step_limit)
			return;
		int32_t c = slope(p, next, &bx, &by);
		if (c >= v->cost) {
			v->fixed = 1;
			return;
		}
		v->v = next;
		v->cost = c;
	}
}

static inline void try(patch *p, dis_best *v, dis_vector candidate) {
	if (v->cost == 0 || same_place(v->v, candidate))
		return;
	int32_t c = cost(p, candidate);
	if (c < v->cost) {
		v->v = candidate;
		v->cost = c;
		v->fixed = 0;
	}
}

// whole_cost is cost for a vector of whole pixels, at which every sample of b is read as it is.
static inline int32_t whole_cost(const patch *p, int vx, int vy) {
	const dis_search *s = p->s;
	int x = clamp(p->x + vx, 1 - patch_size, s->width - 1), y = clamp(p->y + vy, 1 - patch_size, s->height - 1);
	const uint8_t *at = p->b + (int64_t)y * s->pitch + x;
	words sd = all(0);
	sums sdd = dot_rows(sd, sd);
	for (int j = 0; j < groups; j++, at += rows_at_once * s->pitch) {
		words d = (widen_rows(at, s->pitch) << 4) - p->a[j];
		sd += d;
		sdd += dot_rows(d, d);
	}
	return total(p, sum_rows(dot_rows(sd, all(1))), sum_rows(sdd));
}

static dis_best reach(patch *p) {
	int r = p->s->reach;
	if (!p->filled)
		fill(p);
	dis_best found = {.cost = INT32_MAX};
	for (int y = -r; y <= r; y++)
		for (int x = -r; x <= r; x++) {
			int32_t e = whole_cost(p, x, y) + reach_toll * (absolute(x) + absolute(y));
			if (e < found.cost) {
				found.v = (dis_vector){x * vector_one, y * vector_one};
				found.cost = e;
			}
		}
	return found;
}

static void first(const dis_search *s, const uint8_t *a, const uint8_t *b, dis_best *dst, int row,
	const dis_vector *coarse, int coarse_width, int coarse_height, int seek) {
	patch p;
	for (int column = 0; column < s->columns; column++) {
		open_patch(&p, s, a, b, column, row);
		dis_best v = {.cost = INT32_MAX};
		if (!coarse) {
			v.cost = cost(&p, v.v);
		} else {
			for (int i = 0; i < s->candidates; i++) {
				int x = (p.x + patch_size / 2 + neighbour_x[i] * s->distance) >> 1;
				int y = (p.y + patch_size / 2 + neighbour_y[i] * s->distance) >> 1;
				dis_vector c = coarse[(int64_t)clamp(y, 0, coarse_height - 1) * coarse_width + clamp(x, 0, coarse_width - 1)];
				c.x *= 2;
				c.y *= 2;
				if (i == 0) {
					v.v = c;
					v.cost = cost(&p, c);
				} else {
					try(&p, &v, c);
				}
			}
		}
		if (seek && v.cost > 0) {
			dis_best found = reach(&p);
			if (2 * found.cost < v.cost) {
				v.v = found.v;
				v.cost = cost(&p, v.v);
			}
		}
		descend(&p, &v);
		v.moved = 1;
		dst[column] = v;
	}
}

// near returns which of n patches along a side is nearest to where v leads from x.
static inline int near(int x, int32_t v, int stride, int n) {
	return clamp((x + ((v + vector_one / 2) >> vector_bits) + stride / 2) / stride, 0, n - 1);
}

static void propagate(const dis_search *s, const uint8_t *a, const uint8_t *b, dis_best *dst, int row,
	const dis_best *own, const dis_best *other) {
	patch p;
	for (int column = 0; column < s->columns; column++) {
		open_patch(&p, s, a, b, column, row);
		const dis_best before = own[(int64_t)row * s->columns + column];
		dis_best v = before;
		for (int i = 1; i <= s->neighbours; i++) {
			int x = column + neighbour_x[i], y = row + neighbour_y[i];
			if (x < 0 || x >= s->columns || y < 0 || y >= s->rows)
				continue;
			const dis_best *c = &own[(int64_t)y * s->columns + x];
			if (c->moved)
				try(&p, &v, c->v);
		}
		int x = near(p.x, before.v.x, s->stride, s->columns), y = near(p.y, before.v.y, s->stride, s->rows);
		const dis_best *c = &other[(int64_t)y * s->columns + x];
		if (c->moved || before.moved) {
			dis_vector back = {-c->v.x, -c->v.y};
			try(&p, &v, back);
		}
		descend(&p, &v);
		v.moved = v.v.x != before.v.x || v.v.y != before.v.y;
		dst[column] = v;
	}
}
