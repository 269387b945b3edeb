// Division of wide integers through floats, which is several times as fast as integer
// division.
#pragma once

#include "host_device.cuh"

// divided returns n/d, rounded down, exactly. n and d must be below 2^63 and d above 0.
// It is fast if the result is below 2^40.
HOST_DEVICE uint64_t divided(uint64_t n, uint64_t d) {
	float inverse = 1 / (float)d;
	uint64_t q = (uint64_t)((float)n * inverse);
	// The estimate has a relative error of at most 2^-21, and so has the estimate from
	// its remainder.
	int64_t rest = (int64_t)(n - q * d);
	q += (int64_t)((float)rest * inverse);
	rest = (int64_t)(n - q * d);
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
