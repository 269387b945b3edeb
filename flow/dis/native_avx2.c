//go:build amd64

// Kernels for AVX2.

#if defined(__x86_64__)
#pragma GCC target("avx2")
#include "kernels.h"

const dis_kernels dis_kernels_avx2 = {first, propagate, densify, settle, settle_halved};
#endif
