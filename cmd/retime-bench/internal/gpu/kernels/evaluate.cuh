// The value of a B-spline at a position (Briand and Davy, algorithm 8), and the
// positions of transforms, with the operations of package warp/bspline in the same
// order.
#pragma once

#include "boundary.cuh"
#include "weights.cuh"

// Coefficients holds the un-normalised coefficients of a picture, with margin more on
// each side.
template <typename T>
struct Coefficients {
	const T *at;
	int stride, width, height; // with the margin
	int margin, boundary;
	T gain;
};

// Transform is the inverse of a transform: a matrix or, if u is not null, a flow added
// to the position.
struct Transform {
	double m[9];
	const float *u, *v;
	int u_stride, v_stride, width, height;
};

// position sets (px, py) to the position in the input for the output sample (x, y).
HOST_DEVICE void position(const Transform &t, int x, int y, double &px, double &py) {
	if (t.u) {
		int i = boundary_index<int>(kConstant, x, t.width), j = boundary_index<int>(kConstant, y, t.height);
		px = (double)x + (double)t.u[(int64_t)j * t.u_stride + i];
		py = (double)y + (double)t.v[(int64_t)j * t.v_stride + i];
		return;
	}
	const double *m = t.m;
	double fx = x, fy = y;
	double x0 = m[1] * fy + m[2], y0 = m[4] * fy + m[5];
	px = m[0] * fx + x0;
	py = m[3] * fx + y0;
	if (!(m[6] == 0 && m[7] == 0 && m[8] == 1)) {
		double z = m[6] * fx + (m[7] * fy + m[8]);
		px /= z;
		py /= z;
	}
}

// within reports whether coordinate x is in range and on a picture of the given size.
// An axis without limit has infinite size.
HOST_DEVICE bool within(double x, double size) {
	return in_range(x) && (x >= -0.5 || isinf(size)) && x <= size - 0.5;
}

// accumulate returns the sum of the products of w and c. Beginning the sum at 0 rather
// than at the first product makes a difference only for the sign of zeros.
template <int N, bool FROM_ZERO, typename T, typename C>
HOST_DEVICE T accumulate(const T *w, C c) {
	T sum = w[0] * c(0);
	if (FROM_ZERO) sum = 0 + sum;
#pragma unroll
	for (int k = 1; k < N; k++) sum += w[k] * c(k);
	return sum;
}

// evaluate_edges computes evaluate if some coefficients are beyond the edges, with n
// coefficients along each axis.
template <typename T>
HOST_DEVICE_CALL T evaluate_edges(const Coefficients<T> &c, int64_t x0, int64_t y0, int n, const T *wx, const T *wy, bool from_zero) {
	int columns[kMaxSupport];
	for (int k = 0; k < n; k++) columns[k] = (int)boundary_index<int64_t>(c.boundary, x0 + k, c.width);
	T value = from_zero ? (T)0 : (T)-0.0;
	for (int l = 0; l < n; l++) {
		const T *row = c.at + boundary_index<int64_t>(c.boundary, y0 + l, c.height) * c.stride;
		T sum = from_zero ? (T)0 : (T)-0.0;
		for (int k = 0; k < n; k++) sum += wx[k] * row[columns[k]];
		value += wy[l] * sum;
	}
	return value * c.gain;
}

// evaluate returns the value at (px, py), which must be in range.
template <int ORDER, typename T>
HOST_DEVICE T evaluate(const Coefficients<T> &c, double px, double py) {
	const int N = Support<ORDER>::value;
	const bool kZero = N != 4;
	double tx, ty, fx = locate<ORDER>(px + (double)c.margin, tx), fy = locate<ORDER>(py + (double)c.margin, ty);
	T wx[Support<ORDER>::room], wy[Support<ORDER>::room];
	weights<ORDER>((T)tx, wx);
	weights<ORDER>((T)ty, wy);
	if (!(fx >= 0 && fy >= 0 && fx + N <= c.width && fy + N <= c.height)) {
		// Copies let the compiler keep the weights themselves in registers.
		T ex[N], ey[N];
#pragma unroll
		for (int k = 0; k < N; k++) ex[k] = wx[k], ey[k] = wy[k];
		return evaluate_edges(c, (int64_t)fx, (int64_t)fy, N, ex, ey, kZero);
	}
	const T *at = c.at + (int64_t)(int)fy * c.stride + (int)fx;
	if (ORDER == 0) return at[0];
	if (ORDER == 1) {
		T top = wx[0] * at[0] + wx[1] * at[1];
		at += c.stride;
		return wy[0] * top + wy[1] * (wx[0] * at[0] + wx[1] * at[1]);
	}
	T value = accumulate<N, kZero>(wy, [&](int l) {
		const T *row = at + (int64_t)l * c.stride;
		return accumulate<N, kZero>(wx, [&](int k) { return row[k]; });
	});
	return value * c.gain;
}
