// Planes made from two others: a cross-fade, and the merging of two splatted pictures.

#include "splat.cuh"

typedef unsigned long long Sum; // the type that atomicAdd takes

__device__ uint32_t faded(uint32_t a, uint32_t b, int32_t phase) {
	return (uint32_t)(((uint64_t)a * (phase_one - phase) + (uint64_t)b * phase + phase_one / 2) >> 16);
}

// fade cross-fades a plane, rounding to nearest. If only_if is not null, fade does so only if
// *only_if equals the number of the plane's samples.
template <typename T>
__device__ void fade(T *dst, const T *a, const T *b, int stride, int width, int height, int32_t phase, const uint32_t *only_if) {
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	if (x >= width || (only_if && *only_if != (uint32_t)width * height)) return;
	for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y) {
		size_t at = (size_t)y * stride + x;
		dst[at] = (T)faded(a[at], b[at], phase);
	}
}

extern "C" __global__ void fade_u8(uint8_t *dst, const uint8_t *a, const uint8_t *b, int stride, int width, int height, int32_t phase, const uint32_t *only_if) {
	fade(dst, a, b, stride, width, height, phase, only_if);
}

extern "C" __global__ void fade_u16(uint16_t *dst, const uint16_t *a, const uint16_t *b, int stride, int width, int height, int32_t phase, const uint32_t *only_if) {
	fade(dst, a, b, stride, width, height, phase, only_if);
}

// take returns the mean of sum n of a pixel and sets the sum to zero.
template <bool carries>
__device__ uint32_t take(Sum *sums, uint32_t *carry, size_t size, size_t at, int n, uint64_t weight) {
	Wide s = {0, sums[(n + 1) * size + at]};
	sums[(n + 1) * size + at] = 0;
	if (carries && weight > sample_limit16) {
		s.high = carry[n * size + at];
		carry[n * size + at] = 0;
	}
	return (uint32_t)mean_magnitude(s, weight);
}

// meet blends n planes of two splatted pictures by phase at pixels that both reach, takes the only
// one that reaches others, and lists the pixels that neither reaches. The first
// picture's sums come before the second's. meet leaves all of them zero.
template <typename T>
__device__ void meet(T *const *planes, int n, int stride, int width, int height, Sum *sums, uint32_t *carries, int32_t phase,
                     uint8_t *mask, uint32_t *list, uint32_t *count) {
	const bool carry = sizeof(T) == 2;
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	size_t size = (size_t)width * height, at = (size_t)y * width + x;
	Sum *sums_b = sums + (n + 1) * size;
	uint32_t *carries_b = carries + n * size;
	uint64_t wa = sums[at], wb = sums_b[at];
	if (wa) sums[at] = 0;
	if (wb) sums_b[at] = 0;
	bool none = wa == 0 && wb == 0;
	mask[at] = none ? 255 : 0;
	if (none) list[atomicAdd(count, 1u)] = (uint32_t)at;
	for (int k = 0; k < 4; k++) {
		if (k >= n) break;
		uint32_t a = 0, b = 0;
		if (wa) a = take<carry>(sums, carries, size, at, k, wa);
		if (wb) b = take<carry>(sums_b, carries_b, size, at, k, wb);
		planes[k][(size_t)y * stride + x] = (T)(wa == 0 ? b : wb == 0 ? a : faded(a, b, phase));
	}
}

extern "C" __global__ void meet_u8(uint8_t *p0, uint8_t *p1, uint8_t *p2, uint8_t *p3, int n, int stride, int width, int height, Sum *sums,
                                   uint32_t *carries, int32_t phase, uint8_t *mask, uint32_t *list, uint32_t *count) {
	uint8_t *planes[4] = {p0, p1, p2, p3};
	meet(planes, n, stride, width, height, sums, carries, phase, mask, list, count);
}

extern "C" __global__ void meet_u16(uint16_t *p0, uint16_t *p1, uint16_t *p2, uint16_t *p3, int n, int stride, int width, int height, Sum *sums,
                                    uint32_t *carries, int32_t phase, uint8_t *mask, uint32_t *list, uint32_t *count) {
	uint16_t *planes[4] = {p0, p1, p2, p3};
	meet(planes, n, stride, width, height, sums, carries, phase, mask, list, count);
}
