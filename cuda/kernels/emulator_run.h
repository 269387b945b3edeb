// The functions that Go calls.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// retime_kernel returns a kernel and the number of its parameters, or null if it does not exist.
const void *retime_kernel(const char *module, const char *name, int *args);

// retime_launch runs a kernel to its end and returns null or an error message. If
// backwards is set, blocks, and the threads in them, run in descending order.
const char *retime_launch(const void *kernel, const int *grid, const int *block, int shared, int backwards, const uint64_t *args);

#ifdef __cplusplus
}
#endif
