// Arithmetic that the kernels share with the CPU: headers that include this one
// also compile as C++ alone, without CUDA.
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__ __forceinline__
#else
#define HOST_DEVICE static inline
#endif
