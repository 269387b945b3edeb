// Coefficients of the quasi-interpolant of the element of Zwart and Powell, with the same bits as
// package warp.

#include "sampler.cuh"

// A thread computes a coefficient: (12 p - the four neighbours)/8, which is exact.
#define QUASI(name, T)                                                                                                \
	extern "C" __global__ void name(float *dst, int dst_stride, const T *p, int stride, int width, int height) {      \
		int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;                     \
		if (x >= width || y >= height) return;                                                                        \
		const T *row = p + (size_t)y * stride;                                                                        \
		int32_t sum = 12 * (int32_t)row[x] - (int32_t)row[mirror(x - 1, width)] - (int32_t)row[mirror(x + 1, width)] - \
		              (int32_t)p[(size_t)mirror(y - 1, height) * stride + x] -                                        \
		              (int32_t)p[(size_t)mirror(y + 1, height) * stride + x];                                         \
		dst[(size_t)y * dst_stride + x] = (float)sum * 0.125f;                                                        \
	}

QUASI(quasi_u8, uint8_t)
QUASI(quasi_u16, uint16_t)
