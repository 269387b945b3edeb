//go:build amd64

// Loops for AVX2.

#if defined(__x86_64__)
#pragma GCC target("avx2")
#include "loops.h"

const boxspline_loops boxspline_loops_avx2 = LOOPS;
#endif
