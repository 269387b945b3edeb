//go:build amd64 || arm64

// Kernels for the instructions that every amd64 or arm64 has.

#if defined(__SSE2__) || defined(__aarch64__)
#include "kernels.h"

const dis_kernels dis_kernels_128 = {first, propagate, densify, settle, settle_halved};
#endif
