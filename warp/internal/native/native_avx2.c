//go:build amd64

// Kernels for AVX2.

#if defined(__x86_64__)
#pragma GCC target("avx2,bmi,bmi2")
#include "kernels.h"

const warp_kernels warp_kernels_avx2 = KERNELS;
#endif
