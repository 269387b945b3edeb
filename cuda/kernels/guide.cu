// The guide of a frame: its luma in 8 bits, halved level times, as package warp's Luma and Halve
// make it.

#include "motion.cuh"

// Luma reads a frame's luma. The planes are Y, or G, B and R.
template <typename T>
struct Luma {
	const T *first, *second, *third;
	int stride, width, height, shift, mask;
	const uint8_t *tone; // null to drop bits
	int rgb;

	__device__ int at(int x, int y) const {
		size_t i = (size_t)y * stride + x;
		if (!rgb) return tone ? tone[first[i] & mask] : (uint8_t)(first[i] >> shift);
		uint32_t v = 77 * (uint32_t)third[i] + 150 * (uint32_t)first[i] + 29 * (uint32_t)second[i];
		return tone ? tone[(T)((v + 128) >> 8) & mask] : (int)min(((v >> shift) + 128) >> 8, 255u);
	}
};

// Halved reads the luma halved level times.
template <typename T, int level>
struct Halved {
	static __device__ int at(const Luma<T> &l, int x, int y) {
		const int up = (1 << (level - 1)) - 1;
		int right = min(2 * x + 1, ((l.width + up) >> (level - 1)) - 1), below = min(2 * y + 1, ((l.height + up) >> (level - 1)) - 1);
		typedef Halved<T, level - 1> Finer;
		return (Finer::at(l, 2 * x, 2 * y) + Finer::at(l, right, 2 * y) + Finer::at(l, 2 * x, below) + Finer::at(l, right, below) + 2) >> 2;
	}
};
template <typename T>
struct Halved<T, 0> {
	static __device__ int at(const Luma<T> &l, int x, int y) { return l.at(x, y); }
};

template <typename T>
static __device__ void make_guide(uint8_t *guide, int width, int height, int level, const Luma<T> &l) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	guide[(size_t)y * width + x] = level == 0 ? l.at(x, y) : level == 1 ? Halved<T, 1>::at(l, x, y) : Halved<T, 2>::at(l, x, y);
}

// guide_u8 and guide_u16 set guide, of width by height samples, to the luma of a frame of
// frame_width by frame_height in planes of equal stride, halved level times, at most 2.
#define GUIDE(name, T) \
	extern "C" __global__ void name(uint8_t *guide, int width, int height, int level, const T *first, const T *second, const T *third, \
			int stride, int frame_width, int frame_height, int shift, int mask, const uint8_t *tone, int rgb) { \
		Luma<T> l = {first, second, third, stride, frame_width, frame_height, shift, mask, tone, rgb}; \
		make_guide(guide, width, height, level, l); \
	}
GUIDE(guide_u8, uint8_t)
GUIDE(guide_u16, uint16_t)
