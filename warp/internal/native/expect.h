// What the neighbours show in the middles of cells.

// shown are what the neighbours show along the guesses in the middles of cells.
typedef struct {
	int32_t value[2][most_guesses], weight[2][most_guesses];
	int32_t end[render_tile]; // of a cell's guesses
	int32_t count;
} shown;

// keep_middles leaves the guesses in the middles of the cells that lie in columns [x0, x1), and
// returns the number of these cells.
static inline int keep_middles(guesses *g, shown *to, int x0, int x1, int size) {
	int n = 0, cells = 0;
	for (int x = 0; x < x1 - x0; x += size) {
		int at = x + size / 2 < x1 - x0 ? x + size / 2 : x1 - x0 - 1;
		for (int k = at > 0 ? g->end[at - 1] : 0; k < g->end[at]; k++, n++) {
			g->x[n] = g->x[k];
			g->y[n] = g->y[k];
			g->bend_x[n] = g->bend_x[k];
			g->bend_y[n] = g->bend_y[k];
			g->share[n] = g->share[k];
			g->seen[n] = g->seen[k];
			g->cell[n] = g->cell[k];
		}
		to->end[cells++] = n;
	}
	to->count = n;
	return cells;
}

static inline ints reading_weight(ints share, ints part, ints within) {
	ints v = (ints)(((uints)share * (uints)part) >> 8);
	return v * choose(within, all(inside_factor), all(outside_factor));
}

// read_guides looks the guesses up.
static inline void read_guides(const warp_scene *s, const guesses *g, shown *to, int x0, int y) {
	warp_guide a = s->guide[0], b = s->guide[1];
	for (int i = 0; i < to->count; i += lanes) {
		ints vx = load(g->x + i), vy = load(g->y + i), seen = load(g->seen + i), share = load(g->share + i);
		ints ax = ((x0 + load(g->cell + i)) << 8) - load(g->bend_x + i) - toward(vx, s->phase);
		ints ay = (y << 8) - load(g->bend_y + i) - toward(vy, s->phase);
		ints bx = ax + vx, by = ay + vy, both = seen == seen_in_both;
		ints first = choose(both, all(phase_one - s->phase), (seen == seen_in_first) & phase_one);
		ints second = choose(both, all(s->phase), (seen == seen_in_second) & phase_one);
		store_ints(to->value[0] + i, lookup(a, ax, ay) >> 12);
		store_ints(to->value[1] + i, lookup(b, bx, by) >> 12);
		store_ints(to->weight[0] + i, reading_weight(share, first, within(a, ax, ay)));
		store_ints(to->weight[1] + i, reading_weight(share, second, within(b, bx, by)));
	}
}

// expect_of divides as floats of 64 bits, which hold the dividends: an inexact quotient is then
// never rounded up to an integer.
static inline void expect_of(const shown *r, int begin, int end, uint32_t *mean, uint32_t *error) {
	double total = 0, sum = 0;
	for (int k = begin; k < end; k++)
		for (int i = 0; i < 2; i++) {
			total += r->weight[i][k];
			sum += (double)r->weight[i][k] * r->value[i][k];
		}
	*mean = *error = 0;
	if (total == 0)
		return;
	int32_t m = (int32_t)(sum / total);
	int64_t e = 0;
	for (int k = begin; k < end; k++)
		for (int i = 0; i < 2; i++) {
			int64_t part = (int32_t)(r->weight[i][k] * 256.0 / total) * (int64_t)(r->value[i][k] - m);
			e += part * part;
		}
	*mean = (uint32_t)m;
	*error = (uint32_t)(e >> 15);
}

// expect sets the means and the errors of the cells in columns [x0, x1) of row y, if that is their
// middle row. It leaves only these cells' guesses. x0 is where a cell begins, as every tile does.
static inline void expect(const warp_scene *s, int y, int x0, int x1, guesses *list) {
	int size = calm_size >> s->level, line = y / size, middle = line * size + size / 2;
	if (y != (middle < s->guide[0].height ? middle : s->guide[0].height - 1))
		return;
	shown r;
	int cells = keep_middles(list, &r, x0, x1, size);
	read_guides(s, list, &r, x0, y);
	int64_t at = (int64_t)line * s->columns + x0 / size;
	for (int c = 0; c < cells; c++)
		expect_of(&r, c > 0 ? r.end[c - 1] : 0, r.end[c], s->mean + at + c, s->error + at + c);
}
