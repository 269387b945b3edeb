// Forward splatting with the same bits as package warp: bilinear weights from the fractions of
// 1/256 pixel, times a photometric weight, summed exactly.
#pragma once

#include "motion.cuh"
#include "divide.cuh"

// Landing is the destination of a pixel: the upper left one of four pixels, which may be outside
// the picture, and the fractions from there.
struct Landing {
	int32_t x, y;
	uint32_t fx, fy;
};

HOST_DEVICE Landing land(int x, int y, Vec v, int32_t phase) {
	int32_t px = (int32_t)((uint32_t)x << position_bits) + toward(v.x, phase);
	int32_t py = (int32_t)((uint32_t)y << position_bits) + toward(v.y, phase);
	Landing l = {px >> position_bits, py >> position_bits, (uint32_t)px % position_one, (uint32_t)py % position_one};
	return l;
}

// share returns the weight that corner k of a landing receives, at most 65536 times
// weight. Bit 0 of k is set for the right corners, bit 1 for the lower ones.
HOST_DEVICE uint32_t share(const Landing &l, uint32_t weight, int k) {
	uint32_t x = k & 1 ? l.fx : position_one - l.fx, y = k >> 1 ? l.fy : position_one - l.fy;
	return weight * y * x;
}

// Wide is an unsigned sum that may exceed 64 bits.
struct Wide {
	uint64_t high, low;
};

HOST_DEVICE uint64_t high_product(uint64_t a, uint64_t b) {
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32), cross = a0 * b1 + (uint32_t)middle;
	return a1 * b1 + (middle >> 32) + (cross >> 32);
}

// mean_magnitude returns s/weight rounded to the nearest integer, ties up. The quotient must be
// below 2^63.
HOST_DEVICE uint64_t mean_magnitude(Wide s, uint64_t weight) {
	uint64_t low = s.low + weight / 2;
	uint64_t rest = s.high + (low < s.low), quotient = 0;
	if (rest == 0 && low >> 63 == 0) return divided(low, weight);
	for (int bit = 63; bit >= 0; bit--) {
		uint64_t carry = rest >> 63;
		rest = rest << 1 | low >> 63;
		low <<= 1;
		quotient <<= 1;
		if (carry || rest >= weight) {
			rest -= weight;
			quotient |= 1;
		}
	}
	return quotient;
}

// Sums of components are sure to fit in 64 bits with weights of up to vector_limit, and sums of
// 16-bit samples with weights of up to sample_limit16. Sums of 8-bit samples always fit.

// mean_component returns sum/weight - bias rounded to the nearest integer, ties away from zero.
// bias was added to each component to make it non-negative.
HOST_DEVICE int32_t mean_component(Wide sum, uint64_t weight, uint32_t bias) {
	if (weight <= vector_limit) {
		int64_t s = (int64_t)(sum.low - weight * bias);
		int64_t m = (int64_t)divided((uint64_t)(s < 0 ? -s : s) + weight / 2, weight);
		return (int32_t)(s < 0 ? -m : m);
	}
	Wide b = {high_product(weight, bias), weight * bias};
	bool negative = sum.high < b.high || (sum.high == b.high && sum.low < b.low);
	Wide more = negative ? b : sum, less = negative ? sum : b;
	Wide d = {more.high - less.high - (more.low < less.low), more.low - less.low};
	int64_t m = (int64_t)mean_magnitude(d, weight);
	return (int32_t)(negative ? -m : m);
}

// about_inverse returns 1/v, with a relative error of at most 2^-23 if v is between 1 and 2^64.
HOST_DEVICE float about_inverse(float v) {
#ifdef __CUDA_ARCH__
	float r;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
	return r;
#else
	return 1 / v;
#endif
}

// quick_means sets v to the means of two sums, and returns whether they are right: they may not be
// if the weight or a mean is unusually large.
__device__ inline bool quick_means(Vec *v, uint64_t x, uint64_t y, uint64_t weight, uint32_t bias) {
	uint32_t w = (uint32_t)weight;
	float inverse = about_inverse((float)w), furthest = 0;
	uint64_t sums[2] = {x, y};
	int32_t means[2];
#pragma unroll
	for (int n = 0; n < 2; n++) {
		int64_t s = (int64_t)(sums[n] - (uint64_t)w * bias);
		// The mean is (s+half)/weight, rounded down. It is 0 to 1/2 above s/weight, and the
		// estimate of s/weight is at most 1/4 off if it is less than 2^19.
		uint32_t half = (w - (s < 0)) / 2;
		float estimate = (float)s * inverse;
		int32_t m = __float2int_rd(estimate - 0.25f); // the mean or one less
		uint32_t rest = (uint32_t)s + half - m * w;   // less than 2*weight
		means[n] = m + (rest >= w);
		furthest = fmaxf(furthest, fabsf(estimate));
	}
	v->x = means[0];
	v->y = means[1];
	return weight < 1u << 31 && furthest < 1 << 19;
}
