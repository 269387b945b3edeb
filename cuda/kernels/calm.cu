// The blur of a made frame as far as its readings of the neighbours contradict each other,
// with package warp's bits. Cells are calm_size by calm_size pixels of the picture.

#include "hypothesis.cuh"

enum { calm_size = 1 << calm_bits };

// A Reading is what a neighbour shows at a place of the made frame, in 1/difference_one grey
// level.
struct Reading {
	int64_t value, weight;
};

// read returns a picture's reading at (x, y).
__device__ Reading read(const uint32_t *quads, int width, int height, int32_t x, int32_t y, int64_t share) {
	Reading r = {lookup_quad(quads, width, height, x, y) >> 12, (share >> 8) * (inside(width, height, x, y) ? inside_factor : outside_factor)};
	return r;
}

// A Shown is a motion, its share, and how it shows: its kind is that of the first
// hypothesis that has it.
struct Shown {
	Vec v;
	uint32_t share;
	int kind;
};

__device__ bool alike(const Shown &g, int kind, Vec v) {
	bool same_frames = bends(kind) || kind == stationary ? bends(g.kind) || g.kind == stationary : g.kind == kind;
	return same_frames && (uint32_t)(g.v.x - v.x + same_motion) <= 2 * same_motion && (uint32_t)(g.v.y - v.y + same_motion) <= 2 * same_motion;
}

// A Choice is the motions of a made frame with their weights.
struct Choice {
	const Vec *motions, *bend_field;
	const Hypothesis *list;
	int hypotheses, flows;
	const uint16_t *weights;
	const uint8_t *fixed; // certainty that a pixel lies still; may be null
	int width, height;
};

// gather lists the motions that count at a pixel, as render does, and returns their number.
__device__ int gather(Shown *shown, const Choice &c, int x, int y) {
	size_t size = (size_t)c.width * c.height, at = (size_t)y * c.width + x;
	uint32_t total = 0;
	int n = 0;
	for (int h = 0; h <= c.hypotheses; h++) { // being stationary comes after the flows
		Shown g = {{0, 0}, 0, stationary};
		if (h == c.flows) {
			g.share = c.fixed ? weight_one * covered_share(c.fixed[at]) >> 8 : 0;
		} else {
			int k = h < c.flows ? h : h - 1;
			g.v = motion_of(c.list[k], c.motions, c.width, c.height, x, y);
			g.share = c.weights[k * size + at];
			g.kind = c.list[k].kind;
		}
		if (g.share == 0) continue;
		total += g.share;
		int k = 0;
		while (k < n && !alike(shown[k], g.kind, g.v)) k++;
		if (k < n)
			shown[k].share += g.share;
		else
			shown[n++] = g;
	}
	int kept = 0;
	for (int k = 0; k < n; k++)
		if (shown[k].share * least_share >= total) shown[kept++] = shown[k];
	return kept;
}

// expect sets the means of the cells' readings and the squared errors that the readings let
// expect of them. quads are those of both neighbours. A cell's readings are those of the pixel
// in its middle; its side is size pixels of the guides.
extern "C" __global__ void expect(const uint32_t *quads, const Vec *motions, const Vec *bend_field, const Hypothesis *list, int hypotheses, int flows,
                                  const uint16_t *weights, const uint8_t *fixed, int width, int height, int32_t phase, int columns, int lines, int size,
                                  uint32_t *means, uint32_t *errors) {
	int cx = blockIdx.x * blockDim.x + threadIdx.x, cy = blockIdx.y * blockDim.y + threadIdx.y;
	if (cx >= columns || cy >= lines) return;
	int x = min(cx * size + size / 2, width - 1), y = min(cy * size + size / 2, height - 1);
	Choice c = {motions, bend_field, list, hypotheses, flows, weights, fixed, width, height};
	Shown shown[max_hypotheses];
	int n = gather(shown, c, x, y);
	Reading readings[2 * max_hypotheses];
	int64_t total = 0, sum = 0, square = 0;
	size_t pixels = (size_t)width * height;
	for (int k = 0; k < n; k++) {
		const Shown &g = shown[k];
		Vec bend = {0, 0};
		if (bend_field && bends(g.kind)) bend = bend_field[(size_t)y * width + x];
		int64_t of_a = g.kind == only_first ? phase_one : g.kind == only_second ? 0 : phase_one - phase;
		int32_t ax = (x << position_bits) - bend.x - toward(g.v.x, phase), ay = (y << position_bits) - bend.y - toward(g.v.y, phase);
		readings[2 * k] = read(quads, width, height, ax, ay, g.share * of_a);
		readings[2 * k + 1] = read(quads + pixels, width, height, ax + g.v.x, ay + g.v.y, g.share * (phase_one - of_a));
	}
	for (int k = 0; k < 2 * n; k++) {
		total += readings[k].weight;
		sum += readings[k].weight * readings[k].value;
	}
	int64_t mean = sum / total;
	for (int k = 0; k < 2 * n; k++) {
		int64_t share = readings[k].weight * 256 / total, d = readings[k].value - mean;
		square += share * share * d * d;
	}
	size_t at = (size_t)cy * columns + cx;
	means[at] = (uint32_t)mean;
	errors[at] = (uint32_t)(square >> 15);
}

// measure_strengths sets the strengths of the blur, up to calm_one.
extern "C" __global__ void measure_strengths(const uint32_t *means, const uint32_t *errors, int columns, int lines, uint16_t *strengths) {
	int cx = blockIdx.x * blockDim.x + threadIdx.x, cy = blockIdx.y * blockDim.y + threadIdx.y;
	if (cx >= columns || cy >= lines) return;
	int64_t error = 0, mean = 0, square = 0, n = 0;
	for (int y = max(cy - calm_radius, 0); y <= min(cy + calm_radius, lines - 1); y++)
		for (int x = max(cx - calm_radius, 0); x <= min(cx + calm_radius, columns - 1); x++) {
			int64_t m = means[(size_t)y * columns + x];
			error += errors[(size_t)y * columns + x];
			mean += m;
			square += m * m;
			n++;
		}
	int64_t excess = error / n - calm_noise, strength = 0;
	if (excess > 0) strength = calm_one * calm_gain * excess / ((n * square - mean * mean) / (n * n) + calm_noise);
	strengths[(size_t)cy * columns + cx] = (uint16_t)(strength < calm_one ? strength : calm_one);
}

// before returns the last of the cells of 1 << bits samples whose centre lies at or before
// sample i, and the distance of i from that centre in 1/(2 << bits) cell.
__device__ int before(int i, int bits, int *part) {
	int twice = 2 * i + 1 - (1 << bits), cell = twice >> (bits + 1);
	*part = twice - (cell << (bits + 1));
	return cell;
}

// strength_at returns the strength at sample (x, y) of a plane.
__device__ uint32_t strength_at(const uint16_t *strengths, int columns, int lines, int x, int y, int sx, int sy) {
	int across = calm_bits - sx, down = calm_bits - sy, fx, fy, cx = before(x, across, &fx), cy = before(y, down, &fy);
	const uint16_t *upper = strengths + (size_t)max(cy, 0) * columns, *lower = strengths + (size_t)min(cy + 1, lines - 1) * columns;
	int l = max(cx, 0), r = min(cx + 1, columns - 1);
	uint32_t left = (upper[l] * ((2 << down) - fy) + lower[l] * fy) >> (down + 1), right = (upper[r] * ((2 << down) - fy) + lower[r] * fy) >> (down + 1);
	return (left * ((2 << across) - fx) + right * fx) >> (across + 1);
}

// The samples of up to four planes of one size, and what they become.
template <typename T>
struct Softened {
	T *planes[4], *blurred;
	int n, stride, width, height;
};

// A Still says what lies still over the picture. fixed is nonzero there, on the grid of guides
// of some level; it may be null.
struct Still {
	const uint8_t *fixed;
	int width, level;

	__device__ bool at(int x, int y, int sx, int sy) const { return fixed && fixed[(size_t)(y << sy >> level) * width + (x << sx >> level)]; }
};

// soften sets the blurred samples, as far as they have a strength, to the planes' blurred by
// the binomial kernel with the strength. What lies still stays, and the blur of other samples
// reads none of it.
template <typename T>
__device__ void soften(const Softened<T> &s, const Still &still, const uint16_t *strengths, int columns, int lines, int sx, int sy) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= s.width || y >= s.height) return;
	uint32_t k = strength_at(strengths, columns, lines, x, y, sx, sy);
	if (k == 0) return;
	const int taps[5] = {1, 4, 6, 4, 1};
	bool stays = still.at(x, y, sx, sy);
	for (int p = 0; p < s.n; p++) {
		uint32_t sum = 0, v = s.planes[p][(size_t)y * s.stride + x];
		for (int j = 0; j < 5; j++)
			for (int i = 0; i < 5; i++) {
				int px = clamp_to(x + i - 2, 0, s.width - 1), py = clamp_to(y + j - 2, 0, s.height - 1);
				uint32_t w = stays || still.at(px, py, sx, sy) ? v : s.planes[p][(size_t)py * s.stride + px];
				sum += taps[j] * taps[i] * w;
			}
		s.blurred[((size_t)p * s.height + y) * s.width + x] = (T)((v * (calm_one - k) + ((sum + 128) >> 8) * k + calm_one / 2) / calm_one);
	}
}

// replace sets the samples that have a strength to the blurred ones.
template <typename T>
__device__ void replace(const Softened<T> &s, const Still &, const uint16_t *strengths, int columns, int lines, int sx, int sy) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= s.width || y >= s.height || strength_at(strengths, columns, lines, x, y, sx, sy) == 0) return;
	for (int p = 0; p < s.n; p++) s.planes[p][(size_t)y * s.stride + x] = s.blurred[((size_t)p * s.height + y) * s.width + x];
}

// Blocks are 32 by 8 threads.
#define SOFTEN(name, function, T)                                                                                                                \
	extern "C" __global__ void name(T *p0, T *p1, T *p2, T *p3, int n, int stride, int width, int height, T *blurred, const uint16_t *strengths, \
	                                int columns, int lines, int sx, int sy, const uint8_t *fixed, int guide_width, int level) {                  \
		Softened<T> s = {{p0, p1, p2, p3}, blurred, n, stride, width, height};                                                                   \
		Still still = {fixed, guide_width, level};                                                                                               \
		function(s, still, strengths, columns, lines, sx, sy);                                                                                   \
	}

SOFTEN(soften_u8, soften, uint8_t)
SOFTEN(soften_u16, soften, uint16_t)
SOFTEN(replace_u8, replace, uint8_t)
SOFTEN(replace_u16, replace, uint16_t)
