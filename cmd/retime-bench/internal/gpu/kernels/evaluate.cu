// Transformed pictures: dst(x, y) is the spline's value at the position that a
// transform gives for (x, y), or the value outside if that position is off the picture.

#include "evaluate.cuh"

// If columns map to columns and rows to rows, a thread takes a column of kRows samples.
// It sums each row of coefficients once, for all the samples that need it.
const int kColumns = 128, kRows = 64;

// Row holds the data about an output row that all threads of a block use.
template <int N, typename T>
struct Row {
	__align__(16) T weights[N]; // weights times the gain
	int64_t first;              // first row of coefficients
	bool valid;
};

// steady_column computes a column in which each row needs the coefficients one row
// below those of the previous row. across(y) returns the sum along row y of
// coefficients.
template <int N, typename T, typename Across>
__device__ void steady_column(const Row<N, T> *all, const int *coeff_rows, int rows, T *dst, int dst_stride, Across across) {
	T sums[N];
	sums[0] = 0;
#pragma unroll
	for (int l = 1; l < N; l++) sums[l] = across(coeff_rows[l - 1]);
#pragma unroll 4
	for (int i = 0; i < rows; i++, dst += dst_stride) {
#pragma unroll
		for (int l = 0; l + 1 < N; l++) sums[l] = sums[l + 1];
		sums[N - 1] = across(coeff_rows[i + N - 1]);
		*dst = accumulate<N, true>(all[i].weights, [&](int l) { return sums[l]; });
	}
}

template <int ORDER, typename T>
__device__ void separable(const Coefficients<T> &c, T *dst, int dst_stride, int width, int height, const Transform &tr,
	double limit_x, double limit_y, T outside) {
	const int N = Support<ORDER>::value;
	const bool kZero = N != 1 && N != 2 && N != 4;
	__shared__ Row<N, T> all[kRows];
	__shared__ int coeff_rows[kRows + N - 1]; // rows of coefficients, starting with the first row's first
	int top = blockIdx.y * kRows, rows = min(kRows, height - top), i = threadIdx.x;
	T w[Support<ORDER>::room];
	double px, py, t = 0, first = 0;
	if (i < rows) {
		position(tr, 0, top + i, px, py);
		all[i].valid = within(py, limit_y);
		if (all[i].valid) {
			all[i].first = (int64_t)locate<ORDER>(py + (double)c.margin, t);
			weights<ORDER>((T)t, w);
#pragma unroll
			for (int k = 0; k < N; k++) all[i].weights[k] = w[k] * c.gain;
		}
	}
	__syncthreads();
	if (i < kRows + N - 1 && all[0].valid) coeff_rows[i] = (int)boundary_index<int64_t>(c.boundary, all[0].first + i, c.height);
	// steady is set if each row needs the coefficients one row below those of the
	// previous row.
	bool steady = __syncthreads_and(i >= rows || (all[i].valid && all[i].first == all[0].first + i));

	int x = blockIdx.x * kColumns + i;
	if (x >= width) return;
	position(tr, x, 0, px, py);
	bool valid = within(px, limit_x);
	t = 0;
	if (valid) first = locate<ORDER>(px + (double)c.margin, t);
	weights<ORDER>((T)t, w);
	bool inside = first >= 0 && first + N <= c.width;
	dst += (size_t)top * dst_stride + x;

	if (valid && inside && steady) {
		const T *at = c.at + (int)first;
		steady_column<N>(all, coeff_rows, rows, dst, dst_stride, [&](int y) {
			const T *row = at + (int64_t)y * c.stride;
			return accumulate<N, kZero>(w, [&](int k) { return row[k]; });
		});
		return;
	}
	int columns[N];
#pragma unroll
	for (int k = 0; k < N; k++) columns[k] = inside ? (int)first + k : (int)boundary_index<int64_t>(c.boundary, (int64_t)first + k, c.width);
	if (valid && steady) {
		steady_column<N>(all, coeff_rows, rows, dst, dst_stride, [&](int y) {
			const T *row = c.at + (int64_t)y * c.stride;
			return accumulate<N, true>(w, [&](int k) { return row[columns[k]]; });
		});
		return;
	}

	T sums[N] = {};
	int64_t held = INT64_MIN / 2; // first of the coefficient rows whose sums are in sums
#pragma unroll 1
	for (i = 0; i < rows; i++, dst += dst_stride) {
		if (!valid || !all[i].valid) {
			*dst = outside;
			continue;
		}
		// sums lacks the last missing of the N rows from y on.
		int64_t y = all[i].first, missing = held <= y && y < held + N ? y - held : N;
#pragma unroll 1
		for (int l = N - (int)missing; l < N; l++) {
#pragma unroll
			for (int k = 0; k + 1 < N; k++) sums[k] = sums[k + 1];
			const T *row = c.at + boundary_index<int64_t>(c.boundary, y + l, c.height) * c.stride;
			sums[N - 1] = inside ? accumulate<N, kZero>(w, [&](int k) { return row[columns[k]]; })
				: accumulate<N, true>(w, [&](int k) { return row[columns[k]]; });
		}
		held = y;
		*dst = accumulate<N, true>(all[i].weights, [&](int l) { return sums[l]; });
	}
}

// For other transforms, a thread takes kDown samples in a column that is kTile high. Other threads
// of the block take the samples between them.
const int kDown = 4, kTile = 32;

template <int ORDER, typename T>
__device__ void scattered(const Coefficients<T> &c, T *dst, int dst_stride, int width, int height, const Transform &tr,
	double limit_x, double limit_y, T outside) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
	if (x >= width) return;
#pragma unroll 1
	for (int i = 0; i < kDown && y < height; i++, y += kTile / kDown) {
		double px, py;
		position(tr, x, y, px, py);
		T value = outside;
		if (within(px, limit_x) && within(py, limit_y)) value = evaluate<ORDER>(c, px, py);
		dst[(size_t)y * dst_stride + x] = value;
	}
}

// The bounds leave enough registers for this many blocks on a multiprocessor, to keep enough loads
// in flight. The lower orders need few registers.
#define EVALUATE(KIND, NAME, ORDER, T) \
	extern "C" __global__ void __launch_bounds__(KIND##_threads, KIND##_blocks(ORDER, sizeof(T))) KIND##_##NAME(const T *__restrict__ coeff, int stride, int coeff_width, int coeff_height, int margin, \
		int boundary, T gain, T *__restrict__ dst, int dst_stride, int width, int height, double m0, double m1, double m2, double m3, \
		double m4, double m5, double m6, double m7, double m8, const float *__restrict__ u, int u_stride, const float *__restrict__ v, int v_stride, \
		int flow_width, int flow_height, double limit_x, double limit_y, T outside) { \
		Coefficients<T> c = {coeff, stride, coeff_width, coeff_height, margin, boundary, gain}; \
		Transform t = {{m0, m1, m2, m3, m4, m5, m6, m7, m8}, u, v, u_stride, v_stride, flow_width, flow_height}; \
		KIND<ORDER>(c, dst, dst_stride, width, height, t, limit_x, limit_y, outside); \
	}

const int separable_threads = kColumns, scattered_threads = kTile / kDown * 32;
constexpr int separable_blocks(int order, int bytes) { return order <= 3 && bytes == 4 ? 8 : order <= 11 && bytes == 4 ? 5 : 3; }
constexpr int scattered_blocks(int order, int bytes) { return order <= 5 && bytes == 4 ? 3 : 2; }

#define EVALUATE_ORDER(NAME, ORDER) \
	EVALUATE(separable, NAME##_f32, ORDER, float) \
	EVALUATE(separable, NAME##_f64, ORDER, double) \
	EVALUATE(scattered, NAME##_f32, ORDER, float) \
	EVALUATE(scattered, NAME##_f64, ORDER, double)

EVALUATE_ORDER(catmull_rom, kCatmullRom)
EVALUATE_ORDER(0, 0)
EVALUATE_ORDER(1, 1)
EVALUATE_ORDER(2, 2)
EVALUATE_ORDER(3, 3)
EVALUATE_ORDER(4, 4)
EVALUATE_ORDER(5, 5)
EVALUATE_ORDER(6, 6)
EVALUATE_ORDER(7, 7)
EVALUATE_ORDER(8, 8)
EVALUATE_ORDER(9, 9)
EVALUATE_ORDER(10, 10)
EVALUATE_ORDER(11, 11)
EVALUATE_ORDER(12, 12)
EVALUATE_ORDER(13, 13)
EVALUATE_ORDER(14, 14)
EVALUATE_ORDER(15, 15)
EVALUATE_ORDER(16, 16)
