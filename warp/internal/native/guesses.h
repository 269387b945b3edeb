// The motions that count at each pixel of the grid.

enum { render_tile = 64 };

// What a tile's pixels may need, and a vector that is written as a whole.
enum { most_guesses = render_tile * warp_most_hypotheses + lanes };

// guesses are those of a tile's pixels in turn; those of pixel i end at end[i].
typedef struct {
	int32_t x[most_guesses], y[most_guesses], bend_x[most_guesses], bend_y[most_guesses];
	int32_t share[most_guesses], seen[most_guesses];
	int32_t cell[most_guesses]; // the pixel's place in the tile
	int32_t end[render_tile];
	int32_t count;
} guesses;

static inline ints near(ints a, ints b) { return (uints)a - (uints)b + (uints)all(same_motion) <= (uints)all(2 * same_motion); }

// moved returns a + v, rounded, where v is shorter than shift_radius. Other lanes may be anything.
static inline ints moved(ints a, vectors v) {
	enum { above = 1 << 12 };
	return (ints)((uints)a + (uints)__builtin_convertvector(v + (above + 0.5f), ints) - (uints)all(above));
}

// lanes_of returns the mask with these bits.
static inline ints lanes_of(unsigned b) {
	ints bit = 1 << columns_from(0);
	return ((int32_t)b & bit) != 0;
}

// head is a motion that differs from those of earlier heads, at some of the lanes.
typedef struct {
	ints x, y, at, share;
	int hypothesis;
} head;

static inline void store_ints(int32_t *p, ints v) { memcpy(p, &v, sizeof v); }

// append_all appends one guess for each lane.
static inline void append_all(const warp_scene *s, const head *h, int64_t i, int tile, guesses *g) {
	int n = g->count;
	ints bx = all(0), by = all(0);
	if (s->bend && s->bends[h->hypothesis])
		components(&s->bend[i].x, &bx, &by);
	store_ints(g->x + n, h->x);
	store_ints(g->y + n, h->y);
	store_ints(g->bend_x + n, bx);
	store_ints(g->bend_y + n, by);
	store_ints(g->share + n, h->share);
	store_ints(g->seen + n, all(s->seen[h->hypothesis]));
	store_ints(g->cell + n, columns_from(tile));
	store_ints(g->end + tile, columns_from(n + 1));
	g->count = n + lanes;
}

// append_one appends for each lane the one guess that is kept.
static inline void append_one(const warp_scene *s, const head *heads, const unsigned *kept, int count, int64_t i, int tile, guesses *g) {
	int n = g->count;
	ints x = all(0), y = all(0), share = all(0), seen = all(0), bends = all(0), bx = all(0), by = all(0);
	for (int j = 0; j < count; j++) {
		if (kept[j] == 0)
			continue;
		const head *h = &heads[j];
		ints mine = lanes_of(kept[j]);
		x |= h->x & mine;
		y |= h->y & mine;
		share |= h->share & mine;
		seen |= s->seen[h->hypothesis] & mine;
		if (s->bends[h->hypothesis])
			bends |= mine;
	}
	if (s->bend)
		components(&s->bend[i].x, &bx, &by);
	store_ints(g->x + n, x);
	store_ints(g->y + n, y);
	store_ints(g->bend_x + n, bx & bends);
	store_ints(g->bend_y + n, by & bends);
	store_ints(g->share + n, share);
	store_ints(g->seen + n, seen);
	store_ints(g->cell + n, columns_from(tile));
	store_ints(g->end + tile, columns_from(n + 1));
	g->count = n + lanes;
}

// alone reports whether each lane keeps one of its heads.
static inline int alone(const unsigned *kept, int count) {
	unsigned once = 0, twice = 0;
	for (int j = 0; j < count; j++) {
		twice |= once & kept[j];
		once |= kept[j];
	}
	return once == (1u << lanes) - 1 && twice == 0;
}

// append appends a lane's guess.
static inline void append(const warp_scene *s, const head *h, int64_t i, int lane, int tile, guesses *g) {
	int n = g->count++;
	warp_vec bend = s->bend && s->bends[h->hypothesis] ? s->bend[i + lane] : (warp_vec){0, 0};
	g->x[n] = h->x[lane];
	g->y[n] = h->y[lane];
	g->bend_x[n] = bend.x;
	g->bend_y[n] = bend.y;
	g->share[n] = h->share[lane];
	g->seen[n] = s->seen[h->hypothesis];
	g->cell[n] = tile + lane;
}

// attract returns where a head moves among count heads, and how dense these are around it. shares
// are the heads', as floats, and 0 at other lanes; square is the radius, squared.
static inline vectors attract(const warp_scene *s, const head *heads, const unsigned *kept, const vectors *shares, int count, int own, float square, ints *to_x,
                              ints *to_y) {
	const head *h = &heads[own];
	int seen = s->seen[h->hypothesis];
	vectors zero = {0}, x = zero, y = zero, sum = zero, dense = zero;
	for (int k = 0; k < count; k++) {
		if ((kept[k] & kept[own]) == 0)
			continue;
		vectors dx = __builtin_convertvector(heads[k].x - h->x, vectors), dy = __builtin_convertvector(heads[k].y - h->y, vectors);
		vectors near = square - (dx * dx + dy * dy);
		vectors attraction = (vectors)((ints)(near * near * shares[k]) & (near > 0));
		dense += attraction;
		if (s->seen[heads[k].hypothesis] != seen)
			continue;
		attraction *= shares[k];
		sum += attraction;
		x += attraction * dx;
		y += attraction * dy;
	}
	vectors inverse = 1 / sum;
	*to_x = moved(h->x, x * inverse);
	*to_y = moved(h->y, y * inverse);
	return dense;
}

// shift moves the heads that are kept at some lanes to where they are dense, and returns the number of
// those that differ then. kept tells their lanes, before and after. A lane's only head stays.
static inline int shift(const warp_scene *s, head *heads, unsigned *kept, int count, float square) {
	vectors shares[warp_most_hypotheses], density[warp_most_hypotheses], most = {0};
	ints x[warp_most_hypotheses], y[warp_most_hypotheses];
	int n = 0;
	for (int k = 0; k < count; k++) {
		if (kept[k] == 0)
			continue;
		shares[n] = __builtin_convertvector(heads[k].share & lanes_of(kept[k]), vectors);
		kept[n] = kept[k];
		heads[n++] = heads[k];
	}
	for (int k = 0; k < n; k++) {
		density[k] = attract(s, heads, kept, shares, n, k, square, &x[k], &y[k]);
		density[k] = (vectors)((ints)density[k] & lanes_of(kept[k]));
		most = (vectors)choose(density[k] > most, (ints)density[k], (ints)most);
	}
	vectors scale = 0.5f / most;
	int end = 0;
	for (int k = 0; k < n; k++) {
		ints share = __builtin_convertvector(shares[k] * ((density[k] + most) * scale) + 0.5f, ints), rest = lanes_of(kept[k]);
		int hypothesis = heads[k].hypothesis;
		for (int j = 0; j < end; j++) {
			head *h = &heads[j];
			if (s->seen[h->hypothesis] != s->seen[hypothesis])
				continue;
			ints same = rest & h->at & near(h->x, x[k]) & near(h->y, y[k]);
			h->share += share & same;
			rest &= ~same;
		}
		if (any(rest)) {
			kept[end] = bits(rest);
			heads[end++] = (head){x[k], y[k], rest, share & rest, hypothesis};
		}
	}
	return end;
}

// gather_vector appends the guesses of the lanes from skip on. (x0, y) is the first lane's
// pixel, and tile is its place in the tile.
static inline void gather_vector(const warp_scene *s, int x0, int y, int skip, int tile, guesses *g) {
	int64_t i = (int64_t)y * s->width + x0;
	head heads[warp_most_hypotheses];
	int count = 0;
	ints total = all(0);
	for (int k = 0; k < s->hypotheses; k++) {
		ints w = load_words(s->weight[k] + i), rest = w > 0, vx, vy;
		if (!any(rest))
			continue;
		total += w;
		components(&s->motion[k][(int64_t)y * s->stride[k] + x0].x, &vx, &vy);
		for (int j = 0; j < count; j++) {
			head *h = &heads[j];
			if (s->seen[h->hypothesis] != s->seen[k])
				continue;
			ints same = rest & h->at & near(h->x, vx) & near(h->y, vy);
			h->share += w & same;
			rest &= ~same;
			if (!any(rest))
				break;
		}
		if (any(rest)) {
			heads[count] = (head){vx, vy, rest, w & rest, k};
			count++;
		}
	}
	if (skip == 0 && count == 1 && !any(~heads[0].at)) {
		append_all(s, &heads[0], i, tile, g);
		return;
	}
	unsigned kept[warp_most_hypotheses];
	for (int j = 0; j < count; j++)
		kept[j] = bits(heads[j].at & ((heads[j].share * least_share) >= total));
	if (!alone(kept, count)) {
		float radius = (float)(shift_radius >> s->level);
		count = shift(s, heads, kept, count, radius * radius);
	}
	if (skip == 0 && alone(kept, count)) {
		append_one(s, heads, kept, count, i, tile, g);
		return;
	}
	for (int lane = skip; lane < lanes; lane++) {
		for (int j = 0; j < count; j++)
			if (kept[j] >> lane & 1)
				append(s, &heads[j], i, lane, tile, g);
		g->end[tile + lane] = g->count;
	}
}

// fetch_ahead asks for the memory that gather reads for the tile at x of row y. There are more
// streams of it than the processor follows by itself.
static inline void fetch_ahead(const warp_scene *s, int y, int x) {
	enum { line = 64 };
	for (int k = 0; k < s->hypotheses; k++) {
		const char *weight = (const char *)s->weight[k] + ((int64_t)y * s->width + x) * (int64_t)sizeof(uint16_t);
		const char *motion = (const char *)s->motion[k] + ((int64_t)y * s->stride[k] + x) * (int64_t)sizeof(warp_vec);
		for (int i = 0; i < render_tile * (int)sizeof(uint16_t); i += line)
			__builtin_prefetch(weight + i);
		for (int i = 0; i < render_tile * (int)sizeof(warp_vec); i += line)
			__builtin_prefetch(motion + i);
	}
}

// gather sets the guesses of pixels [x0, x1) of row y. The last vector of a row ends with
// the row.
static inline void gather(const warp_scene *s, int y, int x0, int x1, guesses *g) {
	g->count = 0;
	for (int x = x0; x < x1;) {
		int from = x + lanes <= s->width ? x : s->width - lanes;
		gather_vector(s, from, y, x - from, from - x0, g);
		x = from + lanes;
	}
}
