// B-spline coefficients, computed by filters along columns and rows that read and write
// each sample once. There are two kinds of kernels:
//
// columns and rows filter by one pole. A block loads a subregion of LANES lines into shared memory,
// with the part of its neighbours that it needs, and each thread filters one line of it. src and
// dst must not overlap. spare is the offset, in values, of a periodic line's extra room in shared
// memory.
//
// whole_columns and whole_rows filter by all poles if whole lines fit in shared memory.
// A thread filters a subregion of a line, and the block waits when one subregion needs
// the results of another.
//
// Strides are in samples.

#include "prefilter.cuh"

// Chunk is 16 bytes of samples.
template <typename T>
struct alignas(16) Chunk {
	static const int kSamples = 16 / sizeof(T);
	T v[kSamples];
};

// Packed holds as many samples as a Chunk, of another type.
template <typename In, typename T>
struct alignas(sizeof(In) * Chunk<T>::kSamples) Packed {
	In v[Chunk<T>::kSamples];
};

// is_aligned reports whether all rows can be read in chunks of bytes bytes.
template <typename T>
__device__ bool is_aligned(const T *p, int stride, int bytes) {
	return ((uintptr_t)p | (uintptr_t)(stride * sizeof(T))) % bytes == 0;
}

// fetch starts a copy of a chunk to shared memory and converts its samples.
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

// fetched waits for everything that the block's threads have fetched.
__device__ void fetched() {
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_all;" ::: "memory");
#endif
	__syncthreads();
}

// ColumnLine is a Line whose tile has sample i of lane j at (i-lo)*LANES + j. It writes
// coefficients directly to the picture.
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
	int y = lo + lane / kAcross;
	const In *from = src + (size_t)y * src_stride + x;
	T *to = tile + (y - lo) * LANES + x - x0;
	if (is_aligned(src, src_stride, kSamples * sizeof(In)) && x + kSamples <= width) {
#pragma unroll 8
		for (; y < hi; y += kDown, from += (size_t)kDown * src_stride, to += kDown * LANES) fetch(to, from);
	} else {
#pragma unroll 1
		for (; y < hi; y += kDown, from += (size_t)kDown * src_stride, to += kDown * LANES)
			for (int k = 0; k < kSamples && x + k < width; k++) to[k] = from[k];
	}
	fetched();

	x = x0 + lane;
	if (x >= width) return;
	ColumnLine<T, In, LANES> line = {lo, hi, tile + lane, src + x, dst + x, src_stride, dst_stride};
	Pole<T> q = {z, border, n};
	filter_region<LANES>(line, q, boundary, height, a, b, tile + spare + lane);
}

// RowLine is a Line whose tile has the samples of a lane one after the other, starting at the first
// byte of a chunk. Lanes are an odd number of chunks apart, so that eight threads read chunks from
// different banks.
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

// load_rows fetches samples [lo, hi) of count rows of the given width, and the rest of the last
// sample's chunk. Sample x goes to place(x) of the tile, whose rows are stride values apart. A
// thread takes the same chunks of every row.
template <typename T, typename Place>
__device__ void load_rows(T *tile, int stride, Place place, const T *src, int src_stride, int lo, int hi, int width, int count) {
	const int kSamples = Chunk<T>::kSamples;
	bool aligned = is_aligned(src, src_stride, 16);
	for (int x = lo + threadIdx.x * kSamples; x < hi; x += blockDim.x * kSamples) {
		if (aligned && x + kSamples <= width) {
			T *to = tile + place(x);
			const T *from = src + x;
#pragma unroll 8
			for (int y = 0; y < count; y++, to += stride, from += src_stride) fetch(to, from);
			continue;
		}
#pragma unroll 1
		for (int k = 0; k < kSamples && x + k < width; k++) {
			T *to = tile + place(x) + k;
			const T *from = src + x + k;
#pragma unroll 8
			for (int y = 0; y < count; y++, to += stride, from += src_stride) *to = *from;
		}
	}
}

// store_rows writes back samples [lo, hi) and no others.
template <typename T, typename Place>
__device__ void store_rows(const T *tile, int stride, Place place, T *dst, int dst_stride, int lo, int hi, int count) {
	const int kSamples = Chunk<T>::kSamples;
	bool aligned = is_aligned(dst, dst_stride, 16);
	for (int x = lo + threadIdx.x * kSamples; x < hi; x += blockDim.x * kSamples) {
		if (aligned && x + kSamples <= hi) {
			const T *from = tile + place(x);
			T *to = dst + x;
#pragma unroll 8
			for (int y = 0; y < count; y++, from += stride, to += dst_stride) *(Chunk<T> *)to = *(const Chunk<T> *)from;
			continue;
		}
#pragma unroll 1
		for (int k = 0; k < kSamples && x + k < hi; k++) {
			const T *from = tile + place(x) + k;
			T *to = dst + x + k;
#pragma unroll 8
			for (int y = 0; y < count; y++, from += stride, to += dst_stride) *to = *from;
		}
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
	auto place = [&](int x) { return x - lo; };
	load_rows(tile, stride, place, src, src_stride, lo, hi, width, count);
	fetched();

	if (lane < count) {
		RowLine<T> line = {lo, hi, tile + lane * stride, src + (size_t)lane * src_stride};
		Pole<T> q = {z, border, n};
		filter_region<LANES>(line, q, boundary, width, a, b, tile + spare + lane);
	}
	__syncthreads();

	store_rows(tile, stride, place, dst + (size_t)y0 * dst_stride, dst_stride, a, b, count);
}

// WholeColumn is a Line whose tile has all samples of LANES lines, with room for a sample after
// each subregion, so that threads that work subregions apart use different banks.
template <typename T, int LANES>
struct WholeColumn {
	int lo, hi;
	T *tile;

	__device__ T *at(int i) const { return tile + (i + i / kRegion) * LANES; }
	__device__ T read(int i) const { return *at(i); }
	__device__ void write(int i, T v) { *at(i) = v; }
	__device__ void read(int i, T v[kGroup]) const {
		const T *p = at(i);
#pragma unroll
		for (int k = 0; k < kGroup; k++) v[k] = p[k * LANES];
	}
	__device__ void write(int i, const T v[kGroup]) {
		T *p = at(i);
#pragma unroll
		for (int k = 0; k < kGroup; k++) p[k * LANES] = v[k];
	}
	__device__ void put(int i, T v) { write(i, v); }
	__device__ void put(int i, const T v[kGroup]) { write(i, v); }
	__device__ T source(int i) const { return read(i); }
};

// WholeRow is a Line whose tile has all samples of rows, with room for a chunk after
// each subregion.
template <typename T>
struct WholeRow {
	int lo, hi;
	T *tile;

	static __device__ int place(int i) { return i + i / kRegion * Chunk<T>::kSamples; }
	__device__ RowLine<T> near(int i) const { return {i, 0, tile + place(i), NULL}; }
	__device__ T read(int i) const { return tile[place(i)]; }
	__device__ void write(int i, T v) { tile[place(i)] = v; }
	__device__ void read(int i, T v[kGroup]) const { near(i).read(i, v); }
	__device__ void write(int i, const T v[kGroup]) { near(i).write(i, v); }
	__device__ void put(int i, T v) { write(i, v); }
	__device__ void put(int i, const T v[kGroup]) { write(i, v); }
	__device__ T source(int i) const { return read(i); }
};

// filter_line filters a line by all poles, with a thread for each subregion. poles holds z, the
// border factor and the truncation index of each pole.
template <typename T, typename Line>
__device__ void filter_line(Line &line, bool active, const T *poles, int count, int boundary, int length, int region) {
	int a = region * kRegion, b = min(a + kRegion, length);
	for (int i = 0; i < count; i++) {
		Pole<T> q = {poles[3 * i], poles[3 * i + 1], (int)poles[3 * i + 2]};
		T c = 0;
		if (active) c = causal_start(line, q, boundary, length, a);
		__syncthreads();
		if (active) causal_run(line, q.z, c, a, b);
		__syncthreads();
		if (active) {
			T before = 0, period = 0;
			if (b + q.n >= length) {
				if (boundary == kPeriodic) period = period_start([&](int i) { return line.read(i); }, q, length);
				if (length > 1) before = line.read(length - 2);
			}
			c = anticausal_start(line, q, boundary, length, b, before, period);
		}
		__syncthreads();
		if (active) anticausal_region(line, q, length, a, b, c);
		__syncthreads();
	}
}

// whole_columns filters LANES columns by all poles. A block has a thread for each
// subregion of each column. src may be dst.
template <typename T, int LANES>
__device__ void whole_columns(const T *src, int src_stride, T *dst, int dst_stride, int width, int height,
	const T *poles, int count, int boundary) {
	DYNAMIC_SHARED(T, tile);
	const int kSamples = Chunk<T>::kSamples, kAcross = LANES / kSamples;
	int x0 = blockIdx.x * LANES, t = threadIdx.x, rows = blockDim.x / kAcross;
	int i = t % kAcross * kSamples, x = x0 + i;
	bool whole = x + kSamples <= width;
	WholeColumn<T, LANES> all = {0, height, tile + i};
	const T *from = src + (size_t)(t / kAcross) * src_stride + x;
	if (is_aligned(src, src_stride, 16) && whole) {
#pragma unroll 4
		for (int y = t / kAcross; y < height; y += rows, from += (size_t)rows * src_stride) fetch(all.at(y), from);
	} else {
#pragma unroll 1
		for (int y = t / kAcross; y < height; y += rows, from += (size_t)rows * src_stride)
			for (int k = 0; k < kSamples && x + k < width; k++) all.at(y)[k] = from[k];
	}
	fetched();

	WholeColumn<T, LANES> line = {0, height, tile + t % LANES};
	filter_line(line, x0 + t % LANES < width, poles, count, boundary, height, t / LANES);

	T *to = dst + (size_t)(t / kAcross) * dst_stride + x;
	if (is_aligned(dst, dst_stride, 16) && whole) {
#pragma unroll 4
		for (int y = t / kAcross; y < height; y += rows, to += (size_t)rows * dst_stride)
			*(Chunk<T> *)to = *(const Chunk<T> *)all.at(y);
	} else {
#pragma unroll 1
		for (int y = t / kAcross; y < height; y += rows, to += (size_t)rows * dst_stride)
			for (int k = 0; k < kSamples && x + k < width; k++) to[k] = all.at(y)[k];
	}
}

// whole_rows filters LANES rows by all poles. The rows are stride values apart in the tile: a
// number of chunks that is 8 / LANES modulo 8, which avoids bank conflicts.
template <typename T, int LANES>
__device__ void whole_rows(const T *src, int src_stride, T *dst, int dst_stride, int width, int height,
	const T *poles, int count, int boundary, int stride) {
	DYNAMIC_SHARED(T, tile);
	int y0 = blockIdx.x * LANES, t = threadIdx.x, rows = min(LANES, height - y0);
	auto place = [](int x) { return WholeRow<T>::place(x); };
	load_rows(tile, stride, place, src + (size_t)y0 * src_stride, src_stride, 0, width, width, rows);
	fetched();

	WholeRow<T> line = {0, width, tile + t % LANES * stride};
	filter_line(line, t % LANES < rows, poles, count, boundary, width, t / LANES);

	store_rows(tile, stride, place, dst + (size_t)y0 * dst_stride, dst_stride, 0, width, rows);
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

#define WHOLE_COLUMNS(NAME, T, LANES) \
	extern "C" __global__ void NAME(const T *src, int src_stride, T *dst, int dst_stride, int width, int height, \
		const T *poles, int count, int boundary) { \
		whole_columns<T, LANES>(src, src_stride, dst, dst_stride, width, height, poles, count, boundary); \
	}

WHOLE_COLUMNS(whole_columns_f32, float, 8)
WHOLE_COLUMNS(whole_columns_f64, double, 4)

#define WHOLE_ROWS(NAME, T, LANES) \
	extern "C" __global__ void NAME(const T *src, int src_stride, T *dst, int dst_stride, int width, int height, \
		const T *poles, int count, int boundary, int stride) { \
		whole_rows<T, LANES>(src, src_stride, dst, dst_stride, width, height, poles, count, boundary, stride); \
	}

WHOLE_ROWS(whole_rows_f32, float, 4)
WHOLE_ROWS(whole_rows_f64, double, 2)

// extend copies a picture and continues it by margin samples on each side.
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
