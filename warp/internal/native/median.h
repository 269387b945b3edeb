// Means of vectors, and medians over three by three pixels.

static inline int32_t lesser1(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t greater1(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int32_t median3(int32_t a, int32_t b, int32_t c) {
	return greater1(lesser1(a, b), lesser1(greater1(a, b), c));
}

enum { median_tile = 256 };

// median sorts columns first. Components of a vector alternate, so those of the next
// column are two elements on.
static void median(warp_vec *dst, const warp_vec *src, int32_t sign, int width, int height, int y0, int y1) {
	uint32_t flip = (uint32_t)(sign >> 1); // for -1, all bits
	int32_t least[2 * (median_tile + 2)], middle[2 * (median_tile + 2)], most[2 * (median_tile + 2)];
	for (int y = y0; y < y1; y++) {
		const warp_vec *above = src + (int64_t)(y > 0 ? y - 1 : 0) * width, *here = src + (int64_t)y * width;
		const warp_vec *below = src + (int64_t)(y < height - 1 ? y + 1 : y) * width;
		for (int x0 = 0; x0 < width; x0 += median_tile) {
			int n = width - x0 < median_tile ? width - x0 : median_tile;
			int first = x0 > 0 ? x0 - 1 : 0, end = x0 + n < width ? x0 + n + 1 : width;
			int at = 2 * (first - (x0 - 1)), held = 2 * (end - first);
			const int32_t *a = &above[first].x, *b = &here[first].x, *c = &below[first].x;
			for (int i = 0; i < held; i++) {
				int32_t low = lesser1(a[i], b[i]), high = greater1(a[i], b[i]);
				int32_t top = greater1(high, c[i]), rest = lesser1(high, c[i]);
				least[at + i] = lesser1(low, rest);
				middle[at + i] = greater1(low, rest);
				most[at + i] = top;
			}
			for (int k = 0; k < 2; k++) {
				int left = k, right = 2 * (n + 1) + k;
				if (x0 == 0)
					least[left] = least[left + 2], middle[left] = middle[left + 2], most[left] = most[left + 2];
				if (x0 + n == width)
					least[right] = least[right - 2], middle[right] = middle[right - 2], most[right] = most[right - 2];
			}
			int32_t *out = &dst[(int64_t)y * width + x0].x;
			for (int i = 0; i < 2 * n; i++) {
				int32_t low = greater1(greater1(least[i], least[i + 2]), least[i + 4]);
				int32_t high = lesser1(lesser1(most[i], most[i + 2]), most[i + 4]);
				uint32_t v = (uint32_t)median3(low, median3(middle[i], middle[i + 2], middle[i + 4]), high);
				out[i] = (int32_t)((v ^ flip) - flip);
			}
		}
	}
}

static void average(warp_vec *dst, warp_rows rows, int count, int shift, int n) {
	int32_t *restrict out = &dst->x;
	const int32_t *a = &rows.row[0]->x, *b = &rows.row[1]->x;
	if (count == 2) {
		for (int i = 0; i < 2 * n; i++)
			out[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]) >> shift;
		return;
	}
	const int32_t *c = &rows.row[2]->x, *d = &rows.row[3]->x;
	for (int i = 0; i < 2 * n; i++)
		out[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i] + (uint32_t)c[i] + (uint32_t)d[i]) >> shift;
}
