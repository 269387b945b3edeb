// The blur of what readings contradict.

// soften_tile is the most cells that soften takes together.
enum { soften_tile = 32, soften_width = soften_tile * calm_size + 2 * calm_reach };

static inline int clamped(int v, int end) { return v < 0 ? 0 : v < end ? v : end - 1; }

// repeat_columns sets the columns beyond [a, b) to the ones next to them.
static inline void repeat_columns(uint32_t *sums, int a, int b, int n) {
	for (int i = 0; i < a; i++)
		sums[i] = sums[a];
	for (int i = b; i < n; i++)
		sums[i] = sums[b - 1];
}

// blurred returns 16 times the blurred value at v[2].
static inline uint32_t blurred(const uint32_t *v) { return v[0] + v[4] + 4 * (v[1] + v[3]) + 6 * v[2]; }

// faded returns a sample that is faded by a strength to 1/256 of a sum of blurred ones.
static inline uint16_t faded(uint32_t v, uint32_t sum, uint32_t strength) {
	return (uint16_t)((v * (calm_one - strength) + ((sum + 128) >> 8) * strength + calm_one / 2) / calm_one);
}

// set_strengths sets those of the samples from the centre of cell from on.
static inline void set_strengths(const warp_softening *s, uint32_t *strength, int from, int to, int y) {
	int across = calm_size >> s->sx, size = calm_size >> s->sy, twice = 2 * y + 1 - size;
	int line = twice < 0 ? -1 : twice / (2 * size), part = twice - line * 2 * size;
	const uint16_t *upper = s->strength + (int64_t)(line < 0 ? 0 : line) * s->columns;
	const uint16_t *lower = s->strength + (int64_t)(line + 1 < s->lines ? line + 1 : s->lines - 1) * s->columns;
	int right = 0;
	for (int cell = from; cell <= to; cell++) {
		int at = clamped(cell, s->columns), left = right;
		right = (upper[at] * (2 * size - part) + lower[at] * part) / (2 * size);
		if (cell == from)
			continue;
		int step = 2 * (right - left), k = left * 2 * across + right - left;
		for (int i = 0; i < across; i++, k += step)
			*strength++ = (uint32_t)k >> (4 - s->sx);
	}
}

// lies reports whether column x lies still, in a row of the certainties.
static inline int lies(const warp_softening *s, const uint8_t *row, int x) { return row[x << s->sx >> s->level] >= calm_still; }
