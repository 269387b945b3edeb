// The choice among hypotheses: energies, means of cells, shares, and their smoothing.

enum { choice_tile = 256 };

static inline int32_t most_of(int32_t a, int32_t b) { return a > b ? a : b; }

static int64_t weigh(warp_energies e, int i0, int i1) {
	int64_t sum = 0;
	int32_t least[choice_tile], gate[2][choice_tile];
	for (; i0 < i1; i0 += choice_tile) {
		int n = i1 - i0 < choice_tile ? i1 - i0 : choice_tile;
		for (int i = 0; i < n; i++)
			least[i] = INT32_MAX;
		for (int k = 0; k < e.hypotheses; k++) {
			const uint16_t *cost = e.cost[k] + i0;
			if (e.kind[k] == projected)
				for (int i = 0; i < n; i++)
					least[i] = cost[i] < least[i] ? cost[i] : least[i];
		}
		uint32_t total = 0;
		for (int i = 0; i < n; i++)
			total += (uint32_t)least[i];
		sum += total;
		for (int i = 0; i < n; i++) {
			int at = least[i] < e.gate_length ? least[i] : e.gate_length - 1;
			gate[0][i] = e.neighbour_gate[at];
			gate[1][i] = e.only_gate[at];
		}
		for (int k = 0; k < e.hypotheses; k++) {
			const uint16_t *cost = e.cost[k] + i0;
			int16_t *out = e.energy[k] + i0;
			switch (e.kind[k]) {
			case projected:
				for (int i = 0; i < n; i++) {
					int32_t v = cost[i] - least[i];
					out[i] = (int16_t)(v < most_energy ? v : most_energy);
				}
				break;
			case neighbour:
				for (int i = 0; i < n; i++) {
					int32_t v = most_of(cost[i] - least[i], 0) + gate[0][i];
					out[i] = (int16_t)(v < most_energy ? v : most_energy);
				}
				break;
			case stationary:
				for (int i = 0; i < n; i++)
					out[i] = covering;
				break;
			default:
				for (int i = 0; i < n; i++) {
					int32_t v = most_of(((cost[i] - least[i]) >> 1) + gate[1][i], least_only);
					out[i] = (int16_t)(v < most_energy ? v : most_energy);
				}
			}
		}
	}
	return sum;
}

// whole_cells sets the means of cells [0, n) of a hypothesis, which have all their pixels.
static inline void whole_cells(const int16_t *energy, const warp_vec *motion, int width, int stride, int n, int labels,
	int16_t *cell_energy, warp_vec *cell_motion) {
	enum { half = 1 << (2 * choice_bits - 1) };
	for (int c = 0; c < n; c++) {
		i32x4 moves = {half, half, 0, 0}; // x, y of even columns, then of odd ones
		int32_t e = half;
		for (int j = 0; j < choice_size; j++) {
			const int16_t *row = energy + (int64_t)j * width + choice_size * c;
			i32x4 v, w;
			memcpy(&v, &motion[(int64_t)j * stride + choice_size * c], sizeof v);
			memcpy(&w, &motion[(int64_t)j * stride + choice_size * c + 2], sizeof w);
			moves += v + w;
			e += row[0] + row[1] + row[2] + row[3];
		}
		cell_energy[c * labels] = (int16_t)(e >> (2 * choice_bits));
		cell_motion[c * labels].x = (moves[0] + moves[2]) >> (2 * choice_bits);
		cell_motion[c * labels].y = (moves[1] + moves[3]) >> (2 * choice_bits);
	}
}

// cell_means takes rows of cells. Cells at the edges repeat the last row and column.
static void cell_means(warp_cells c, int y0, int y1) {
	int across = (c.width + choice_size - 1) / choice_size, n = c.hypotheses;
	for (int y = y0; y < y1; y++) {
		int whole = choice_size * (y + 1) <= c.height ? c.width / choice_size : 0;
		for (int l = 0; l < n; l++) {
			int64_t row = (int64_t)choice_size * y, to = (int64_t)y * across * n + l;
			whole_cells(c.energy[l] + row * c.width, c.motion[l] + row * c.stride[l], c.width, c.stride[l], whole, n, c.cell_energy + to, c.cell_motion + to);
			for (int x = whole; x < across; x++) {
				int32_t e = 1 << (2 * choice_bits - 1), vx = e, vy = e;
				for (int j = 0; j < choice_size; j++)
					for (int i = 0; i < choice_size; i++) {
						int64_t py = lesser1(choice_size * y + j, c.height - 1), px = lesser1(choice_size * x + i, c.width - 1);
						const warp_vec *v = &c.motion[l][py * c.stride[l] + px];
						e += c.energy[l][py * c.width + px];
						vx += v->x;
						vy += v->y;
					}
				c.cell_energy[to + (int64_t)x * n] = (int16_t)(e >> (2 * choice_bits));
				c.cell_motion[to + (int64_t)x * n] = (warp_vec){vx >> (2 * choice_bits), vy >> (2 * choice_bits)};
			}
		}
	}
}

// path is where a path of messages has come: the motions of the last two cells and the
// costs. It takes all hypotheses at once: those that there are not are never read.
typedef struct {
	int32_t x[2][warp_most_hypotheses], y[2][warp_most_hypotheses], cost[warp_most_hypotheses];
} path;

static inline void begin_path(const warp_paths *p, path *at, int i) {
	*at = (path){{{0}}, {{0}}, {0}};
	for (int l = 0; l < p->hypotheses; l++) {
		at->x[0][l] = p->motions[(int64_t)i * p->hypotheses + l].x;
		at->y[0][l] = p->motions[(int64_t)i * p->hypotheses + l].y;
		at->cost[l] = p->energies[(int64_t)i * p->hypotheses + l];
	}
}

// go_on takes a path from a cell to the next one, which is its number done.
static inline void go_on(const warp_paths *p, path *at, int from, int i, int done) {
	enum { most = warp_most_hypotheses };
	int labels = p->hypotheses, jump = 1 << p->jump_bits;
	const int32_t *fx = at->x[(done - 1) & 1], *fy = at->y[(done - 1) & 1];
	int32_t *tx = at->x[done & 1], *ty = at->y[done & 1], *cost = at->cost, next[most];
	const warp_vec *to = p->motions + (int64_t)i * labels;
	int32_t least = cost[0];
	for (int l = 0; l < labels; l++) {
		tx[l] = to[l].x;
		ty[l] = to[l].y;
		least = cost[l] < least ? cost[l] : least;
	}
	int d = p->guide[from] - p->guide[i];
	int32_t penalty = p->penalties[d < 0 ? -d : d];
	for (int l = 0; l < most; l++)
		next[l] = penalty;
	for (int k = 0; k < labels; k++) {
		int32_t lead = cost[k] - least, kx = fx[k], ky = fy[k];
		if (lead >= penalty)
			continue;
		for (int l = 0; l < most; l++) {
			int32_t dx = tx[l] - kx, dy = ty[l] - ky;
			dx = dx < 0 ? -dx : dx;
			dy = dy < 0 ? -dy : dy;
			int32_t apart = (int32_t)((uint32_t)dx + (uint32_t)dy);
			apart = apart < jump ? apart : jump;
			int32_t v = lead + (penalty * apart >> p->jump_bits);
			next[l] = v < next[l] ? v : next[l];
		}
	}
	const int16_t *energies = p->energies + (int64_t)i * labels;
	int16_t *sums = p->sums + (int64_t)i * labels;
	for (int l = 0; l < labels; l++) {
		sums[l] = (int16_t)(sums[l] + next[l]);
		cost[l] = next[l] + energies[l];
	}
}

// follow takes several paths in lockstep: they do not wait for each other, and the cells of
// neighbouring columns share lines of the cache.
static void follow(warp_paths p, int i, int apart, int paths, int step, int n) {
	enum { at_once = 8 };
	path at[at_once];
	for (; paths > 0; paths -= at_once, i += at_once * apart) {
		int count = paths < at_once ? paths : at_once;
		for (int k = 0; k < count; k++)
			begin_path(&p, &at[k], i + k * apart);
		for (int done = 1, from = i; done < n; done++, from += step)
			for (int k = 0; k < count; k++)
				go_on(&p, &at[k], from + k * apart, from + k * apart + step, done);
	}
}

// cell_before returns the last cell whose centre lies at or before pixel i, and sets part
// to the distance of i from that centre in 1/(2*choice_size) cell.
static inline int cell_before(int i, int *part) {
	int twice = 2 * i + 1 - choice_size;
	int cell = twice < 0 ? -1 : twice / (2 * choice_size);
	*part = twice - cell * 2 * choice_size;
	return cell;
}

enum { share_cells = choice_tile / choice_size + 1 };

// share takes tiles of pixels between the centres of cells: the first tile begins half a
// cell before the picture.
static void share(warp_shares s, int y0, int y1) {
	int n = s.hypotheses;
	int32_t sums[share_cells * warp_most_hypotheses];
	int32_t energy[warp_most_hypotheses][choice_tile], least[choice_tile];
	for (int y = y0; y < y1; y++) {
		int fy, cy = cell_before(y, &fy);
		const int16_t *upper = s.sums + (int64_t)(cy < 0 ? 0 : cy) * s.cells * n;
		const int16_t *lower = s.sums + (int64_t)(cy + 1 < s.cell_rows ? cy + 1 : s.cell_rows - 1) * s.cells * n;
		for (int x0 = -choice_size / 2; x0 < s.width; x0 += choice_tile) {
			int first = (x0 - choice_size / 2) / choice_size; // the cell whose centre x0 follows
			int skip = x0 < 0 ? -x0 : 0, end = s.width - x0 < choice_tile ? s.width - x0 : choice_tile;
			int groups = (end + choice_size - 1) / choice_size;
			for (int c = 0; c <= groups; c++) {
				int from = first + c < 0 ? 0 : first + c < s.cells ? first + c : s.cells - 1;
				const int16_t *u = upper + (int64_t)from * n, *v = lower + (int64_t)from * n;
				for (int l = 0; l < n; l++)
					sums[c * n + l] = (2 * choice_size - fy) * u[l] + fy * v[l];
			}
			for (int i = 0; i < choice_tile; i++)
				least[i] = INT32_MAX;
			int64_t row = (int64_t)y * s.width + x0;
			for (int l = 0; l < n; l++) {
				int32_t *out = energy[l];
				for (int c = 0; c < groups; c++) {
					int32_t left = sums[c * n + l], right = sums[(c + 1) * n + l];
					i32x4 v = left * (i32x4){7, 5, 3, 1} + right * (i32x4){1, 3, 5, 7};
					v = (v + (1 << (2 * choice_bits + 1))) >> (2 * choice_bits + 2);
					memcpy(out + choice_size * c, &v, sizeof v);
				}
				const int16_t *own = s.energy[l] + row;
				for (int i = skip; i < end; i++) {
					int32_t e = out[i] + own[i];
					out[i] = e;
					least[i] = e < least[i] ? e : least[i];
				}
			}
			for (int l = 0; l < n; l++) {
				uint16_t *out = s.weight[l] + row;
				const int32_t *e = energy[l];
				uint16_t at[choice_tile];
				for (int i = 0; i < choice_tile; i++)
					at[i] = (uint16_t)lesser1(e[i] - least[i], s.likelihood_length - 1); // the last one is 0
				for (int i = skip; i < end; i++)
					out[i] = s.likelihood[at[i]];
			}
		}
	}
}

static inline uint16_t binomial(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) {
	return (uint16_t)((a + e + 4 * (b + d) + 6 * c + 8) >> 4);
}

static void smooth_across(uint16_t *dst, const uint16_t *src, int width, int y0, int y1) {
	int last = width - 1;
	for (int y = y0; y < y1; y++) {
		const uint16_t *p = src + (int64_t)y * width;
		uint16_t *restrict out = dst + (int64_t)y * width;
		for (int x = 2; x < width - 2; x++)
			out[x] = binomial(p[x - 2], p[x - 1], p[x], p[x + 1], p[x + 2]);
		for (int x = 0; x < width; x++) {
			if (x == 2 && width > 4)
				x = width - 2;
			out[x] = binomial(p[x < 2 ? 0 : x - 2], p[x < 1 ? 0 : x - 1], p[x], p[x + 1 < last ? x + 1 : last],
				p[x + 2 < last ? x + 2 : last]);
		}
	}
}

static void smooth_down(uint16_t *dst, const uint16_t *src, int width, int height, int y0, int y1) {
	for (int y = y0; y < y1; y++) {
		const uint16_t *c = src + (int64_t)y * width;
		const uint16_t *a = src + (int64_t)(y < 2 ? 0 : y - 2) * width, *b = src + (int64_t)(y < 1 ? 0 : y - 1) * width;
		const uint16_t *d = src + (int64_t)(y + 1 < height ? y + 1 : height - 1) * width;
		const uint16_t *e = src + (int64_t)(y + 2 < height ? y + 2 : height - 1) * width;
		uint16_t *restrict out = dst + (int64_t)y * width;
		for (int x = 0; x < width; x++)
			out[x] = binomial(a[x], b[x], c[x], d[x], e[x]);
	}
}
