// Division of wide integers through floats, which is several times as fast as integer
// division.
#pragma once

#include "host_device.cuh"

// divided returns n/d, rounded down, exactly. n and d must be below 2^63 and d above 0.
// It is fast if the result is below 2^40.
HOST_DEVICE uint64_t divided(uint64_t n, uint64_t d) {
	float inverse = 1 / (float)d;
	float estimate = (float)n * inverse;
	uint64_t q;
	// The estimate has a relative error of at most 2^-21, and so does the estimate from its
	// remainder.
	if (estimate < (1 << 20)) {
		q = (uint32_t)estimate;
	} else {
		q = (uint64_t)estimate;
		q += (int64_t)((float)(int64_t)(n - q * d) * inverse);
	}
	int64_t rest = (int64_t)(n - q * d);
	while (rest < 0) {
		q--;
		rest += d;
	}
	while (rest >= (int64_t)d) {
		q++;
		rest -= d;
	}
	return q;
}
