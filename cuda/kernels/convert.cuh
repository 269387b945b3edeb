#pragma once

#include "host_device.cuh"

// rounded returns the sample nearest to v within [0, limit], as package warp's rounded
// does.
HOST_DEVICE int rounded(float v, float limit) {
	v += 0.5f;
	if (!(v >= 0)) return 0; // NaN too
	return (int)(v > limit ? limit : v);
}
