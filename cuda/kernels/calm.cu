// The blur of a made frame to the degree that its readings of the neighbours contradict each other,
// with the same bits as package warp. Cells are 1 << calm_bits by 1 << calm_bits pixels of the
// picture.

#include "divide.cuh"
#include "guess.cuh"

// Reading is what a neighbour shows at a place of the made frame, in 1/difference_one grey level.
struct Reading {
	int64_t value, weight;
};

// read returns a picture's reading at (x, y).
__device__ Reading read(const uint32_t *quads, int width, int height, int32_t x, int32_t y, uint64_t share) {
	Reading r = {lookup_quad(quads, width, height, x, y) >> 12, (int64_t)(share >> 8) * (inside(width, height, x, y) ? inside_factor : outside_factor)};
	return r;
}

// expect sets, for each cell, the mean of its readings and the squared error that they suggest.
// quads holds the quads of both neighbours. A cell's readings come from the pixel in its middle.
// level is the guides' level. motions, packed and counts are the guesses.
extern "C" __global__ void expect(
	const uint32_t *quads, const Vec *motions, const uint32_t *packed, const uint8_t *counts, const Vec *bend_field, int width, int height, int32_t phase,
	int columns, int lines, int level, uint32_t *means, uint32_t *errors) {
	int cell = blockIdx.x * blockDim.x + threadIdx.x;
	if (cell >= columns * lines) return;
	int size = 1 << (calm_bits - level);
	int x = min(cell % columns * size + size / 2, width - 1), y = min(cell / columns * size + size / 2, height - 1);
	Guesses guesses = {motions, packed, counts, (uint32_t)(width * height)};
	List list = guesses.of(y * width + x);
	int n = list.n;
	Vec bend = {0, 0};
	if (bend_field) bend = bend_field[(size_t)y * width + x];
	Reading readings[2 * max_hypotheses];
	int64_t total = 0, sum = 0;
	uint64_t square = 0;
	for (int k = 0; k < n; k++) {
		Guess g = list.get(k);
		uint64_t first, second;
		parts(g, phase, &first, &second);
		int32_t ax = (x << position_bits) - (g.bent ? bend.x : 0) - toward(g.v.x, phase), ay = (y << position_bits) - (g.bent ? bend.y : 0) - toward(g.v.y, phase);
		Reading a = read(quads, width, height, ax, ay, first);
		Reading b = read(quads + (size_t)width * height, width, height, ax + g.v.x, ay + g.v.y, second);
		total += a.weight + b.weight;
		sum += a.weight * a.value + b.weight * b.value;
		readings[2 * k] = a;
		readings[2 * k + 1] = b;
	}
	int64_t mean = divided(sum, total); // of a guess that counts, one part is at least a half, so total > 0
	for (int k = 0; k < 2 * n; k++) {
		int64_t share = divided(readings[k].weight * 256, total), d = readings[k].value - mean;
		square += share * share * d * d;
	}
	means[cell] = (uint32_t)mean;
	errors[cell] = (uint32_t)(square >> 15);
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

// Surface is a plane as it was made, and what it becomes. 2^sx columns and 2^sy rows of the picture
// make one of the plane's.
template <typename T>
struct Surface {
	const T *made;
	T *out;
	int stride, width, height, sx, sy;
};

// Still marks what is still on top of the picture: fixed is at least calm_still there, on the grid
// of guides of some level. fixed may be null.
struct Still {
	const uint8_t *fixed;
	int width, level;

	template <typename T>
	__device__ bool at(const Surface<T> &s, int x, int y) const {
		x = clamp_to(x, 0, s.width - 1), y = clamp_to(y, 0, s.height - 1);
		return fixed[(size_t)(y << s.sy >> level) * width + (x << s.sx >> level)] >= calm_still;
	}
	// near reports, to all threads of a block, whether anything is still in a rectangle of s.
	template <typename T>
	__device__ bool near(const Surface<T> &s, int x0, int y0, int x1, int y1) const {
		int left = max(x0, 0) << s.sx >> level, right = min(x1, s.width - 1) << s.sx >> level;
		int top = max(y0, 0) << s.sy >> level, bottom = min(y1, s.height - 1) << s.sy >> level;
		bool lies = false;
		for (int y = top + threadIdx.y; y <= bottom; y += blockDim.y)
			for (int x = left + threadIdx.x; x <= right; x += blockDim.x) lies |= fixed[(size_t)y * width + x] >= calm_still;
		return __syncthreads_or(lies);
	}
};

// A thread makes an aligned run of samples, and reads reach samples around it.
enum { run = 4, reach = 2, side = 2 * reach + 1 };

template <typename T>
struct alignas(run * sizeof(T)) Run {
	T of[run];
};

// Strengths holds the strengths of the blur in the cells.
struct Strengths {
	const uint16_t *of;
	int columns, lines;

	// at sets the strengths of n samples from (x, y) on, and reports whether any is not zero.
	template <typename T>
	__device__ bool at(uint32_t *strength, const Surface<T> &s, int x, int y, int n) const {
		// A cell's sides are doubled, like the distances from the centre before.
		int across = calm_bits + 1 - s.sx, down = calm_bits + 1 - s.sy, ty = 2 * y + 1 - (1 << down >> 1), cy = ty >> down, fy = ty - (cy << down);
		const uint16_t *upper = of + max(cy, 0) * columns, *lower = of + min(cy + 1, lines - 1) * columns;
		uint32_t left = 0, right = 0, any = 0;
		int last = INT32_MIN;
#pragma unroll
		for (int i = 0; i < run; i++) {
			strength[i] = 0;
			if (i >= n) continue;
			int tx = 2 * (x + i) + 1 - (1 << across >> 1), cx = tx >> across, fx = tx - (cx << across);
			if (cx != last) {
				int l = max(cx, 0), r = min(cx + 1, columns - 1);
				left = (upper[l] * ((1 << down) - fy) + lower[l] * fy) >> down;
				right = (upper[r] * ((1 << down) - fy) + lower[r] * fy) >> down;
				last = cx;
			}
			strength[i] = (left * ((1 << across) - fx) + right * fx) >> across;
			any |= strength[i];
		}
		return any != 0;
	}
};

// Window holds the samples that the blur of a run reads, by column, then row. At a plane's edges,
// they repeat.
struct Window {
	enum { wide = run + 2 * reach };
	uint32_t of[wide][side];
	uint64_t still; // a bit for each still sample, by row, then column

	template <typename T>
	__device__ Window(const Surface<T> &s, int x, int y, const Still &lying, bool near) : still(0) {
		bool within = x >= run && x + 2 * run <= s.width;
#pragma unroll
		for (int j = 0; j < side; j++) {
			const T *row = s.made + (size_t)clamp_to(y + j - reach, 0, s.height - 1) * s.stride;
			Run<T> runs[3];
			if (within) {
#pragma unroll
				for (int k = 0; k < 3; k++) runs[k] = ((const Run<T> *)(row + x))[k - 1];
			}
#pragma unroll
			for (int i = 0; i < wide; i++)
				of[i][j] = within ? runs[(i + run - reach) / run].of[(i + run - reach) % run] : row[clamp_to(x + i - reach, 0, s.width - 1)];
		}
		if (!near) return;
#pragma unroll
		for (int j = 0; j < side; j++)
#pragma unroll
			for (int i = 0; i < wide; i++) still |= (uint64_t)lying.at(s, x + i - reach, y + j - reach) << (j * wide + i);
	}
	__device__ bool stays(int i, int j) const { return still >> (j * wide + i) & 1; }

	// blur sets sums to 256 times the samples of the run, blurred by the binomial kernel. A sample
	// replaces still ones around it, and does not change if it is still itself.
	__device__ void blur(uint32_t *sums) const {
		if (still) {
			const uint32_t taps[side] = {1, 4, 6, 4, 1};
#pragma unroll
			for (int k = 0; k < run; k++) {
				uint32_t own = of[k + reach][reach];
				sums[k] = 0;
#pragma unroll
				for (int j = 0; j < side; j++)
#pragma unroll
					for (int i = 0; i < side; i++) sums[k] += taps[j] * taps[i] * (stays(k + i, j) ? own : of[k + i][j]);
				if (stays(k + reach, reach)) sums[k] = own << 8;
			}
			return;
		}
		uint32_t down[wide];
#pragma unroll
		for (int i = 0; i < wide; i++) down[i] = binomial(of[i]);
#pragma unroll
		for (int i = 0; i < run; i++) sums[i] = binomial(down + i);
	}

	static __device__ uint32_t binomial(const uint32_t *v) { return v[0] + v[4] + 4 * (v[1] + v[3]) + 6 * v[2]; }
};

// soften fades a plane, as it was made, to the result of the binomial kernel, by the strengths.
// What is still does not change, and the blur of other samples reads none of it.
template <typename T>
__device__ void soften(const Surface<T> &s, const Still &still, const Strengths &strengths) {
	int left = blockIdx.x * blockDim.x * run, top = blockIdx.y * blockDim.y;
	if (left >= s.width || top >= s.height) return;
	int x = left + threadIdx.x * run, y = top + threadIdx.y, n = y < s.height ? min((int)run, s.width - x) : 0;
	size_t at = (size_t)y * s.stride + x;
	Run<T> v;
	uint32_t strength[run];
	if (n == run) v = *(const Run<T> *)(s.made + at);
#pragma unroll
	for (int i = 0; i < run; i++)
		if (n < run && i < n) v.of[i] = s.made[at + i];
	bool any = strengths.at(strength, s, x, y, n);
	if (__syncthreads_or(any)) {
		bool near = still.fixed && still.near(s, left - reach, top - reach, left + (int)blockDim.x * run + reach - 1, top + (int)blockDim.y + reach - 1);
		if (any) {
			uint32_t sums[run];
			Window(s, x, y, still, near).blur(sums);
#pragma unroll
			for (int i = 0; i < run; i++)
				if (i < n) v.of[i] = (T)((v.of[i] * (calm_one - strength[i]) + ((sums[i] + 128) >> 8) * strength[i] + calm_one / 2) / calm_one);
		}
	}
	if (n == run) *(Run<T> *)(s.out + at) = v;
#pragma unroll
	for (int i = 0; i < run; i++)
		if (n < run && i < n) s.out[at + i] = v.of[i];
}

#define SURFACE(T, p) const T *p##_made, T *p##_out, int p##_stride, int p##_width, int p##_height, int p##_sx, int p##_sy
#define SURFACE_OF(p) {p##_made, p##_out, p##_stride, p##_width, p##_height, p##_sx, p##_sy}

// Layer z of the grid makes plane z. Blocks are 32 by 8 threads for 128 by 8 samples. Rows of
// planes are aligned to runs.
#define SOFTEN(name, T)                                                                                                        \
	extern "C" __global__ void name(SURFACE(T, p), SURFACE(T, q), SURFACE(T, r), SURFACE(T, t), const uint16_t *strengths,     \
	                                int columns, int lines, const uint8_t *fixed, int guide_width, int level) {                \
		Surface<T> s = SURFACE_OF(p), others[3] = {SURFACE_OF(q), SURFACE_OF(r), SURFACE_OF(t)};                               \
		for (int i = 0; i < 3; i++)                                                                                            \
			if ((int)blockIdx.z == i + 1) s = others[i];                                                                       \
		Still still = {fixed, guide_width, level};                                                                             \
		Strengths of = {strengths, columns, lines};                                                                            \
		soften(s, still, of);                                                                                                  \
	}

SOFTEN(soften_u8, uint8_t)
SOFTEN(soften_u16, uint16_t)
