// Kernels for AVX2.

#if defined(__x86_64__)
#pragma GCC target("avx2")
#include "kernels.h"

const dis_kernels dis_kernels_avx2 = {first, propagate, densify};

int dis_has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }
#endif
