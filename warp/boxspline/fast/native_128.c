//go:build amd64 || arm64

// Loops for the instructions that every amd64 or arm64 has.

#if defined(__SSE2__) || defined(__aarch64__)
#include "loops.h"

const boxspline_loops boxspline_loops_128 = LOOPS;
#endif
