// The parts of calm.h that depend on the type of samples, SAMPLE.

// sparing adds up the rows around samples [x0, x0 + n) as down does, without those that lie still,
// and counts the taps that these would have had. It returns whether anything lies still there.
static inline int NAME(sparing)(const warp_softening *s, const SAMPLE *const rows[5], const uint8_t *const masks[5], int x0, int n,
	uint32_t *restrict down, uint32_t *restrict own) {
	static const uint32_t taps[5] = {1, 4, 6, 4, 1};
	uint32_t all = 0;
	for (int i = 0; i < n; i++) {
		uint32_t sum = 0, count = 0;
		for (int j = 0; j < 5; j++)
			if (lies(s, masks[j], x0 + i))
				count += taps[j];
			else
				sum += taps[j] * rows[j][x0 + i];
		down[i] = sum;
		own[i] = count;
		all |= count;
	}
	return all != 0;
}

// cells softens the samples from the centre of cell from to that of cell to in row y.
static inline void NAME(cells)(const warp_softening *s, uint16_t *restrict dst, const SAMPLE *src, int width, int height, int64_t stride,
	int from, int to, int y) {
	int size = calm_size >> s->sx, first = from * size + size / 2, end = to * size + size / 2;
	int x0 = first > 0 ? first : 0, x1 = end < width ? end : width;
	if (x0 >= x1)
		return;
	uint32_t down[soften_width], own[soften_width], strength[soften_width];
	const SAMPLE *rows[5];
	const uint8_t *masks[5] = {0};
	for (int j = 0; j < 5; j++) {
		int py = clamped(y + j - calm_reach, height);
		rows[j] = src + py * stride;
		if (s->still)
			masks[j] = s->still + (int64_t)(py << s->sy >> s->level) * s->still_stride;
	}
	// Columns [a, b) from x0 - calm_reach on lie inside.
	int n = x1 - x0, left = x0 - calm_reach;
	int a = left < 0 ? -left : 0, b = x1 + calm_reach < width ? n + 2 * calm_reach : width - left;
	int near = s->still && NAME(sparing)(s, rows, masks, left + a, b - a, down + a, own + a);
	if (!near)
		for (int i = a; i < b; i++)
			down[i] = (uint32_t)rows[0][left + i] + rows[4][left + i] + 4u * (rows[1][left + i] + rows[3][left + i]) + 6u * rows[2][left + i];
	repeat_columns(down, a, b, n + 2 * calm_reach);
	if (near)
		repeat_columns(own, a, b, n + 2 * calm_reach);
	set_strengths(s, strength, from, to, y);
	const uint32_t *k = strength + x0 - first;
	const SAMPLE *row = rows[calm_reach] + x0;
	uint16_t *out = dst + (int64_t)y * width + x0;
	if (near)
		for (int i = 0; i < n; i++)
			out[i] = lies(s, masks[calm_reach], x0 + i) ? row[i] : faded(row[i], blurred(down + i) + blurred(own + i) * row[i], k[i]);
	else
		for (int i = 0; i < n; i++)
			out[i] = faded(row[i], blurred(down + i), k[i]);
}

static void NAME(soften)(warp_softening s, uint16_t *dst, const SAMPLE *src, int width, int height, int64_t stride, int y0, int y1) {
	for (int y = y0; y < y1; y++)
		for (int i = 0; i < s.spans; i++)
			for (int from = s.span[i].from, to; from < s.span[i].to; from = to) {
				to = s.span[i].to - from < soften_tile ? s.span[i].to : from + soften_tile;
				NAME(cells)(&s, dst, src, width, height, stride, from, to, y);
			}
}
