// Arithmetic of the dense inverse search, with the same bits as package flow/dis, whose comment
// defines it. Vectors are in 1/1024 pixel of the current level.
#pragma once

#include "motion.cuh"

// A patch's state holds the cost of its vector, which is below 2^30, and two flags that only save
// work. A patch is fixed if a descent from its vector is known to end there, and moved if the last
// round, or the first search, changed its vector.
const uint32_t state_fixed = 1u << 30;
const uint32_t state_moved = 1u << 31;
const uint32_t state_cost = state_fixed - 1;

// patch_origin returns the first pixel of patch i along a side of n pixels.
HOST_DEVICE int patch_origin(int i, int stride, int n) {
	int at = stride * i;
	return at < n - patch_size ? at : n - patch_size;
}

// strides returns n/stride, rounded down; n must not be negative.
HOST_DEVICE int strides(int n, int stride) { return stride == 4 ? n >> 2 : n / stride; }

// patch_near returns which of n patches along a side is nearest to where the component v leads from
// pixel x.
HOST_DEVICE int patch_near(int x, int v, int stride, int n) {
	int at = x + ((v + vector_one / 2) >> vector_bits) + stride / 2;
	return clamp_to(strides(at < 0 ? 0 : at, stride), 0, n - 1);
}

// halved returns the size of the next coarser level.
HOST_DEVICE int halved(int n) { return (n + 1) >> 1; }

// fraction returns the fraction of a position, in 1/128 pixel.
HOST_DEVICE int fraction(int position) { return (position & (vector_one - 1)) >> (vector_bits - fraction_bits); }

// mean_product returns the product of two sums over a patch, divided by the number of samples and
// rounded down, or 0 if mean is 0. The only other value of mean is -1.
HOST_DEVICE int64_t mean_product(int a, int b, int mean) { return ((int64_t)a * b >> normal_bits) & (int64_t)mean; }

// patch_cost returns the cost of a patch whose differences have the sum sd and the sum
// of squares sdd.
HOST_DEVICE int patch_cost(int sd, int sdd, int mean) { return sdd - (int)mean_product(sd, sd, mean); }

// densify_weight returns the weight of a patch's vector at a pixel where the pictures differ by
// d/16. The quotient is far enough from halfway between two integers that its rounding does not
// matter.
HOST_DEVICE int densify_weight(int d) {
	int n = d < 0 ? -d : d;
	if (n < weight_floor) n = weight_floor;
	int w = (int)rintf((float)(weight_limit * weight_floor * weight_floor) / (float)(n * n));
	return w < 1 ? 1 : w;
}
