// Forward splatting of flow and colour: section 6 of J. Rosner, H. Fassold, P.
// Schallauer and W. Bailer, "Fast GPU-based image warping and inpainting for frame
// interpolation", GravisMa workshop, 2010.
//
// In shared memory, a block sums up the contributions of its tile of pixels to a window of the
// destination, and adds them to the sums in global memory at the end. Pixels that land outside the
// window are added to global memory directly. Sums are integers, so their order does not matter.
//
// Sums are stored one quantity after the other: the weight, then the values. Sums of values that
// may exceed 64 bits have a second half, a carry of 32 bits for each.

#include "resample.cuh"
#include "splat.cuh"

enum {
	tile_width = 32,
	tile_height = 16,
	rows = 8,
	threads = tile_width * rows,
	window_width = tile_width + 8,
	window_height = tile_height + 8,
	window = window_width * window_height,
	window_margin = 4
};

// The window holds 64-bit sums as two halves, because shared memory adds 32 bits at a time.
__device__ void add_shared(uint32_t *low, uint32_t *high, uint64_t v) {
	uint32_t l = (uint32_t)v, h = (uint32_t)(v >> 32);
	uint32_t old = atomicAdd(low, l);
	h += old + l < old;
	if (h) atomicAdd(high, h);
}

__device__ uint64_t sum_at(const uint32_t *low, const uint32_t *high, int i) { return (uint64_t)high[i] << 32 | low[i]; }

typedef unsigned long long Sum; // the type that atomicAdd takes

__device__ void add_global(Sum *sum, uint32_t *carry, uint64_t v) {
	if (!carry) {
		atomicAdd(sum, (Sum)v);
		return;
	}
	Sum old = atomicAdd(sum, (Sum)v);
	if (old + v < old) atomicAdd(carry, 1u);
}

// Corner is where a block's window begins.
struct Corner {
	int x, y;
};

// place_window puts the window over all landings of the block if they fit, otherwise around the
// landing of the pixel in the middle of the tile.
__device__ Corner place_window(const Landing *l, const bool *present, int n, Landing middle) {
	__shared__ int least[2], most[2];
	int thread = threadIdx.y * tile_width + threadIdx.x;
	if (thread < 2) {
		least[thread] = INT32_MAX;
		most[thread] = INT32_MIN;
	}
	__syncthreads();
	int left = INT32_MAX, top = INT32_MAX, right = INT32_MIN, bottom = INT32_MIN;
	for (int i = 0; i < n; i++) {
		if (!present[i]) continue;
		left = min(left, l[i].x);
		top = min(top, l[i].y);
		right = max(right, l[i].x);
		bottom = max(bottom, l[i].y);
	}
	if (left <= right) {
		atomicMin(&least[0], left);
		atomicMin(&least[1], top);
		atomicMax(&most[0], right);
		atomicMax(&most[1], bottom);
	}
	__syncthreads();
	Corner c = {least[0], least[1]};
	if ((int64_t)most[0] - least[0] > window_width - 2) c.x = middle.x - tile_width / 2 - window_margin;
	if ((int64_t)most[1] - least[1] > window_height - 2) c.y = middle.y - tile_height / 2 - window_margin;
	return c;
}

// splat adds a tile. Source s has s.at(x, y, &motion, &weight), which returns false for pixels
// outside the picture, and s.value(x, y, k) for values 0 to N-1.
template <int N, bool carries, typename Source>
__device__ void splat(const Source &s, Sum *sums, uint32_t *carry, int width, int height, int32_t phase) {
	DYNAMIC_SHARED(uint32_t, halves);
	uint32_t *low = halves, *high = halves + (N + 1) * window;
	const int pixels = tile_height / rows;
	int thread = threadIdx.y * tile_width + threadIdx.x;
	for (int i = thread; i < 2 * (N + 1) * window / 4; i += threads) ((uint4 *)halves)[i] = make_uint4(0, 0, 0, 0);

	int x = blockIdx.x * tile_width + threadIdx.x, top = blockIdx.y * tile_height;
	Landing l[pixels];
	uint32_t weight[pixels];
	bool present[pixels];
	for (int i = 0; i < pixels; i++) {
		int y = top + threadIdx.y + i * rows;
		Vec v;
		present[i] = s.at(x, y, &v, &weight[i]) && weight[i] != 0;
		if (!present[i]) continue;
		l[i] = land(x, y, v, phase);
		// Pixels that land outside the picture do not count.
		present[i] = l[i].x >= -1 && l[i].y >= -1 && l[i].x < width && l[i].y < height;
	}
	int mx = min(width - 1, (int)blockIdx.x * tile_width + tile_width / 2), my = min(height - 1, top + tile_height / 2);
	Vec v = {0, 0};
	uint32_t w;
	s.at(mx, my, &v, &w);
	Corner corner = place_window(l, present, pixels, land(mx, my, v, phase));

	size_t size = (size_t)width * height;
	for (int i = 0; i < pixels; i++) {
		if (!present[i]) continue;
		int y = top + threadIdx.y + i * rows;
		uint32_t values[N];
		for (int n = 0; n < N; n++) values[n] = s.value(x, y, n);
		uint32_t wx = l[i].x - corner.x, wy = l[i].y - corner.y;
		bool here = wx < window_width - 1 && wy < window_height - 1;
		for (int k = 0; k < 4; k++) {
			uint32_t part = share(l[i], weight[i], k);
			if (!part) continue;
			if (here) {
				int at = (wy + (k >> 1)) * window_width + wx + (k & 1);
				add_shared(&low[at], &high[at], part);
				for (int n = 0; n < N; n++)
					add_shared(&low[(n + 1) * window + at], &high[(n + 1) * window + at], (uint64_t)values[n] * part);
				continue;
			}
			int px = l[i].x + (k & 1), py = l[i].y + (k >> 1);
			if (px < 0 || py < 0 || px >= width || py >= height) continue;
			size_t at = (size_t)py * width + px;
			add_global(&sums[at], nullptr, part);
			for (int n = 0; n < N; n++)
				add_global(&sums[(n + 1) * size + at], carries ? &carry[n * size + at] : nullptr, (uint64_t)values[n] * part);
		}
	}
	__syncthreads();

	// A thread adds all its sums before it looks at carries. If one loop did both, nvcc 11.8 would
	// read some sums from the wrong place after unrolling.
	const int turns = (window + threads - 1) / threads;
	const uint32_t nowhere = UINT32_MAX;
	Sum before[turns][N];
	uint32_t to[turns];
#pragma unroll
	for (int j = 0; j < turns; j++) {
		int i = thread + j * threads;
		int px = (uint32_t)corner.x + i % window_width, py = (uint32_t)corner.y + i / window_width; // negative if nothing has a corner
		to[j] = nowhere;
		if (i >= window || px < 0 || py < 0 || px >= width || py >= height) continue;
		uint64_t part = sum_at(low, high, i);
		if (!part) continue;
		to[j] = (uint32_t)py * width + px;
		atomicAdd(&sums[to[j]], (Sum)part);
#pragma unroll
		for (int n = 0; n < N; n++) before[j][n] = atomicAdd(&sums[(n + 1) * size + to[j]], (Sum)sum_at(low, high, (n + 1) * window + i));
	}
#pragma unroll
	for (int j = 0; j < turns; j++)
#pragma unroll
		for (int n = 0; n < N; n++)
			if (carries && to[j] != nowhere && before[j][n] + sum_at(low, high, (n + 1) * window + thread + j * threads) < before[j][n]) atomicAdd(&carry[n * size + to[j]], 1u);
}

// FlowSource is a flow, or its reverse, that moves along itself. A bias makes its components
// non-negative.
struct FlowSource {
	const Vec *flow;
	const uint16_t *weights;
	int width, height;
	int32_t bias;
	int sign; // 1, or -1 for the reverse

	__device__ bool at(int x, int y, Vec *v, uint32_t *weight) const {
		if (x >= width || y >= height) return false;
		*v = flow[(size_t)y * width + x];
		v->x *= sign;
		v->y *= sign;
		*weight = weights[(size_t)y * width + x];
		return true;
	}
	__device__ uint32_t value(int x, int y, int n) const {
		Vec v = flow[(size_t)y * width + x];
		return (uint32_t)(sign * (n ? v.y : v.x) + bias);
	}
};

// splat_flow moves flow z by phase, or by phase_one - phase if z is odd, with the weights of trust
// z. From flow inner on, it moves the flows' reverse. Flow z has the z-th sums and carries.
// Components are at most bias in magnitude.
extern "C" __global__ void splat_flow(const Vec *flows, const uint16_t *trust, int inner, Sum *sums, uint32_t *carries,
                                      int width, int height, int32_t phase, int32_t bias) {
	size_t size = (size_t)width * height, z = blockIdx.z;
	FlowSource s = {flows + z * size, trust + z * size, width, height, bias, z < (size_t)inner ? 1 : -1};
	splat<2, true>(s, sums + 3 * z * size, carries + 2 * z * size, width, height, z & 1 ? phase_one - phase : phase);
}

// PlaneSource is up to four planes of equal size that move along a flow on another grid.
template <typename T>
struct PlaneSource {
	const T *planes[4];
	int stride, width, height;
	Guide guide;

	__device__ bool at(int x, int y, Vec *v, uint32_t *weight) const {
		if (x >= width || y >= height) return false;
		*v = motion_at(guide, x, y);
		*weight = weight_at(guide, x, y);
		return true;
	}
	__device__ uint32_t value(int x, int y, int n) const { return planes[n][(size_t)y * stride + x]; }
};

template <int N, typename T>
__device__ void splat_planes(const PlaneSource<T> *s, Sum *sums, uint32_t *carries, int width, int height, int32_t phase) {
	size_t size = (size_t)width * height, z = blockIdx.z;
	splat<N, sizeof(T) == 2>(*s, sums + (N + 1) * z * size, carries + N * z * size, width, height, z ? phase_one - phase : phase);
}

// Each kernel moves the planes of the first picture, a, along flow 0 by phase, and the planes of
// the second, b, along flow 1 by phase_one - phase. Sums and carries of the first picture come
// before the second's. 2^sx columns and 2^sy rows of the flows' grid make one of the planes.
#define SPLAT_PLANES(name, N, T)                                                                                   \
	extern "C" __global__ void name(const T *a0, const T *a1, const T *a2, const T *a3, const T *b0, const T *b1, \
	                                const T *b2, const T *b3, int stride, int width, int height, const Vec *flows, \
	                                const uint16_t *trust, int guide_width, int guide_height, int sx, int sy,      \
	                                Sum *sums, uint32_t *carries, int32_t phase) {                                \
		size_t size = (size_t)guide_width * guide_height, z = blockIdx.z;                                         \
		Guide g = {flows + z * size, trust + z * size, guide_width, guide_height, sx, sy};                        \
		PlaneSource<T> s = {{z ? b0 : a0, z ? b1 : a1, z ? b2 : a2, z ? b3 : a3}, stride, width, height, g};      \
		splat_planes<N>(&s, sums, carries, width, height, phase);                                                 \
	}

SPLAT_PLANES(splat_1_u8, 1, uint8_t)
SPLAT_PLANES(splat_2_u8, 2, uint8_t)
SPLAT_PLANES(splat_3_u8, 3, uint8_t)
SPLAT_PLANES(splat_4_u8, 4, uint8_t)
SPLAT_PLANES(splat_1_u16, 1, uint16_t)
SPLAT_PLANES(splat_2_u16, 2, uint16_t)
SPLAT_PLANES(splat_3_u16, 3, uint16_t)
SPLAT_PLANES(splat_4_u16, 4, uint16_t)
