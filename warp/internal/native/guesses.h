// The motions that count at each pixel of the grid.

enum { phase_one = 65536, seen_in_neither, seen_in_first = 1, seen_in_second, seen_in_both };
enum { least_share = 32, same_motion = 64, inside_factor = 100, outside_factor = 1, shift_radius = 3072 };
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

static inline ints near(ints a, ints b) { return (uints)(a - b + same_motion) <= (uints)all(2 * same_motion); }
static inline int near_one(int32_t a, int32_t b) { return (uint32_t)(a - b + same_motion) <= 2 * same_motion; }

// nearest rounds parts of motions, which are shorter than shift_radius.
static inline ints nearest(vectors v) {
	enum { above = 1 << 12 };
	return __builtin_convertvector(v + (above + 0.5f), ints) - above;
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

// attract sets, for the guesses from k on, one a lane, where they move among the count guesses from
// begin on, and how dense these are around them. square is the radius, squared.
static inline void attract(const guesses *g, int begin, int count, int k, float square, int32_t *to_x, int32_t *to_y, float *density) {
	ints own_x = load(g->x + begin + k), own_y = load(g->y + begin + k), own_seen = load(g->seen + begin + k);
	vectors zero = {0}, x = zero, y = zero, sum = zero, dense = zero;
	for (int i = begin; i < begin + count; i++) {
		vectors dx = __builtin_convertvector(g->x[i] - own_x, vectors), dy = __builtin_convertvector(g->y[i] - own_y, vectors);
		vectors near = square - (dx * dx + dy * dy);
		float share = (float)g->share[i];
		vectors attraction = (vectors)((ints)(near * near * share) & (near > 0));
		dense += attraction;
		attraction = (vectors)((ints)(attraction * share) & (own_seen == g->seen[i]));
		sum += attraction;
		x += attraction * dx;
		y += attraction * dy;
	}
	vectors inverse = 1 / sum;
	store_ints(to_x + k, own_x + nearest(x * inverse));
	store_ints(to_y + k, own_y + nearest(y * inverse));
	memcpy(density + k, &dense, sizeof dense);
}

// shift moves the last guesses, from begin on, to where they are dense, and leaves those that differ
// then.
static inline void shift(guesses *g, int begin, float square) {
	int32_t x[warp_most_hypotheses], y[warp_most_hypotheses];
	float density[warp_most_hypotheses], most = 0;
	int count = g->count - begin;
	for (int k = 0; k < count; k += lanes)
		attract(g, begin, count, k, square, x, y, density);
	for (int k = 0; k < count; k++)
		most = density[k] > most ? density[k] : most;
	float scale = 0.5f / most;
	int end = begin;
	for (int k = 0; k < count; k++) {
		int from = begin + k, seen = g->seen[from], j = begin;
		int32_t share = (int32_t)((float)g->share[from] * ((density[k] + most) * scale) + 0.5f);
		while (j < end && !(g->seen[j] == seen && near_one(g->x[j], x[k]) && near_one(g->y[j], y[k])))
			j++;
		if (j < end) {
			g->share[j] += share;
			continue;
		}
		g->x[end] = x[k];
		g->y[end] = y[k];
		g->bend_x[end] = g->bend_x[from];
		g->bend_y[end] = g->bend_y[from];
		g->share[end] = share;
		g->seen[end] = seen;
		g->cell[end++] = g->cell[from];
	}
	g->count = end;
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
	unsigned kept[warp_most_hypotheses], once = 0, twice = 0;
	for (int j = 0; j < count; j++) {
		kept[j] = bits(heads[j].at & ((heads[j].share * least_share) >= total));
		twice |= once & kept[j];
		once |= kept[j];
	}
	if (skip == 0 && once == (1u << lanes) - 1 && twice == 0) {
		append_one(s, heads, kept, count, i, tile, g);
		return;
	}
	float radius = (float)(shift_radius >> s->level);
	for (int lane = skip; lane < lanes; lane++) {
		int begin = g->count;
		for (int j = 0; j < count; j++)
			if (kept[j] >> lane & 1)
				append(s, &heads[j], i, lane, tile, g);
		if (g->count > begin + 1)
			shift(g, begin, radius * radius);
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
