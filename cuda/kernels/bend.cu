// The distance of moving things from the straight line between two frames, computed from the change
// of their motion in the surrounding frames.
//
// Quantities of cells are stored one after the other, for frame A and then for B. Sums are x, y and
// credit.

#include "bend.cuh"

typedef unsigned long long Sum; // the type that atomicAdd takes

// bend_gather sums up the accelerations in the cells of size by size pixels of frame z. Flow z
// leads to the other frame of the interval and flow beyond+z to the frame beyond; errors are the
// errors along these flows. inner_scale and outer_scale, in 1/phase_one, weight the flows.
// Accelerations of at least limit count as errors, as do those that a flow gives whose end does not
// lead back. Scales and limits come in pairs, for A and for B.
extern "C" __global__ void bend_gather(const Vec *flows, const uint16_t *errors, int beyond, Sum *changes, Vec *motions, int width, int height,
                                       int columns, int lines, int size, int inner_a, int inner_b, int outer_a, int outer_b, int limit_a, int limit_b,
                                       const uint16_t *credits, int entries) {
	int cx = blockIdx.x * blockDim.x + threadIdx.x, cy = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
	if (cx >= columns || cy >= lines) return;
	size_t all = (size_t)width * height, cells = (size_t)columns * lines;
	const Vec *inner = flows + z * all, *back = flows + (1 - z) * all, *outer = flows + (beyond + z) * all;
	const uint16_t *e = errors + z * all, *f = errors + (beyond + z) * all;
	int64_t inner_scale = z ? inner_b : inner_a, outer_scale = z ? outer_b : outer_a, limit = z ? limit_b : limit_a;
	int64_t x = 0, y = 0, credit = 0, mx = 0, my = 0, n = 0;
	for (int py = cy * size; py < min((cy + 1) * size, height); py++)
		for (int px = cx * size; px < min((cx + 1) * size, width); px++) {
			size_t i = (size_t)py * width + px;
			Vec u = inner[i], v = outer[i];
			mx += u.x;
			my += u.y;
			n++;
			int64_t dx = (u.x * inner_scale + v.x * outer_scale + phase_one / 2) >> 16;
			int64_t dy = (u.y * inner_scale + v.y * outer_scale + phase_one / 2) >> 16;
			int worst = max(e[i], f[i]);
			if (dx >= limit || dx <= -limit || dy >= limit || dy <= -limit || worst >= entries) continue;
			int64_t miss;
			if (missed(back, width, height, px, py, u, &miss) && miss > miss_least && miss_whole * miss * inner_scale > miss_parts * phase_one * larger(dx, dy))
				continue;
			int64_t k = credits[worst];
			x += k * dx;
			y += k * dy;
			credit += k;
		}
	size_t at = (size_t)cy * columns + cx;
	changes += 3 * z * cells;
	changes[at] = x;
	changes[cells + at] = y;
	changes[2 * cells + at] = credit;
	Vec m = {(int32_t)(mx / n), (int32_t)(my / n)};
	motions[z * cells + at] = m;
}

// bend_move moves the sums of frame z by the part of its motion that is travelled at the phase, and
// adds them to moved, which must start at zero. shift is log2 of a cell's size.
extern "C" __global__ void bend_move(const Sum *changes, const Vec *motions, Sum *moved, int columns, int lines, int shift, int32_t phase) {
	int cx = blockIdx.x * blockDim.x + threadIdx.x, cy = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
	if (cx >= columns || cy >= lines) return;
	size_t cells = (size_t)columns * lines, at = (size_t)cy * columns + cx;
	changes += 3 * z * cells;
	moved += 3 * z * cells;
	int64_t v[3] = {(int64_t)changes[at], (int64_t)changes[cells + at], (int64_t)changes[2 * cells + at]};
	if (v[2] == 0) return;
	Vec m = motions[z * cells + at];
	if (z) phase = phase_one - phase;
	int32_t x = (cx << position_bits) + (toward(m.x, phase) >> shift), y = (cy << position_bits) + (toward(m.y, phase) >> shift);
	int fx = x & (position_one - 1), fy = y & (position_one - 1);
	for (int k = 0; k < 4; k++) {
		int px = (x >> position_bits) + (k & 1), py = (y >> position_bits) + (k >> 1);
		int64_t weight = (k & 1 ? fx : position_one - fx) * (k >> 1 ? fy : position_one - fy);
		if (px < 0 || py < 0 || px >= columns || py >= lines || weight == 0) continue;
		for (int n = 0; n < 3; n++) atomicAdd(&moved[n * cells + (size_t)py * columns + px], (Sum)(weight * v[n]));
	}
}

enum { tile_width = 32, tile_height = 8, reach = 2, down = tile_height + 2 * reach };

// average blurs read(x, y) along x, then along y, for the pixel of this thread.
// Blocks are 32 by 8 threads.
template <typename Read>
__device__ Means average(const Read &read, int columns, int lines) {
	__shared__ Means across[down][tile_width];
	int x = blockIdx.x * tile_width + threadIdx.x, top = blockIdx.y * tile_height;
	for (int row = threadIdx.y; row < down; row += tile_height) {
		int y = clamp_to(top + row - reach, 0, lines - 1);
		Means m[5];
		for (int k = 0; k < 5; k++) m[k] = read(clamp_to(x + k - reach, 0, columns - 1), y);
		Means r = {binomial_float(m[0].x, m[1].x, m[2].x, m[3].x, m[4].x), binomial_float(m[0].y, m[1].y, m[2].y, m[3].y, m[4].y),
		           binomial_float(m[0].credit, m[1].credit, m[2].credit, m[3].credit, m[4].credit)};
		across[row][threadIdx.x] = r;
	}
	__syncthreads();
	Means m[5];
	for (int k = 0; k < 5; k++) m[k] = across[threadIdx.y + k][threadIdx.x];
	__syncthreads();
	Means r = {binomial_float(m[0].x, m[1].x, m[2].x, m[3].x, m[4].x), binomial_float(m[0].y, m[1].y, m[2].y, m[3].y, m[4].y),
	           binomial_float(m[0].credit, m[1].credit, m[2].credit, m[3].credit, m[4].credit)};
	return r;
}

struct ReadSums {
	const Sum *sums;
	int columns;
	size_t cells;
	float length, unit;

	__device__ Means operator()(int x, int y) const {
		size_t at = (size_t)y * columns + x;
		Means m = {(float)(int64_t)sums[at] * length, (float)(int64_t)sums[cells + at] * length, (float)(int64_t)sums[2 * cells + at] * unit};
		return m;
	}
};

struct ReadMeans {
	const Means *means;
	int columns;

	__device__ Means operator()(int x, int y) const { return means[(size_t)y * columns + x]; }
};

// bend_average blurs the sums of frame z: x and y times length, and the credit times unit.
extern "C" __global__ void bend_average(const Sum *moved, Means *means, int columns, int lines, float length, float unit) {
	int x = blockIdx.x * tile_width + threadIdx.x, y = blockIdx.y * tile_height + threadIdx.y;
	size_t cells = (size_t)columns * lines, z = blockIdx.z;
	ReadSums read = {moved + 3 * z * cells, columns, cells, length, unit};
	Means m = average(read, columns, lines);
	if (x < columns && y < lines) means[z * cells + (size_t)y * columns + x] = m;
}

// bend_combine blurs the means once more and combines the means of both frames. It
// leaves moved zero.
extern "C" __global__ void bend_combine(const Means *means, Sum *moved, Bend *bends, int columns, int lines, float factor,
                                        float a_share, float b_share, float dispute) {
	int x = blockIdx.x * tile_width + threadIdx.x, y = blockIdx.y * tile_height + threadIdx.y;
	size_t cells = (size_t)columns * lines;
	ReadMeans a = {means, columns}, b = {means + cells, columns};
	Means p = average(a, columns, lines), q = average(b, columns, lines);
	if (x >= columns || y >= lines) return;
	size_t at = (size_t)y * columns + x;
	bends[at] = combined(p, q, factor, a_share, b_share, dispute);
	for (int n = 0; n < 6; n++) moved[n * cells + at] = 0;
}

// bend_spread interpolates the cells' bends at the pixels of the guides.
extern "C" __global__ void bend_spread(const Bend *cells, Vec *bends, int width, int height, int columns, int lines, int size, float scale) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	int px, py, cx = cell_before(x, size, &px), cy = cell_before(y, size, &py);
	float fx = (float)px / (float)(2 * size), fy = (float)py / (float)(2 * size);
	int left = max(cx, 0), right = min(cx + 1, columns - 1);
	const Bend *upper = cells + (size_t)max(cy, 0) * columns, *lower = cells + (size_t)min(cy + 1, lines - 1) * columns;
	Bend a = upper[left], b = upper[right], c = lower[left], d = lower[right];
	Vec v = {between(a.x, b.x, c.x, d.x, fx, fy, scale), between(a.y, b.y, c.y, d.y, fx, fy, scale)};
	bends[(size_t)y * width + x] = v;
}
