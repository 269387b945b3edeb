// Transformed pictures: dst(x, y) is the spline's value at the position that a
// transform gives for (x, y), or the value outside where that is off the picture.

#include "evaluate.cuh"

// Where columns map to columns and rows to rows, a thread takes a column of
// kRows samples. It sums each row of coefficients once, for all the samples that
// need it; samples of neighbouring rows mostly share all but one.
const int kColumns = 128, kRows = 32;

template <int ORDER, typename T>
__device__ void separable(const Coefficients<T> &c, T *dst, int dst_stride, int width, int height, const Transform &tr,
	double limit_x, double limit_y, T outside) {
	const int N = Support<ORDER>::value;
	__shared__ T row_weights[kRows][N];
	__shared__ int64_t row_first[kRows];
	__shared__ bool row_valid[kRows];
	int top = blockIdx.y * kRows, rows = min(kRows, height - top), i = threadIdx.x;
	if (i < rows) {
		double px, py, t;
		position(tr, 0, top + i, px, py);
		row_valid[i] = within(py, limit_y);
		if (row_valid[i]) {
			T w[Support<ORDER>::room];
			row_first[i] = locate<ORDER>(py + (double)c.margin, t);
			weights<ORDER>((T)t, w);
#pragma unroll
			for (int k = 0; k < N; k++) row_weights[i][k] = w[k] * c.gain;
		}
	}
	__syncthreads();

	int x = blockIdx.x * kColumns + threadIdx.x;
	if (x >= width) return;
	double px, py, t = 0;
	position(tr, x, 0, px, py);
	bool valid = within(px, limit_x);
	int64_t first = 0, held = INT64_MIN / 2; // the first row that sums has
	if (valid) first = locate<ORDER>(px + (double)c.margin, t);
	T w[Support<ORDER>::room], sums[N] = {};
	weights<ORDER>((T)t, w);
	dst += (size_t)top * dst_stride + x;
	for (i = 0; i < rows; i++, dst += dst_stride) {
		if (!valid || !row_valid[i]) {
			*dst = outside;
			continue;
		}
		int64_t y = row_first[i];
		// Of the N rows from y on, the last ones are not held yet.
		int64_t missing = held <= y && y < held + N ? y - held : N;
		for (int l = N - (int)missing; l < N; l++) {
#pragma unroll
			for (int k = 0; k + 1 < N; k++) sums[k] = sums[k + 1];
			sums[N - 1] = across<N>(c, y + l, first, w);
		}
		held = y;
		*dst = accumulate<N, true>(row_weights[i], [&](int l) { return sums[l]; });
	}
}

template <int ORDER, typename T>
__device__ void scattered(const Coefficients<T> &c, T *dst, int dst_stride, int width, int height, const Transform &tr,
	double limit_x, double limit_y, T outside) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	double px, py;
	position(tr, x, y, px, py);
	T value = outside;
	if (within(px, limit_x) && within(py, limit_y)) value = evaluate<ORDER>(c, px, py);
	dst[(size_t)y * dst_stride + x] = value;
}

#define EVALUATE(KIND, NAME, ORDER, T) \
	extern "C" __global__ void KIND##_##NAME(const T *coeff, int stride, int coeff_width, int coeff_height, int margin, \
		int boundary, T gain, T *dst, int dst_stride, int width, int height, double m0, double m1, double m2, double m3, \
		double m4, double m5, double m6, double m7, double m8, const float *u, int u_stride, const float *v, int v_stride, \
		int flow_width, int flow_height, double limit_x, double limit_y, T outside) { \
		Coefficients<T> c = {coeff, stride, coeff_width, coeff_height, margin, boundary, gain}; \
		Transform t = {{m0, m1, m2, m3, m4, m5, m6, m7, m8}, u, v, u_stride, v_stride, flow_width, flow_height}; \
		KIND<ORDER>(c, dst, dst_stride, width, height, t, limit_x, limit_y, outside); \
	}

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
