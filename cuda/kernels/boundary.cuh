#pragma once

#include "constants.cuh"
#include "host_device.cuh"

// boundary_index returns the index in [0, n) of the sample at position i of a boundary-extended
// signal of n samples, as bspline's Boundary.Index does.
template <typename I>
HOST_DEVICE_CALL I boundary_index(int boundary, I i, I n) {
	if (i >= 0 && i < n) return i;
	switch (boundary) {
	case kConstant:
		return i < 0 ? 0 : n - 1;
	case kPeriodic:
		i %= n;
		return i < 0 ? i + n : i;
	case kWholeSymmetric:
		if (n == 1) return 0;
		i = (i < 0 ? -i : i) % (2 * n - 2);
		return i < n ? i : 2 * n - 2 - i;
	default:
		i = (i < 0 ? -1 - i : i) % (2 * n);
		return i < n ? i : 2 * n - 1 - i;
	}
}
