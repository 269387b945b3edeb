// Inpainting of holes from their borders, as in package inpaint.
//
// J. Rosner, H. Fassold, P. Schallauer and W. Bailer, "Fast GPU-based image warping and
// inpainting for frame interpolation", GravisMa workshop, 2010, section 6, trace from
// each border pixel into the hole, with a kernel for each direction. Lines of a
// direction never meet, so a hole pixel receives at most one sample from each
// direction: the sample of the border pixel at which its line, followed backward,
// leaves the hole. Here, each hole pixel fetches those samples itself, which needs
// neither sums in global memory nor more than one launch.
//
// The list holds the hole pixels as y*width + x, in any order. mask is 0 for known
// pixels, hole for others, and unreached for pixels that no line has reached. Up to
// four planes of one size and stride share the mask.

#include "inpaint.cuh"
#include "divide.cuh"

enum { hole = 255, unreached = 254 };

typedef unsigned long long Sum;

template <typename T>
struct Planes {
	T *plane[4];
	int n, stride;
};

// A Region describes the holes of a plane.
struct Region {
	const uint32_t *list;
	uint8_t *mask;
	int mask_stride, width, height;
};

// blocked reports whether a walk continues through (x, y): in the first pass through any hole
// pixel, in the second only through pixels that the first did not reach.
__device__ bool blocked(const Region &r, int x, int y, bool second) {
	uint8_t m = r.mask[(size_t)y * r.mask_stride + x];
	return second ? m == unreached : m != 0;
}

// propagate fills 32 pixels in a block with as many columns, whose rows of threads share the
// directions. So neighbouring threads follow parallel lines of about equal length. partial holds a
// weight and the planes' sums for each thread.
template <typename T>
__device__ void propagate(const Region &r, uint32_t count, const Planes<T> &p, const Direction *directions, int n, bool second,
                          uint32_t *rest) {
	DYNAMIC_SHARED(Sum, partial);
	int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
	for (uint32_t base = blockIdx.x * blockDim.x; base < count; base += gridDim.x * blockDim.x) {
		uint32_t number = base + threadIdx.x;
		bool here = number < count;
		int x = 0, y = 0;
		if (here) {
			uint32_t at = r.list[number];
			x = at % r.width;
			y = at / r.width;
			here = !second || r.mask[(size_t)y * r.mask_stride + x] == unreached;
		}
		Sum sums[4] = {0, 0, 0, 0}, weight = 0;
		for (int d = threadIdx.y; here && d < n; d += blockDim.y) {
			Direction line = directions[d];
			int major = line.vertical ? y : x, minor = line.vertical ? x : y;
			int majors = line.vertical ? r.height : r.width, minors = line.vertical ? r.width : r.height;
			int origin = minor - minor_offset(major, line.slope);
			for (int steps = 1;; steps++) {
				int a = major - line.sign * steps, b = origin + minor_offset(a, line.slope);
				if ((unsigned)a >= (unsigned)majors || (unsigned)b >= (unsigned)minors) break;
				int px = line.vertical ? b : a, py = line.vertical ? a : b;
				if (blocked(r, px, py, second)) continue;
				uint32_t w = travel_weight(steps, line.step);
				weight += w;
				for (int k = 0; k < 4; k++)
					if (k < p.n) sums[k] += (Sum)w * p.plane[k][(size_t)py * p.stride + px];
				break;
			}
		}
		partial[thread] = weight;
		for (int k = 0; k < 4; k++)
			if (k < p.n) partial[(k + 1) * threads + thread] = sums[k];
		__syncthreads();
		if (here && threadIdx.y == 0) {
			for (int d = 1; d < (int)blockDim.y; d++) {
				int other = d * blockDim.x + threadIdx.x;
				weight += partial[other];
				for (int k = 0; k < 4; k++)
					if (k < p.n) sums[k] += partial[(k + 1) * threads + other];
			}
			if (weight == 0) {
				if (!second) {
					r.mask[(size_t)y * r.mask_stride + x] = unreached;
					*rest = 1;
				}
			} else {
				for (int k = 0; k < 4; k++)
					if (k < p.n) p.plane[k][(size_t)y * p.stride + x] = (T)divided(sums[k] + weight / 2, weight);
			}
		}
		__syncthreads();
	}
}

// distance returns the distance from a hole pixel to the nearest known one, at most
// max_distance.
__device__ int distance(const Region &r, int x, int y) {
	int least = max_distance;
	for (int ring = 1; chamfer_axial * ring < least; ring++)
		for (int dy = -ring; dy <= ring; dy++) {
			int py = y + dy;
			if (py < 0 || py >= r.height) continue;
			int step = dy == -ring || dy == ring ? 1 : 2 * ring;
			for (int dx = -ring; dx <= ring; dx += step) {
				int px = x + dx;
				if (px < 0 || px >= r.width || r.mask[(size_t)py * r.mask_stride + px]) continue;
				least = min(least, chamfer(dx, dy));
			}
		}
	return least;
}

// blur computes the mean of the box around each hole pixel, rounded half up. Planes of
// blurred are capacity apart. A thread takes one pixel of one plane.
template <typename T>
__device__ void blur(const Region &r, uint32_t count, const Planes<T> &p, T *blurred, int capacity) {
	for (uint64_t t = blockIdx.x * blockDim.x + threadIdx.x; t < (uint64_t)count * p.n; t += gridDim.x * blockDim.x) {
		uint32_t k = t / count, i = t % count;
		const T *plane = k == 0 ? p.plane[0] : k == 1 ? p.plane[1] : k == 2 ? p.plane[2] : p.plane[3];
		int x = r.list[i] % r.width, y = r.list[i] / r.width;
		int radius = blur_radius(distance(r, x, y));
		int left = max(0, x - radius), right = min(r.width - 1, x + radius);
		int top = max(0, y - radius), bottom = min(r.height - 1, y + radius);
		uint32_t n = (right - left + 1) * (bottom - top + 1), sum = 0;
		for (int py = top; py <= bottom; py++)
			for (int px = left; px <= right; px++) sum += plane[(size_t)py * p.stride + px];
		blurred[(size_t)k * capacity + i] = (T)((sum + n / 2) / n);
	}
}

template <typename T>
__device__ void store(const Region &r, uint32_t count, const Planes<T> &p, const T *blurred, int capacity) {
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
		int x = r.list[i] % r.width, y = r.list[i] / r.width;
		for (int k = 0; k < 4; k++)
			if (k < p.n) p.plane[k][(size_t)y * p.stride + x] = blurred[(size_t)k * capacity + i];
	}
}

// Holes holds the holes of a group of planes. count is 0 if everything is a hole.
template <typename T>
struct Holes {
	Planes<T> planes;
	Region region;
	uint32_t count;
	T *blurred;
	int capacity; // of a plane of blurred
	uint32_t *rest;
};

template <typename T>
__device__ Holes<T> holes_of(T *p0, T *p1, T *p2, T *p3, int planes, int stride, const uint32_t *list, const uint32_t *count, uint8_t *mask,
                             int width, int height, T *blurred, uint32_t *rest) {
	uint32_t n = planes ? *count : 0;
	if (n == (uint32_t)width * height) n = 0;
	Holes<T> h = {{{p0, p1, p2, p3}, planes, stride}, {list, mask, width, width, height}, n, blurred, width * height, rest};
	return h;
}

#define HOLES(T, g)                                                                                                     \
	T *g##_p0, T *g##_p1, T *g##_p2, T *g##_p3, int g##_planes, int g##_stride, const uint32_t *g##_list,               \
		const uint32_t *g##_count, uint8_t *g##_mask, int g##_width, int g##_height, T *g##_blurred, uint32_t *g##_rest

#define HOLES_OF(g)                                                                                                     \
	holes_of(g##_p0, g##_p1, g##_p2, g##_p3, g##_planes, g##_stride, g##_list, g##_count, g##_mask, g##_width,          \
	         g##_height, g##_blurred, g##_rest)

// The three kernels run one after the other, the first of them twice, in blocks of 32 columns, with
// shared memory for a weight and planes sums for each thread. Blocks of layer 0 fill the holes of
// one group of planes, and blocks of layer 1 the holes of the other. rest must start at 0; the first pass
// sets it to 1 if the second has work to do.
#define INPAINT(suffix, T)                                                                                              \
	extern "C" __global__ void propagate_##suffix(HOLES(T, group), HOLES(T, other), const Direction *directions, int n, \
	                                              int second) {                                                         \
		Holes<T> h = blockIdx.y ? HOLES_OF(other) : HOLES_OF(group);                                                    \
		if (h.count == 0 || (second && *h.rest == 0)) return;                                                           \
		propagate(h.region, h.count, h.planes, directions, n, second != 0, h.rest);                                     \
	}                                                                                                                   \
	extern "C" __global__ void blur_##suffix(HOLES(T, group), HOLES(T, other)) {                                        \
		Holes<T> h = blockIdx.y ? HOLES_OF(other) : HOLES_OF(group);                                                    \
		blur(h.region, h.count, h.planes, h.blurred, h.capacity);                                                       \
	}                                                                                                                   \
	extern "C" __global__ void store_##suffix(HOLES(T, group), HOLES(T, other)) {                                       \
		Holes<T> h = blockIdx.y ? HOLES_OF(other) : HOLES_OF(group);                                                    \
		store(h.region, h.count, h.planes, h.blurred, h.capacity);                                                      \
	}

INPAINT(u8, uint8_t)
INPAINT(u16, uint16_t)
