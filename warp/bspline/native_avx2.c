//go:build amd64

// Kernels for AVX2.

#if defined(__x86_64__)
#pragma GCC target("avx2")
#include "kernels.h"

const bspline_kernels bspline_kernels_avx2 = KERNELS;
#endif
