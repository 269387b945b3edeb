// Memory copies as fast as the device allows, as a yardstick for other kernels.

#include "host_device.cuh"

// copy_vectors copies n vectors of 16 bytes. A thread has four vectors in flight, a
// block's width apart.
extern "C" __global__ void copy_vectors(const uint4 *src, uint4 *dst, int64_t n) {
	int64_t at = (int64_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
	uint4 v[4];
	for (int k = 0; k < 4; k++)
		if (at + k * blockDim.x < n) v[k] = src[at + k * blockDim.x];
	for (int k = 0; k < 4; k++)
		if (at + k * blockDim.x < n) dst[at + k * blockDim.x] = v[k];
}

// nothing measures the cost of a launch by itself.
extern "C" __global__ void nothing() {}
