// Differences between guides along motions.

// toward returns the part of v that is travelled at a phase of at most 65536. The upper
// halves of v travel whole numbers, so 32 bits do.
static inline ints toward(ints v, int32_t phase) {
	uints low = (uints)(v & 0xffff) * (uint32_t)phase;
	return (v >> 16) * phase + (ints)((low + 32768) >> 16);
}

static inline ints within(warp_guide g, ints x, ints y) {
	ints px = x + 128, py = y + 128;
	return (px >= 0) & (px <= g.width << 8) & (py >= 0) & (py <= g.height << 8);
}

static inline uint16_t two_bytes(const uint8_t *p) {
	uint16_t v;
	memcpy(&v, p, 2);
	return v;
}

static inline ints columns_from(int x) {
#if defined(__AVX2__)
	return x + (ints){0, 1, 2, 3, 4, 5, 6, 7};
#else
	return x + (ints){0, 1, 2, 3};
#endif
}

// read_at reads a guide between the samples at (ix, iy) and the next ones, at the fractions (fx, fy).
static inline ints read_at(warp_guide g, ints ix, ints iy, ints fx, ints fy) {
	ints at = iy * g.stride + ix;
	int32_t o[lanes];
	memcpy(o, &at, sizeof o);
	const uint8_t *p = g.pix, *q = g.pix + g.stride;
	ints across = (fx << 16) + 256 - fx, top, bottom;
	if (!any(at != columns_from(o[0]))) { // the pixels move alike
		top = dot(load_pairs(p + o[0]), across);
		bottom = dot(load_pairs(q + o[0]), across);
		return (top << 8) + (bottom - top) * fy;
	}
#if defined(__AVX2__)
	words upper = {two_bytes(p + o[0]), two_bytes(p + o[1]), two_bytes(p + o[2]), two_bytes(p + o[3]),
		two_bytes(p + o[4]), two_bytes(p + o[5]), two_bytes(p + o[6]), two_bytes(p + o[7])};
	words lower = {two_bytes(q + o[0]), two_bytes(q + o[1]), two_bytes(q + o[2]), two_bytes(q + o[3]),
		two_bytes(q + o[4]), two_bytes(q + o[5]), two_bytes(q + o[6]), two_bytes(q + o[7])};
#else
	words upper = {two_bytes(p + o[0]), two_bytes(p + o[1]), two_bytes(p + o[2]), two_bytes(p + o[3])};
	words lower = {two_bytes(q + o[0]), two_bytes(q + o[1]), two_bytes(q + o[2]), two_bytes(q + o[3])};
#endif
	top = dot(widen_pairs(upper), across);
	bottom = dot(widen_pairs(lower), across);
	return (top << 8) + (bottom - top) * fy;
}

// between_samples reports whether all places lie before the last column and row, and none before the
// first. read_between reads the guide there.
static inline int between_samples(warp_guide g, ints x, ints y) {
	ints right = ((g.width - 1) << 8) - 1 - x, below = ((g.height - 1) << 8) - 1 - y;
	return !any((x | y | right | below) < 0);
}
static inline ints read_between(warp_guide g, ints x, ints y) { return read_at(g, x >> 8, y >> 8, x & 255, y & 255); }

// lookup reads a guide of at least two by two pixels. At the last column or row, and
// beyond, it reads the pair that ends there, with the whole weight on its end.
static inline ints lookup(warp_guide g, ints x, ints y) {
	ints ix = x >> 8, iy = y >> 8, fx = x & 255, fy = y & 255;
	fx = choose(ix >= g.width - 1, all(256), fx & (ix >= 0));
	fy = choose(iy >= g.height - 1, all(256), fy & (iy >= 0));
	ix = greater(lesser(ix, all(g.width - 2)), all(0));
	iy = greater(lesser(iy, all(g.height - 2)), all(0));
	return read_at(g, ix, iy, fx, fy);
}

static inline ints difference(ints a, ints b) { return (magnitude(a - b) + (1 << 11)) >> 12; }

// still returns the differences of pixels that do not move.
static inline ints still(warp_guide a, warp_guide b, int x, int y) {
	return magnitude(load_bytes(a.pix + (int64_t)y * a.stride + x) - load_bytes(b.pix + (int64_t)y * b.stride + x)) << 4;
}

// The last vector of a row ends with the row, and repeats some pixels of the one before.
#define EACH_VECTOR(x, width) \
	for (int x = 0, last_ = (width) - lanes; x < (width); x = x < last_ && x + lanes > last_ ? last_ : x + lanes)

static void disagreement(uint16_t *dst, warp_guide a, warp_guide b, const warp_vec *motion, int stride,
	const warp_vec *bend, int32_t phase, int y0, int y1) {
	for (int y = y0; y < y1; y++) {
		int64_t row = (int64_t)y * a.width;
		EACH_VECTOR(x, a.width) {
			ints vx, vy;
			components(&motion[(int64_t)y * stride + x].x, &vx, &vy);
			ints bent_x = all(0), bent_y = all(0);
			if (bend)
				components(&bend[row + x].x, &bent_x, &bent_y);
			if (!any((vx | vy | bent_x | bent_y) != 0)) {
				store_words(dst + row + x, still(a, b, x, y));
				continue;
			}
			ints ax = (columns_from(x) << 8) - toward(vx, phase) - bent_x, ay = all(y << 8) - toward(vy, phase) - bent_y;
			ints bx = ax + vx, by = ay + vy;
			if (between_samples(a, ax, ay) && between_samples(b, bx, by)) {
				store_words(dst + row + x, difference(read_between(a, ax, ay), read_between(b, bx, by)));
				continue;
			}
			ints d = difference(lookup(a, ax, ay), lookup(b, bx, by));
			store_words(dst + row + x, choose(within(a, ax, ay) ^ within(b, bx, by), all(unseen), d));
		}
	}
}

static void disagreement_beyond(uint16_t *dst, warp_guide near, warp_guide far, const warp_vec *motion, int32_t part,
	int32_t way, int y0, int y1) {
	for (int y = y0; y < y1; y++) {
		int64_t row = (int64_t)y * near.width;
		EACH_VECTOR(x, near.width) {
			ints vx, vy;
			components(&motion[row + x].x, &vx, &vy);
			ints tx = part < 0 ? toward(-vx, -part) : toward(vx, part);
			ints ty = part < 0 ? toward(-vy, -part) : toward(vy, part);
			ints nx = (columns_from(x) << 8) + tx, ny = all(y << 8) + ty;
			ints fx = nx + way * vx, fy = ny + way * vy;
			if (between_samples(near, nx, ny) && between_samples(far, fx, fy)) {
				store_words(dst + row + x, difference(read_between(near, nx, ny), read_between(far, fx, fy)));
				continue;
			}
			ints d = difference(lookup(near, nx, ny), lookup(far, fx, fy));
			d = choose(within(far, fx, fy), d, all(unseen_beyond));
			store_words(dst + row + x, choose(within(near, nx, ny), d, all(hidden)));
		}
	}
}

static void warp_error(uint16_t *dst, warp_guide a, warp_guide b, const warp_vec *flow, int y0, int y1) {
	for (int y = y0; y < y1; y++) {
		const uint8_t *here = a.pix + (int64_t)y * a.stride;
		int64_t row = (int64_t)y * a.width;
		EACH_VECTOR(x, a.width) {
			ints vx, vy;
			components(&flow[row + x].x, &vx, &vy);
			if (!any((vx | vy) != 0)) {
				store_words(dst + row + x, still(a, b, x, y));
				continue;
			}
			ints d = difference(load_bytes(here + x) << 16, lookup(b, (columns_from(x) << 8) + vx, (y << 8) + vy));
			store_words(dst + row + x, d);
		}
	}
}

enum { box_tile = 512, most_radius = 8 };

// box_edge returns the mean over a square that may reach beyond the left or right edge.
static inline uint16_t box_edge(uint32_t total, int x, int width, int radius, int rows, const uint64_t *inverse) {
	int across = (x + radius + 1 < width ? x + radius + 1 : width) - (x - radius > 0 ? x - radius : 0);
	return (uint16_t)((total * inverse[rows * across] + (1u << 31)) >> 32);
}

// add_across sets total to the sums of 2*radius+1 columns.
static inline __attribute__((always_inline)) void add_across(uint32_t *restrict total, const uint32_t *restrict sums, int n, int radius) {
	for (int i = 0; i < n; i++) {
		uint32_t sum = sums[i];
		for (int k = 1; k <= 2 * radius; k++)
			sum += sums[i + k];
		total[i] = sum;
	}
}

// box_mean takes the columns tile by tile, and keeps sums over the rows of a square.
static void box_mean(uint16_t *dst, const uint16_t *src, int width, int height, int radius, const uint64_t *inverse,
	int y0, int y1) {
	uint32_t sums[box_tile + 2 * most_radius], total[box_tile];
	for (int x0 = 0; x0 < width; x0 += box_tile) {
		int n = width - x0 < box_tile ? width - x0 : box_tile;
		int first = x0 - radius > 0 ? x0 - radius : 0;
		int end = x0 + n + radius < width ? x0 + n + radius : width;
		uint32_t *columns = sums + (first - (x0 - radius));
		memset(sums, 0, sizeof sums);
		int held = end - first;
		for (int y = y0 - radius > 0 ? y0 - radius : 0; y < height && y < y0 + radius; y++)
			for (int i = 0; i < held; i++)
				columns[i] += src[(int64_t)y * width + first + i];
		for (int y = y0; y < y1; y++) {
			if (y + radius < height) {
				const uint16_t *in = src + (int64_t)(y + radius) * width + first;
				for (int i = 0; i < held; i++)
					columns[i] += in[i];
			}
			switch (radius) {
			case 1:
				add_across(total, sums, n, 1);
				break;
			case 2:
				add_across(total, sums, n, 2);
				break;
			case 4:
				add_across(total, sums, n, 4);
				break;
			default:
				add_across(total, sums, n, radius);
			}
			int rows = (y + radius + 1 < height ? y + radius + 1 : height) - (y - radius > 0 ? y - radius : 0);
			uint16_t *out = dst + (int64_t)y * width + x0;
			uint32_t whole = (uint32_t)inverse[rows * (2 * radius + 1)];
			for (int i = 0; i < n; i++)
				out[i] = (uint16_t)(((uint64_t)total[i] * whole + (1u << 31)) >> 32);
			for (int i = 0; i < n && x0 + i < radius; i++)
				out[i] = box_edge(total[i], x0 + i, width, radius, rows, inverse);
			for (int i = width - radius > x0 ? width - radius - x0 : 0; i < n; i++)
				out[i] = box_edge(total[i], x0 + i, width, radius, rows, inverse);
			if (y - radius >= 0) {
				const uint16_t *gone = src + (int64_t)(y - radius) * width + first;
				for (int i = 0; i < held; i++)
					columns[i] -= gone[i];
			}
		}
	}
}

static void halve(uint8_t *restrict dst, const uint8_t *restrict a, const uint8_t *restrict b, int n) {
	for (int i = 0; i < n; i++)
		dst[i] = (uint8_t)((a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1] + 2) >> 2);
}
