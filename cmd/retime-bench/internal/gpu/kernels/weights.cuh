// The weights of B-splines and of the Catmull-Rom kernel, with the operations of
// package warp/bspline in the same order.
#pragma once

#include "constants.cuh"
#include "host_device.cuh"

// kMaxSupport is the support of the largest order.
const int kMaxSupport = kMaxOrder + 1;

template <int ORDER>
struct Support {
	static const int value = ORDER == kCatmullRom ? 4 : ORDER + 1;
	static const int room = value < 4 ? 4 : value; // number of values that weights may write
};

// in_range reports whether x is finite and has a fraction.
HOST_DEVICE bool in_range(double x) { return fabs(x) < (double)(1LL << 51); }

// locate returns the first coefficient that the value at a position depends on, a whole
// number, and sets the fraction t in [0, 1). The position must be in range.
template <int ORDER>
HOST_DEVICE double locate(double x, double &t) {
	if (ORDER != kCatmullRom && ORDER % 2 == 0) x += 0.5;
	double f = floor(x);
	t = x - f;
	return f - (ORDER == kCatmullRom ? 1 : ORDER / 2);
}

// cubic_weights sets w to equation 11 of Ruijters, ter Haar Romeny and Suetens, times
// 3!.
template <typename T>
HOST_DEVICE void cubic_weights(T t, T *w) {
	T u = 1 - t, t2 = t * t, u2 = u * u;
	w[0] = u2 * u;
	w[1] = 4 - 3 * (t2 * (2 - t));
	w[2] = 4 - 3 * (u2 * (1 + t));
	w[3] = t2 * t;
}

// catmull_rom_weights sets w to weights that sum to 2.
template <typename T>
HOST_DEVICE void catmull_rom_weights(T t, T *w) {
	T u = 1 - t, tu = t * u;
	w[0] = -(tu * u);
	w[1] = 2 - (t * t) * (5 - 3 * t);
	w[2] = 2 - (u * u) * (5 - 3 * u);
	w[3] = -(tu * t);
}

// climb raises the weights of order 3 to order ORDER by the recurrence of B-splines.
template <int ORDER, typename T>
HOST_DEVICE void climb(T t, T *w) {
#pragma unroll
	for (int m = 4; m <= ORDER; m++) {
		T below = w[0];
		w[0] = (1 - t) * below;
#pragma unroll
		for (int k = 1; k < m; k++) {
			T here = w[k];
			w[k] = ((T)(k + 1) - t) * here + ((T)(m - k) + t) * below;
			below = here;
		}
		w[m] = t * below;
	}
}

// weights sets w[0] to w[Support<ORDER>::value-1] to the un-normalised weights.
template <int ORDER, typename T>
HOST_DEVICE void weights(T t, T *w) {
	if (ORDER == kCatmullRom) {
		catmull_rom_weights(t, w);
	} else if (ORDER == 0) {
		w[0] = 1;
	} else if (ORDER == 1) {
		w[0] = 1 - t, w[1] = t;
	} else if (ORDER == 2) {
		T u = 1 - t;
		w[0] = u * u, w[1] = 1 + 2 * (t * u), w[2] = t * t;
	} else {
		cubic_weights(t, w);
		climb<ORDER>(t, w);
	}
}
