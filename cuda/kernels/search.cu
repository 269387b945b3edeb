// The dense inverse search of a level: the vectors of its patches.
//
// Several lanes share a patch. A lane has four of its columns and some rows; it keeps its part of
// the first picture and of the gradients in registers. The lanes of a warp go through candidates
// and steps together, until no patch of the warp needs more. On levels with few patches, several
// groups of lanes have the same patch, and each tries another candidate.

#include "dis.cuh"

static const unsigned all_lanes = 0xffffffff;
static const int threads = 128;

// around holds the offsets of a patch's neighbours in the order in which the search tries them.
static const int around_count = 8;
__constant__ Vec around[around_count] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};

// KEEP makes the compiler keep a pointer instead of computing it again each time.
#ifdef __CUDA_ARCH__
#define KEEP(pointer) asm("" : "+l"(pointer))
#else
#define KEEP(pointer)
#endif

// total returns the sum of v over the lanes of a patch.
template <int lanes>
static __device__ __forceinline__ int total(int v) {
#pragma unroll
	for (int bit = 1; bit < lanes; bit *= 2) v += __shfl_xor_sync(all_lanes, v, bit);
	return v;
}

// Sums holds sums over a patch: of the differences, in 1/16, of their squares, and of their
// products with the gradients.
struct Sums {
	int d, dd, x, y;
};

// Patch is what a lane knows about its patch.
template <int lanes>
struct Patch {
	enum { rows = 16 / lanes };
	int target[rows][4];          // 512 - 16384 times the first picture's samples
	int gx[rows][4], gy[rows][4];
	int sum_x, sum_y;             // of all the patch's gradients
	float a11, a12, a22;
	int x, y;                     // origin, in 1/1024 pixel
	int right, bottom;            // largest position
	int pitch, mean;
	const uint8_t *other;         // the second picture, moved by the lane's place in the patch

	// load reads the patch of a at pixel (left, top). mean is as for mean_product.
	__device__ __forceinline__ void load(const uint8_t *a, const uint8_t *b, int width, int height, int pitch_, int left, int top, int mean_) {
		int lane = threadIdx.x % lanes, column = 4 * (lane & 1), row = rows * (lane >> 1);
		pitch = pitch_;
		mean = mean_;
		x = left * vector_one;
		y = top * vector_one;
		right = (width - 1) * vector_one;
		bottom = (height - 1) * vector_one;
		other = b + row * pitch + column;
		KEEP(other);
		int samples[rows + 2][6];
		const uint8_t *p = a + (ptrdiff_t)(top + row - 1) * pitch + left + column - 1;
#pragma unroll
		for (int r = 0; r < rows + 2; r++, p += pitch)
#pragma unroll
			for (int c = 0; c < 6; c++) samples[r][c] = __ldg(p + c);
		int xx = 0, xy = 0, yy = 0, sx = 0, sy = 0;
#pragma unroll
		for (int r = 0; r < rows; r++)
#pragma unroll
			for (int c = 0; c < 4; c++) {
				target[r][c] = 512 - (samples[r + 1][c + 1] << 14);
				int u = gradient_gain * (samples[r + 1][c + 2] - samples[r + 1][c]);
				int v = gradient_gain * (samples[r + 2][c + 1] - samples[r][c + 1]);
				gx[r][c] = u;
				gy[r][c] = v;
				sx += u;
				sy += v;
				xx += u * u;
				xy += u * v;
				yy += v * v;
			}
		sum_x = total<lanes>(sx);
		sum_y = total<lanes>(sy);
		int64_t hxx = total<lanes>(xx) - mean_product(sum_x, sum_x, mean) + damping;
		int64_t hyy = total<lanes>(yy) - mean_product(sum_y, sum_y, mean) + damping;
		int64_t hxy = total<lanes>(xy) - mean_product(sum_x, sum_y, mean);
		int64_t det = hxx * hyy - hxy * hxy;
		float k = (float)step_gain / (float)(det < 1 ? 1 : det);
		a11 = (float)hyy * k;
		a12 = -(float)hxy * k;
		a22 = (float)hxx * k;
	}

	// compare returns the sums for the vector v. It omits the products unless products is set.
	template <bool products>
	__device__ __forceinline__ Sums compare(Vec v) const {
		const int outside = (patch_size - 1) * vector_one;
		int px = clamp_to(x + v.x, -outside, right), py = clamp_to(y + v.y, -outside, bottom);
		unsigned fx = fraction(px), fy = fraction(py);
		unsigned across = (128 - fx) | fx << 16, down = (128 - fy) | fy << 8;
		// A row's five samples are in two words. Samples 0 to 3 and 1 to 4 are moved into words of
		// their own.
		unsigned shift = (px >> vector_bits) & 3, first = 0x3210 + 0x1111 * shift, second = 0x4321 + 0x1111 * shift;
		const uint8_t *p = other + ((py >> vector_bits) * pitch + (px >> vector_bits) - (int)shift);
		unsigned above[4] = {};
		Sums s = {0, 0, 0, 0};
#pragma unroll
		for (int r = 0; r <= rows; r++, p += pitch) {
			const uint32_t *words = (const uint32_t *)p;
			unsigned low = __ldg(words), high = __ldg(words + 1);
			unsigned even = __byte_perm(low, high, first), odd = __byte_perm(low, high, second);
			unsigned row[4] = {__dp2a_lo(across, even, 0u), __dp2a_lo(across, odd, 0u), __dp2a_hi(across, even, 0u), __dp2a_hi(across, odd, 0u)};
#pragma unroll
			for (int c = 0; c < 4; c++) {
				if (r > 0) {
					int d = (int)__dp2a_lo(__byte_perm(above[c], row[c], 0x5410), down, (unsigned)target[r - 1][c]) >> 10;
					s.d += d;
					s.dd += d * d;
					if (products) {
						s.x += d * gx[r - 1][c];
						s.y += d * gy[r - 1][c];
					}
				}
				above[c] = row[c];
			}
		}
		s.d = total<lanes>(s.d);
		s.dd = total<lanes>(s.dd);
		if (products) {
			s.x = total<lanes>(s.x);
			s.y = total<lanes>(s.y);
		}
		return s;
	}

	__device__ __forceinline__ int cost(Vec v) const {
		Sums s = compare<false>(v);
		return patch_cost(s.d, s.dd, mean);
	}
};

// Found is the best vector that the search has found for a patch so far.
struct Found {
	Vec v;
	int cost;
};

static __device__ bool same(Vec a, Vec b) { return a.x == b.x && a.y == b.y; }

// none stands for a missing candidate.
static __device__ Vec none() { return {INT32_MIN, INT32_MIN}; }

// try_all replaces the vector of f by the first of the cheapest candidates if it costs less. All
// lanes of a patch see the same candidates.
template <int lanes, int groups>
static __device__ __forceinline__ void try_all(const Patch<lanes> &p, Found &f, const Vec *candidates, int count) {
	int group = threadIdx.x / lanes % groups;
#pragma unroll 1
	for (int first = 0; first < count; first += groups) {
		int k = first + group;
		Vec v = k < count ? candidates[k] : none();
		bool wanted = v.x != INT32_MIN && !same(v, f.v);
		if (!__any_sync(all_lanes, wanted)) continue;
		int cost = p.cost(wanted ? v : f.v);
		if (groups == 1) {
			if (wanted && cost < f.cost) f = {v, cost};
			continue;
		}
		unsigned long long least = wanted ? (unsigned long long)cost << 32 | k : ~0ull;
#pragma unroll
		for (int bit = lanes; bit < lanes * groups; bit *= 2) least = min(least, __shfl_xor_sync(all_lanes, least, bit));
		if (least >> 32 < (unsigned)f.cost) f = {candidates[(unsigned)least], (int)(least >> 32)};
	}
}

static __device__ __forceinline__ int step_of(float s) {
	return __float2int_rn(fminf(fmaxf(s, -(float)step_limit), (float)step_limit));
}

static __device__ __forceinline__ bool far(int d) { return d > step_limit || d < -step_limit; }

// descend improves f by steps from its vector, and returns whether the result is fixed.
// It does nothing unless going is set.
template <int lanes>
static __device__ __forceinline__ bool descend(const Patch<lanes> &p, Found &f, bool going, int iterations) {
	Vec from = f.v, v = f.v;
	bool fixed = !going;
#pragma unroll 1
	for (int t = 0; __any_sync(all_lanes, going); t++) {
		Sums s = p.template compare<true>(v);
		if (!going) continue;
		int cost = patch_cost(s.d, s.dd, p.mean);
		if (t > 0 && cost >= f.cost) {
			// A descent from f.v would begin with the same step and end there.
			fixed = true;
			going = false;
			continue;
		}
		f = {v, cost};
		if (t == iterations) {
			going = false;
			continue;
		}
		float bx = (float)(s.x - (int)mean_product(s.d, p.sum_x, p.mean)), by = (float)(s.y - (int)mean_product(s.d, p.sum_y, p.mean));
		int dx = step_of(p.a11 * bx + p.a12 * by), dy = step_of(p.a12 * bx + p.a22 * by);
		fixed = dx == 0 && dy == 0;
		v = {v.x - dx, v.y - dy};
		going = !fixed && !far(v.x - from.x) && !far(v.y - from.y);
	}
	return fixed;
}

static const int reach_threads = 192;

// reach finds, for patch x of direction z, the vector of whole pixels within radius that costs
// least, with a toll for each pixel of its length. The high word of a result is the cost, and the
// low one the vector's index in raster order.
extern "C" __global__ void __launch_bounds__(reach_threads) reach(unsigned long long *least, const uint8_t *level, size_t distance,
		int width, int height, int pitch, int columns, int stride, int radius, int mean) {
	__shared__ unsigned long long best;
	if (threadIdx.x == 0) best = ~0ull;
	__syncthreads();
	int left = patch_origin(blockIdx.x % columns, stride, width), top = patch_origin(blockIdx.x / columns, stride, height);
	const uint8_t *a = level + blockIdx.z * distance + (ptrdiff_t)top * pitch + left, *b = level + (1 - blockIdx.z) * distance;
	int side = 2 * radius + 1;
	for (int i = threadIdx.x; i < side * side; i += reach_threads) {
		int dx = i % side - radius, dy = i / side - radius;
		int x = clamp_to(left + dx, 1 - patch_size, width - 1), y = clamp_to(top + dy, 1 - patch_size, height - 1);
		const uint8_t *p = b + (ptrdiff_t)y * pitch + x;
		int sd = 0, sdd = 0;
		for (int r = 0; r < patch_size; r++)
			for (int c = 0; c < patch_size; c++) {
				int d = 16 * (p[r * pitch + c] - a[r * pitch + c]);
				sd += d;
				sdd += d * d;
			}
		unsigned e = patch_cost(sd, sdd, mean) + reach_toll * (abs(dx) + abs(dy));
		atomicMin(&best, (unsigned long long)e << 32 | (unsigned)i);
	}
	__syncthreads();
	if (threadIdx.x == 0) least[(size_t)blockIdx.z * gridDim.x + blockIdx.x] = best;
}

// coarse_vector returns twice the vector that the coarser level has at pixel (x, y) of this one.
static __device__ __forceinline__ Vec coarse_vector(const Vec *coarse, int width, int height, int x, int y) {
	Vec v = coarse[(ptrdiff_t)(clamp_to(y, 0, height - 1) >> 1) * halved(width) + (clamp_to(x, 0, width - 1) >> 1)];
	return {2 * v.x, 2 * v.y};
}

// search_first finds vectors from the coarser level's, or from zero if coarse is null, and from
// reach's results unless least is null.
template <int lanes, int groups>
static __device__ __forceinline__ void search_first(Vec *vectors, uint32_t *states, const uint8_t *level, size_t distance, int width, int height, int pitch,
		int columns, int count, int stride, const Vec *coarse, int candidates, int away, const unsigned long long *least, int radius, int iterations, int mean) {
	const int share = lanes * groups;
	__shared__ Vec tried[threads / share][around_count + 1];
	Vec *mine = tried[threadIdx.x / share];
	int i = (blockIdx.x * threads + threadIdx.x) / share, n = min(i, count - 1), lane = threadIdx.x % share;
	int left = patch_origin(n % columns, stride, width), top = patch_origin(n / columns, stride, height);
	if (coarse) {
		coarse += (size_t)blockIdx.z * halved(width) * halved(height);
#pragma unroll 1
		for (int k = lane; k < candidates; k += share) {
			Vec to = k ? around[k - 1] : Vec{0, 0};
			mine[k] = coarse_vector(coarse, width, height, left + patch_size / 2 + away * to.x, top + patch_size / 2 + away * to.y);
		}
	}
	__syncwarp();
	Patch<lanes> p;
	p.load(level + blockIdx.z * distance, level + (1 - blockIdx.z) * distance, width, height, pitch, left, top, mean);
	Found f = {coarse ? mine[0] : Vec{0, 0}, 0};
	f.cost = p.cost(f.v);
	if (coarse) try_all<lanes, groups>(p, f, mine + 1, candidates - 1);
	size_t at = (size_t)blockIdx.z * count + n;
	if (least) {
		unsigned long long r = least[at];
		int index = (int)(unsigned)r, side = 2 * radius + 1;
		if ((r >> 32) * 2 < (unsigned)f.cost) f.v = {(index % side - radius) * vector_one, (index / side - radius) * vector_one};
	}
	bool fixed = descend(p, f, i < count, iterations);
	if (i < count && lane == 0) {
		vectors[at] = f.v;
		states[at] = f.cost | state_moved | (fixed ? state_fixed : 0);
	}
}

// search_propagate tries to improve a vector: it tries the vectors of the patches around it, and of
// the other direction's patch to which it leads. from and from_states come from the
// previous round. A candidate that has not changed for a round has been tried before and cannot
// win.
template <int lanes, int groups>
static __device__ __forceinline__ void search_propagate(Vec *vectors, uint32_t *states, const Vec *from, const uint32_t *from_states,
		const uint8_t *level, size_t distance, int width, int height, int pitch, int columns, int count, int stride, int neighbours, int iterations, int mean) {
	const int share = lanes * groups;
	__shared__ Vec tried[threads / share][around_count + 1];
	Vec *mine = tried[threadIdx.x / share];
	int i = (blockIdx.x * threads + threadIdx.x) / share, n = min(i, count - 1), lane = threadIdx.x % share;
	int column = n % columns, row = n / columns, rows = count / columns;
	int left = patch_origin(column, stride, width), top = patch_origin(row, stride, height);
	size_t here = (size_t)blockIdx.z * count, there = (size_t)(1 - blockIdx.z) * count;
	Vec own = from[here + n];
	uint32_t state = from_states[here + n];
	bool active = !(state & state_fixed);
#pragma unroll 1
	for (int k = lane; k <= neighbours; k += share) {
		Vec v = none();
		if (k < neighbours) {
			int c = column + around[k].x, r = row + around[k].y;
			if (c >= 0 && r >= 0 && c < columns && r < rows && (from_states[here + r * columns + c] & state_moved))
				v = from[here + r * columns + c];
		} else {
			size_t at = there + patch_near(top, own.y, stride, rows) * columns + patch_near(left, own.x, stride, columns);
			if ((from_states[at] | state) & state_moved) v = {-from[at].x, -from[at].y};
		}
		if (same(v, own)) v = none();
		active = active || v.x != INT32_MIN;
		mine[k] = v;
	}
	active = active && i < count;
	__syncwarp();
	if (!__any_sync(all_lanes, active)) {
		if (i < count && lane == 0) {
			vectors[here + n] = own;
			states[here + n] = state & ~state_moved;
		}
		return;
	}
	Patch<lanes> p;
	p.load(level + blockIdx.z * distance, level + (1 - blockIdx.z) * distance, width, height, pitch, left, top, mean);
	Found f = {own, (int)(state & state_cost)};
	try_all<lanes, groups>(p, f, mine, neighbours + 1);
	bool fixed = descend(p, f, i < count && (!(state & state_fixed) || !same(f.v, own)), iterations);
	if (i < count && lane == 0) {
		vectors[here + n] = f.v;
		states[here + n] = f.cost | (same(f.v, own) ? 0 : state_moved) | (fixed ? state_fixed : 0);
	}
}

// The number in a kernel's name is the number of threads per patch. With few threads, less work is
// done twice; with many, a level of few patches is finished sooner.
#define SEARCH(share, lanes, groups) \
	extern "C" __global__ void __launch_bounds__(threads) first_##share(Vec *vectors, uint32_t *states, const uint8_t *level, size_t distance, \
			int width, int height, int pitch, int columns, int count, int stride, const Vec *coarse, int candidates, int away, \
			const unsigned long long *least, int radius, int iterations, int mean) { \
		search_first<lanes, groups>(vectors, states, level, distance, width, height, pitch, columns, count, stride, coarse, candidates, away, \
			least, radius, iterations, mean); \
	} \
	extern "C" __global__ void __launch_bounds__(threads) propagate_##share(Vec *vectors, uint32_t *states, const Vec *from, const uint32_t *from_states, \
			const uint8_t *level, size_t distance, int width, int height, int pitch, int columns, int count, int stride, \
			int neighbours, int iterations, int mean) { \
		search_propagate<lanes, groups>(vectors, states, from, from_states, level, distance, width, height, pitch, columns, count, stride, \
			neighbours, iterations, mean); \
	}
SEARCH(2, 2, 1)
SEARCH(4, 4, 1)
SEARCH(32, 4, 8)
