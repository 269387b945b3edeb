// Converts integer planes to floats. A thread converts four samples of a row, with a single access
// if they are aligned.

#include "host_device.cuh"

template <typename T>
struct alignas(4 * sizeof(T)) Four {
	T v[4];
};

template <typename T>
__device__ bool aligned(const T *p) {
	return ((uintptr_t)p & (sizeof(Four<T>) - 1)) == 0;
}

template <typename T>
__device__ void to_float(const T *src, int src_stride, float *dst, int dst_stride, int width, int height) {
	int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	src += (size_t)y * src_stride + x;
	dst += (size_t)y * dst_stride + x;
	if (x + 4 <= width && aligned(src) && aligned(dst)) {
		Four<T> in = *(const Four<T> *)src;
		Four<float> out;
		for (int i = 0; i < 4; i++) out.v[i] = in.v[i];
		*(Four<float> *)dst = out;
		return;
	}
	for (int i = 0; i < min(4, width - x); i++) dst[i] = src[i];
}

extern "C" __global__ void to_float_u8(const uint8_t *src, int src_stride, float *dst, int dst_stride, int width, int height) {
	to_float(src, src_stride, dst, dst_stride, width, height);
}

extern "C" __global__ void to_float_u16(const uint16_t *src, int src_stride, float *dst, int dst_stride, int width, int height) {
	to_float(src, src_stride, dst, dst_stride, width, height);
}

// to_light converts samples to light, by the table of package warp. A thread converts a sample.
extern "C" __global__ void to_light(const uint16_t *src, int src_stride, float *dst, int dst_stride, int width, int height, const float *light) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	dst[(size_t)y * dst_stride + x] = light[src[(size_t)y * src_stride + x]];
}
