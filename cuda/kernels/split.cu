// The planes of a picture with alternating chroma samples, as a video decoder leaves it. Samples of
// more than eight bits are in the high bits of 16. A thread makes four samples of a row of a plane,
// with a single access if they are aligned.

#include "host_device.cuh"

template <typename T, int N>
struct alignas(N * sizeof(T)) Run {
	T v[N];
};

template <typename R>
__device__ bool aligned(const void *p) {
	return ((uintptr_t)p & (sizeof(R) - 1)) == 0;
}

template <typename T>
__device__ void split_luma(const T *src, T *dst, int n, int shift) {
	if (n >= 4 && aligned<Run<T, 4>>(src) && aligned<Run<T, 4>>(dst)) {
		Run<T, 4> v = *(const Run<T, 4> *)src;
		for (int i = 0; i < 4; i++) v.v[i] >>= shift;
		*(Run<T, 4> *)dst = v;
		return;
	}
	for (int i = 0; i < min(4, n); i++) dst[i] = src[i] >> shift;
}

template <typename T>
__device__ void split_chroma(const T *src, T *u, T *v, int n, int shift) {
	if (n >= 4 && aligned<Run<T, 8>>(src) && aligned<Run<T, 4>>(u) && aligned<Run<T, 4>>(v)) {
		Run<T, 8> in = *(const Run<T, 8> *)src;
		Run<T, 4> a, b;
		for (int i = 0; i < 4; i++) a.v[i] = in.v[2 * i] >> shift, b.v[i] = in.v[2 * i + 1] >> shift;
		*(Run<T, 4> *)u = a;
		*(Run<T, 4> *)v = b;
		return;
	}
	for (int i = 0; i < min(4, n); i++) u[i] = src[2 * i] >> shift, v[i] = src[2 * i + 1] >> shift;
}

// split covers luma in layer 0 of the grid and chroma in layer 1. Strides are in samples.
template <typename T>
__device__ void split(const T *luma, int luma_stride, const T *chroma, int chroma_stride, T *y_plane, int y_stride, T *u_plane, int u_stride,
	T *v_plane, int v_stride, int width, int height, int shift) {
	int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y;
	if (blockIdx.z == 0) {
		if (x < width && y < height)
			split_luma(luma + (size_t)y * luma_stride + x, y_plane + (size_t)y * y_stride + x, width - x, shift);
		return;
	}
	width = (width + 1) / 2;
	height = (height + 1) / 2;
	if (x < width && y < height)
		split_chroma(chroma + (size_t)y * chroma_stride + 2 * x, u_plane + (size_t)y * u_stride + x, v_plane + (size_t)y * v_stride + x, width - x, shift);
}

extern "C" __global__ void split_u8(const uint8_t *luma, int luma_stride, const uint8_t *chroma, int chroma_stride, uint8_t *y_plane, int y_stride,
	uint8_t *u_plane, int u_stride, uint8_t *v_plane, int v_stride, int width, int height, int shift) {
	split(luma, luma_stride, chroma, chroma_stride, y_plane, y_stride, u_plane, u_stride, v_plane, v_stride, width, height, shift);
}

extern "C" __global__ void split_u16(const uint16_t *luma, int luma_stride, const uint16_t *chroma, int chroma_stride, uint16_t *y_plane, int y_stride,
	uint16_t *u_plane, int u_stride, uint16_t *v_plane, int v_stride, int width, int height, int shift) {
	split(luma, luma_stride, chroma, chroma_stride, y_plane, y_stride, u_plane, u_stride, v_plane, v_stride, width, height, shift);
}
