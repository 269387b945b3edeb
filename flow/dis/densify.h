// The flow of pixels, from the vectors of the patches that cover them.

enum { cell_patches = 4 };

// cell_differences sets d to the differences of a cell's samples.
static inline void cell_differences(words d[cell_groups], const place *from, int pitch, const words a[cell_groups]) {
	words upper[cell_groups], lower[cell_groups];
	cell_rows(upper, lower, from->at, pitch, &from->beyond);
	for (int i = 0; i < cell_groups; i++)
		d[i] = between_rows(upper[i], lower[i], &from->beyond) - a[i];
}

// weights returns the weights of differences. The exact quotient is never so close to halfway
// between two integers that rounding it to a float matters.
static inline words weights(words d) {
	words zero = all(0);
	d = greater_rows(greater_rows(d, zero - d), all(16));
	floats lo = floats_of((sums)low_rows(d, zero)), hi = floats_of((sums)high_rows(d, zero));
	const float one = 1 << 20;
	return greater_rows(narrow_rows(nearest_rows(one / (lo * lo)), nearest_rows(one / (hi * hi))), all(1));
}

// wide sets a cell's vectors if some are too far apart for blend.
static void wide(const dis_vector *v, int n, const words w[][cell_groups], dis_vector *dst) {
	enum { held = cell * cell / cell_groups };
	for (int i = 0; i < cell * cell; i++) {
		int64_t x = 0, y = 0, all = 0;
		for (int k = 0; k < n; k++) {
			int64_t weight = w[k][i / held][i % held];
			x += weight * v[k].x;
			y += weight * v[k].y;
			all += weight;
		}
		dst[i].x = nearest1((float)x / (float)all);
		dst[i].y = nearest1((float)y / (float)all);
	}
}

// blend sets a cell's vectors, each a mean of four. It sums 32-bit differences from the
// first vector.
static inline void blend(const dis_vector *v, const words w[][cell_groups], dis_vector *dst) {
	words zero = all(0);
	words x12 = both(v[1].x - v[0].x, v[2].x - v[0].x), x3 = both(v[3].x - v[0].x, 0);
	words y12 = both(v[1].y - v[0].y, v[2].y - v[0].y), y3 = both(v[3].y - v[0].y, 0);
	for (int i = 0; i < cell_groups; i++) {
		words all = w[0][i] + w[1][i] + w[2][i] + w[3][i]; // at most 16384
		for (int j = 0; j < 2; j++) {
			words w12 = j ? high_rows(w[1][i], w[2][i]) : low_rows(w[1][i], w[2][i]);
			words w3 = j ? high_rows(w[3][i], zero) : low_rows(w[3][i], zero);
			sums weight = (sums)(j ? high_rows(all, zero) : low_rows(all, zero));
			sums sx = dot_rows(w12, x12) + dot_rows(w3, x3), sy = dot_rows(w12, y12) + dot_rows(w3, y3);
			floats divisor = floats_of(weight);
			store_pairs(&dst[cell * (2 * i + j)].x, nearest_rows(scaled_rows(weight, v[0].x, sx) / divisor),
				nearest_rows(scaled_rows(weight, v[0].y, sy) / divisor));
		}
	}
}

// alike reports whether all vectors are equal, and so short that their mean is the same vector.
static inline int alike(const dis_vector *v, int n) {
	enum { most_length = 1 << 20 };
	int32_t apart = 0;
	for (int k = 1; k < n; k++)
		apart |= (v[k].x ^ v[0].x) | (v[k].y ^ v[0].y);
	return apart == 0 && absolute(v[0].x) < most_length && absolute(v[0].y) < most_length;
}

// weighted sets a cell's vectors to the weighted means of n vectors. (x, y) is the cell's first
// pixel, and a points to the sample there.
static inline void weighted(const dis_search *s, const uint8_t *a, const uint8_t *b, int x, int y, const dis_vector *v, int n,
	dis_vector *out) {
	words samples[cell_groups], w[cell_patches][cell_groups];
	for (int i = 0; i < cell_groups; i++)
		samples[i] = widen_cell(a + (int64_t)(cell / cell_groups) * i * s->pitch, s->pitch) << 4;
	int apart = 0;
	for (int k = 0; k < n; k++) {
		apart |= absolute(v[k].x - v[0].x) >= narrow_limit || absolute(v[k].y - v[0].y) >= narrow_limit;
		place from = place_of(s, b, x, y, v[k], cell);
		words d[cell_groups];
		cell_differences(d, &from, s->pitch, samples);
		for (int i = 0; i < cell_groups; i++)
			w[k][i] = weights(d[i]);
	}
	if (apart) {
		wide(v, n, w, out);
		return;
	}
	dis_vector four[cell_patches];
	for (int k = 0; k < cell_patches; k++) {
		four[k] = v[k < n ? k : 0];
		for (int i = 0; i < cell_groups && k >= n; i++)
			w[k][i] = all(0);
	}
	blend(four, w, out);
}

static void densify(const dis_search *s, const uint8_t *a, const uint8_t *b, dis_vector *dst, int row,
	const dis_best *patches) {
	int y = cell * row, height = s->height - y < cell ? s->height - y : cell;
	int first_row = row > 0 ? row - 1 : 0, last_row = row < s->rows ? row : s->rows - 1;
	const uint8_t *from = a + (int64_t)y * s->pitch;
	for (int x = 0, column = 0; x < s->width; x += cell, column++, from += cell) {
		int first_column = column > 0 ? column - 1 : 0, last_column = column < s->columns ? column : s->columns - 1;
		dis_vector v[cell_patches] = {{0}}, out[cell * cell];
		int n = 0;
		for (int r = first_row; r <= last_row; r++)
			for (int c = first_column; c <= last_column; c++)
				v[n++] = patches[(int64_t)r * s->columns + c].v;
		if (alike(v, n))
			for (int i = 0; i < cell * cell; i++)
				out[i] = v[0];
		else
			weighted(s, from, b, x, y, v, n, out);
		int width = s->width - x < cell ? s->width - x : cell;
		for (int j = 0; j < height; j++)
			memcpy(dst + (int64_t)j * s->width + x, out + cell * j, (width == cell ? cell : width) * sizeof(dis_vector));
	}
}

static inline int settled(int32_t v, int32_t limit) { return clamp((v + 2) >> 2, -limit, limit); }

static void settle(dis_vector *dst, const dis_vector *src, int n, int32_t limit) {
	int32_t *restrict out = &dst->x;
	const int32_t *restrict in = &src->x;
	for (int i = 0; i < 2 * n; i++)
		out[i] = settled(in[i], limit);
}

static inline int32_t halved(int32_t a, int32_t b, int32_t c, int32_t d, int32_t limit) {
	return (settled(a, limit) + settled(b, limit) + settled(c, limit) + settled(d, limit) + 4) >> 3;
}

static void settle_halved(dis_vector *restrict dst, const dis_vector *upper, const dis_vector *lower, int n, int32_t limit) {
	for (int i = 0; i < n / 2; i++) {
		const dis_vector *u = upper + 2 * i, *l = lower + 2 * i;
		dst[i].x = halved(u[0].x, u[1].x, l[0].x, l[1].x, limit);
		dst[i].y = halved(u[0].y, u[1].y, l[0].y, l[1].y, limit);
	}
	if (n % 2) {
		dis_vector u = upper[n - 1], l = lower[n - 1];
		dst[n / 2] = (dis_vector){halved(u.x, u.x, l.x, l.x, limit), halved(u.y, u.y, l.y, l.y, limit)};
	}
}
