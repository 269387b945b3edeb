// Declarations for arithmetic that the kernels share with the CPU: headers that include
// this one also compile as C++, without CUDA.
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__ __forceinline__
#define HOST_DEVICE_CALL __host__ __device__ __noinline__ // for rare paths
#else
#define HOST_DEVICE static inline
#define HOST_DEVICE_CALL static
#endif

// DYNAMIC_SHARED declares, as an array, the shared memory whose size the launch
// determines.
#ifdef __CUDACC__
#define DYNAMIC_SHARED(T, name) extern __shared__ __align__(16) unsigned char name##_bytes[]; T *const name = (T *)name##_bytes
#endif
