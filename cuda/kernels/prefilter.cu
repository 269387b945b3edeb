// B-spline coefficients: the filter of one pole along columns or rows. A block
// takes one subregion of LANES lines into shared memory, with what it needs of
// its neighbours, and a thread filters a line of it in both directions, so that a
// sample is read and written once.
//
// src and dst must not overlap. Strides are in samples. spare is where, in values,
// the room of a periodic line begins in shared memory.

#include "prefilter.cuh"

// Chunk is 16 bytes of samples.
template <typename T>
struct alignas(16) Chunk {
	static const int kSamples = 16 / sizeof(T);
	T v[kSamples];
};

// Packed is as many samples of another type.
template <typename In, typename T>
struct alignas(sizeof(In) * Chunk<T>::kSamples) Packed {
	In v[Chunk<T>::kSamples];
};

// is_aligned says whether all rows can be read in chunks of bytes.
template <typename T>
__device__ bool is_aligned(const T *p, int stride, int bytes) {
	return ((uintptr_t)p | (uintptr_t)(stride * sizeof(T))) % bytes == 0;
}

// fetch starts to copy a chunk to shared memory, converting it.
template <typename T, typename In>
__device__ void fetch(T *to, const In *from) {
	Packed<In, T> in = *(const Packed<In, T> *)from;
	Chunk<T> out;
	for (int k = 0; k < Chunk<T>::kSamples; k++) out.v[k] = in.v[k];
	*(Chunk<T> *)to = out;
}

template <typename T>
__device__ void fetch(T *to, const T *from) {
#if __CUDA_ARCH__ >= 800
	uint32_t address = (uint32_t)__cvta_generic_to_shared(to);
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
#else
	*(Chunk<T> *)to = *(const Chunk<T> *)from;
#endif
}

// fetched waits for all that the block's threads have fetched.
__device__ void fetched() {
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_all;" ::: "memory");
#endif
	__syncthreads();
}

// ColumnLine is a Line whose tile has sample i of lane j at (i-lo)*LANES + j. It
// puts coefficients straight into the picture.
template <typename T, typename In, int LANES>
struct ColumnLine {
	int lo, hi;
	T *tile;
	const In *src;
	T *dst;
	int src_stride, dst_stride;

	__device__ T read(int i) const { return tile[(i - lo) * LANES]; }
	__device__ void write(int i, T v) { tile[(i - lo) * LANES] = v; }
	__device__ void read(int i, T v[kGroup]) const {
		const T *p = tile + (i - lo) * LANES;
#pragma unroll
		for (int k = 0; k < kGroup; k++) v[k] = p[k * LANES];
	}
	__device__ void write(int i, const T v[kGroup]) {
		T *p = tile + (i - lo) * LANES;
#pragma unroll
		for (int k = 0; k < kGroup; k++) p[k * LANES] = v[k];
	}
	__device__ void put(int i, T v) { dst[(size_t)i * dst_stride] = v; }
	__device__ void put(int i, const T v[kGroup]) {
		T *p = dst + (size_t)i * dst_stride;
#pragma unroll
		for (int k = 0; k < kGroup; k++) p[(size_t)k * dst_stride] = v[k];
	}
	__device__ T source(int i) const { return src[(size_t)i * src_stride]; }
};

template <typename T, int LANES, typename In>
__device__ void columns(const In *src, int src_stride, T *dst, int dst_stride, int width, int height,
	T z, T border, int n, int boundary, int spare) {
	DYNAMIC_SHARED(T, tile);
	int a = blockIdx.y * kRegion, b = min(a + kRegion, height);
	int lo = max(a - n, 0), hi = min(b + n, height);
	int x0 = blockIdx.x * LANES, lane = threadIdx.x;

	const int kSamples = Chunk<T>::kSamples, kAcross = LANES / kSamples, kDown = LANES / kAcross;
	int x = x0 + lane % kAcross * kSamples;
	if (is_aligned(src, src_stride, kSamples * sizeof(In)) && x + kSamples <= width) {
		for (int y = lo + lane / kAcross; y < hi; y += kDown)
			fetch(tile + (y - lo) * LANES + x - x0, src + (size_t)y * src_stride + x);
	} else {
		for (int y = lo + lane / kAcross; y < hi; y += kDown)
			for (int k = 0; k < kSamples && x + k < width; k++)
				tile[(y - lo) * LANES + x - x0 + k] = src[(size_t)y * src_stride + x + k];
	}
	fetched();

	x = x0 + lane;
	if (x >= width) return;
	ColumnLine<T, In, LANES> line = {lo, hi, tile + lane, src + x, dst + x, src_stride, dst_stride};
	Pole<T> q = {z, border, n};
	filter_region<LANES>(line, q, boundary, height, a, b, tile + spare + lane);
}

// RowLine is a Line whose tile has the samples of a lane one after the other from
// a chunk's first byte on. Between lanes there is an odd number of chunks, so that
// eight threads read chunks from different banks.
template <typename T>
struct RowLine {
	int lo, hi;
	T *tile;
	const T *src;

	__device__ T read(int i) const { return tile[i - lo]; }
	__device__ void write(int i, T v) { tile[i - lo] = v; }
	__device__ void read(int i, T v[kGroup]) const {
		const Chunk<T> *p = (const Chunk<T> *)(tile + i - lo);
#pragma unroll
		for (int k = 0; k < kGroup; k += Chunk<T>::kSamples) {
			Chunk<T> c = p[k / Chunk<T>::kSamples];
#pragma unroll
			for (int j = 0; j < Chunk<T>::kSamples; j++) v[k + j] = c.v[j];
		}
	}
	__device__ void write(int i, const T v[kGroup]) {
		Chunk<T> *p = (Chunk<T> *)(tile + i - lo);
#pragma unroll
		for (int k = 0; k < kGroup; k += Chunk<T>::kSamples) {
			Chunk<T> c;
#pragma unroll
			for (int j = 0; j < Chunk<T>::kSamples; j++) c.v[j] = v[k + j];
			p[k / Chunk<T>::kSamples] = c;
		}
	}
	__device__ void put(int i, T v) { write(i, v); }
	__device__ void put(int i, const T v[kGroup]) { write(i, v); }
	__device__ T source(int i) const { return src[i]; }
};

// each_chunk calls f(y, x) for the chunks of samples [lo, hi) of LANES rows, a
// thread at a time.
template <int LANES, int SAMPLES, typename F>
__device__ void each_chunk(int lo, int hi, F f) {
	int across = (hi - lo + SAMPLES - 1) / SAMPLES;
	int y = threadIdx.x / across, i = threadIdx.x % across;
	while (y < LANES) {
		f(y, lo + i * SAMPLES);
		for (i += LANES; i >= across; i -= across) y++;
	}
}

template <typename T, int LANES>
__device__ void rows(const T *src, int src_stride, T *dst, int dst_stride, int width, int height,
	T z, T border, int n, int boundary, int spare) {
	DYNAMIC_SHARED(T, tile);
	const int kSamples = Chunk<T>::kSamples;
	int a = blockIdx.y * kRegion, b = min(a + kRegion, width);
	int lo = max(a - n, 0) / kSamples * kSamples, hi = min(b + n, width);
	int y0 = blockIdx.x * LANES, count = min(LANES, height - y0), lane = threadIdx.x;
	int stride = spare / LANES;

	src += (size_t)y0 * src_stride;
	bool aligned = is_aligned(src, src_stride, 16);
	each_chunk<LANES, kSamples>(lo, hi, [&](int y, int x) {
		if (y >= count) return;
		T *to = tile + y * stride + x - lo;
		const T *from = src + (size_t)y * src_stride + x;
		if (aligned && x + kSamples <= hi) {
			fetch(to, from);
		} else {
			for (int k = 0; k < kSamples && x + k < hi; k++) to[k] = from[k];
		}
	});
	fetched();

	if (lane < count) {
		RowLine<T> line = {lo, hi, tile + lane * stride, src + (size_t)lane * src_stride};
		Pole<T> q = {z, border, n};
		filter_region<LANES>(line, q, boundary, width, a, b, tile + spare + lane);
	}
	__syncthreads();

	dst += (size_t)y0 * dst_stride;
	aligned = is_aligned(dst, dst_stride, 16);
	each_chunk<LANES, kSamples>(a, b, [&](int y, int x) {
		if (y >= count) return;
		const T *from = tile + y * stride + x - lo;
		T *to = dst + (size_t)y * dst_stride + x;
		if (aligned && x + kSamples <= b) {
			*(Chunk<T> *)to = *(const Chunk<T> *)from;
		} else {
			for (int k = 0; k < kSamples && x + k < b; k++) to[k] = from[k];
		}
	});
}

#define COLUMNS(NAME, IN, T, LANES) \
	extern "C" __global__ void __launch_bounds__(LANES) NAME(const IN *src, int src_stride, T *dst, int dst_stride, \
		int width, int height, T z, T border, int n, int boundary, int spare) { \
		columns<T, LANES>(src, src_stride, dst, dst_stride, width, height, z, border, n, boundary, spare); \
	}

COLUMNS(columns_u8_f32, uint8_t, float, 32)
COLUMNS(columns_u16_f32, uint16_t, float, 32)
COLUMNS(columns_f32, float, float, 32)
COLUMNS(columns_f64, double, double, 32)
COLUMNS(columns_narrow_f32, float, float, 8)
COLUMNS(columns_narrow_f64, double, double, 8)

#define ROWS(NAME, T, LANES) \
	extern "C" __global__ void __launch_bounds__(LANES) NAME(const T *src, int src_stride, T *dst, int dst_stride, \
		int width, int height, T z, T border, int n, int boundary, int spare) { \
		rows<T, LANES>(src, src_stride, dst, dst_stride, width, height, z, border, n, boundary, spare); \
	}

ROWS(rows_f32, float, 32)
ROWS(rows_f64, double, 32)
ROWS(rows_narrow_f32, float, 8)
ROWS(rows_narrow_f64, double, 8)

// extend copies a picture and continues its edges by margin samples.
template <typename T>
__device__ void extend(const T *src, int src_stride, int width, int height, T *dst, int dst_stride, int margin) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width + 2 * margin || y >= height + 2 * margin) return;
	int from_x = min(max(x - margin, 0), width - 1), from_y = min(max(y - margin, 0), height - 1);
	dst[(size_t)y * dst_stride + x] = src[(size_t)from_y * src_stride + from_x];
}

extern "C" __global__ void extend_f32(const float *src, int src_stride, int width, int height, float *dst, int dst_stride, int margin) {
	extend(src, src_stride, width, height, dst, dst_stride, margin);
}

extern "C" __global__ void extend_f64(const double *src, int src_stride, int width, int height, double *dst, int dst_stride, int margin) {
	extend(src, src_stride, width, height, dst, dst_stride, margin);
}
