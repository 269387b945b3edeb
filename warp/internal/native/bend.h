// Accelerations of cells, and their spread over the pixels.

// slow_change sums up a cell for any factors.
static inline void slow_change(const warp_accelerations *a, warp_change *sum, int64_t *mx, int64_t *my, int x0, int x1, int y) {
	for (int64_t i = (int64_t)y * a->width + x0; i < (int64_t)y * a->width + x1; i++) {
		warp_vec u = a->inner[i], v = a->outer[i];
		*mx += u.x;
		*my += u.y;
		int64_t x = ((int64_t)u.x * a->inner_factor + (int64_t)v.x * a->outer_factor + phase_one / 2) >> 16;
		int64_t y = ((int64_t)u.y * a->inner_factor + (int64_t)v.y * a->outer_factor + phase_one / 2) >> 16;
		int worst = a->inner_error[i] > a->outer_error[i] ? a->inner_error[i] : a->outer_error[i];
		if (x >= a->limit || x <= -a->limit || y >= a->limit || y <= -a->limit || worst >= a->credit_length)
			continue;
		int64_t credit = a->credit[worst];
		sum->x += credit * x;
		sum->y += credit * y;
		sum->credit += credit;
	}
}

static inline i32x4 load_pair(const warp_vec *p) {
	i32x4 v;
	memcpy(&v, p, sizeof v);
	return v;
}

// The last credit is 0.
static inline int32_t credit_at(const warp_accelerations *a, int64_t i) {
	int worst = a->inner_error[i] > a->outer_error[i] ? a->inner_error[i] : a->outer_error[i];
	return (int32_t)a->credit[worst < a->credit_length ? worst : a->credit_length - 1];
}

// plain_change sums up a whole cell whose factors are 1, two pixels at once: components
// alternate. It returns 0 if a vector is too long for 32 bits.
static inline int plain_change(const warp_accelerations *a, warp_change *sum, warp_vec *mean, int x0, int y0) {
	enum { most_length = 1 << 24 };
	i32x4 moved = {0}, changed = {0}, lengths = {0};
	int32_t limit = (int32_t)a->limit, credits = 0;
	for (int y = y0; y < y0 + a->size; y++)
		for (int64_t i = (int64_t)y * a->width + x0, end = i + a->size; i < end; i += 2) {
			i32x4 u = load_pair(a->inner + i), v = load_pair(a->outer + i);
			lengths |= (u ^ (u >> 31)) | (v ^ (v >> 31));
			i32x4 s = u + v, fits = (s < limit) & (s > -limit);
			fits &= __builtin_shufflevector(fits, fits, 1, 0, 3, 2);
			int32_t first = credit_at(a, i), second = credit_at(a, i + 1);
			i32x4 credit = (i32x4){first, first, second, second} & fits;
			moved += u;
			changed += credit * s;
			credits += credit[0] + credit[2];
		}
	if ((lengths[0] | lengths[1] | lengths[2] | lengths[3]) >= most_length)
		return 0;
	int n = a->size * a->size;
	*mean = (warp_vec){(moved[0] + moved[2]) / n, (moved[1] + moved[3]) / n};
	*sum = (warp_change){changed[0] + changed[2], changed[1] + changed[3], credits};
	return 1;
}

static void accelerations(warp_accelerations a, int y0, int y1) {
	int columns = (a.width + a.size - 1) / a.size, size = a.size;
	int plain = a.inner_factor == phase_one && a.outer_factor == phase_one && size % 2 == 0 && size <= most_cell &&
		a.limit <= 1 << 14 && a.most_credit <= 256;
	for (int cy = y0; cy < y1; cy++)
		for (int cx = 0; cx < columns; cx++) {
			int x0 = cx * size, top = cy * size;
			int x1 = x0 + size < a.width ? x0 + size : a.width, bottom = top + size < a.height ? top + size : a.height;
			warp_change *sum = &a.change[(int64_t)cy * columns + cx];
			warp_vec *mean = &a.motion[(int64_t)cy * columns + cx];
			if (plain && x1 - x0 == size && bottom - top == size && plain_change(&a, sum, mean, x0, top))
				continue;
			int64_t mx = 0, my = 0, n = (int64_t)(x1 - x0) * (bottom - top);
			*sum = (warp_change){0, 0, 0};
			for (int y = top; y < bottom; y++)
				slow_change(&a, sum, &mx, &my, x0, x1, y);
			*mean = (warp_vec){(int32_t)(mx / n), (int32_t)(my / n)};
		}
}

// nearest_of returns the nearest integers, ties away from zero.
static inline i32x4 nearest_of(f32x4 v) {
	i32x4 sign = v < 0;
	f32x4 magnitude = (f32x4)((i32x4)v & 0x7fffffff) + 0.5f;
	return (__builtin_convertvector(magnitude, i32x4) ^ sign) - sign;
}

// spread_bends takes the pixels between the centres of two cells together: the first ones
// begin half a cell before the picture.
static void spread_bends(warp_vec *dst, const float *cells, int columns, int rows, int size, float scale, int width, int y0, int y1) {
	for (int y = y0; y < y1; y++) {
		int twice = 2 * y + 1 - size, cy = twice < 0 ? -1 : twice / (2 * size);
		float fy = (float)(twice - cy * 2 * size) / (float)(2 * size);
		const float *upper = cells + (int64_t)(cy < 0 ? 0 : cy) * columns * 2;
		const float *lower = cells + (int64_t)(cy + 1 < rows ? cy + 1 : rows - 1) * columns * 2;
		warp_vec *out = dst + (int64_t)y * width;
		for (int x = -(size / 2), left = -1; x < width; x += size, left++) {
			int l = left < 0 ? 0 : left < columns ? left : columns - 1, r = left + 1 < columns ? left + 1 : columns - 1;
			f32x4 a = pairs(upper + 2 * l, upper + 2 * l), b = pairs(upper + 2 * r, upper + 2 * r);
			f32x4 c = pairs(lower + 2 * l, lower + 2 * l), d = pairs(lower + 2 * r, lower + 2 * r);
			f32x4 across_upper = b - a, across_lower = d - c;
			warp_vec group[most_cell];
			for (int i = 0; i < size; i += 2) {
				float f0 = (float)(2 * i + 1) / (float)(2 * size), f1 = (float)(2 * i + 3) / (float)(2 * size);
				f32x4 fx = {f0, f0, f1, f1};
				f32x4 top = a + fx * across_upper, bottom = c + fx * across_lower;
				i32x4 v = nearest_of((top + fy * (bottom - top)) * scale);
				memcpy(&group[i], &v, sizeof v);
			}
			int first = x < 0 ? -x : 0, end = width - x < size ? width - x : size;
			memcpy(out + x + first, group + first, (size_t)(end - first) * sizeof(warp_vec));
		}
	}
}
