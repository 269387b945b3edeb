//go:build cuda

// The binding calls cuInit when the program starts, and ends the program if cuInit
// fails. This cuInit precedes the driver's: it lets the program continue, and keeps the
// result for callers that ask for a device.

#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>

static CUresult init_result = CUDA_ERROR_NOT_INITIALIZED;

CUresult retime_cuda_init_result(void) { return init_result; }

CUresult cuInit(unsigned int flags) {
	CUresult (*init)(unsigned int) = (CUresult(*)(unsigned int))dlsym(RTLD_NEXT, "cuInit");
	init_result = init ? init(flags) : CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}
