// Cubic interpolation by texture look-ups (Ruijters, ter Haar Romeny and Suetens,
// "Accuracy of GPU-based B-spline Evaluation", 2008). fetch(x, y) is a look-up with
// the centre of the first texel at (0, 0).
#pragma once

#include "weights.cuh"

// Pairs is equation 9 along an axis: two look-ups, at low and high, with the weights
// weight and 1 - weight, replace four coefficients.
struct Pairs {
	float low, high, weight;
};

// pairs_on_the_fly computes the weights at fraction t after coefficient i.
HOST_DEVICE Pairs pairs_on_the_fly(float i, float t) {
	float w[4];
	cubic_weights(t, w);
	float g = w[0] + w[1];
	return {i - 1 + w[1] / g, i + 1 + w[3] / (w[2] + w[3]), g / 6};
}

// weighted returns the value from un-normalised coefficients, whose weights sum to 6
// per axis.
template <typename F>
HOST_DEVICE float weighted(Pairs x, Pairs y, F fetch) {
	float top = x.weight * fetch(x.low, y.low) + (1 - x.weight) * fetch(x.high, y.low);
	float bottom = x.weight * fetch(x.low, y.high) + (1 - x.weight) * fetch(x.high, y.high);
	return 36 * (y.weight * top + (1 - y.weight) * bottom);
}

// sixteen returns the weighted sum of sixteen look-ups, from one sample before (x, y)
// on.
template <typename F>
HOST_DEVICE float sixteen(float x, float y, const float *wx, const float *wy, F fetch) {
	float value = 0;
#pragma unroll
	for (int l = 0; l < 4; l++) {
		float sum = 0;
#pragma unroll
		for (int k = 0; k < 4; k++) sum += wx[k] * fetch(x + (k - 1), y + (l - 1));
		value += wy[l] * sum;
	}
	return value;
}
