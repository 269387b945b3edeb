// Division of wide integers by way of floats, several times as fast as in integers.
#pragma once

#include "host_device.cuh"

// divided returns n/d, rounded down, exactly. n and d are below 2^63 and 0 < d; it
// is fast where the result is below 2^40.
HOST_DEVICE uint64_t divided(uint64_t n, uint64_t d) {
	float inverse = 1 / (float)d;
	uint64_t q = (uint64_t)((float)n * inverse);
	// The estimate is within 2^-21 of the quotient, and so is that of what it leaves.
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
