//go:build cuda

// The binding calls cuInit when the program starts, which takes tenths of a second, and ends the
// program if cuInit fails. This cuInit takes precedence over the driver's. It ignores the first
// call, which is the binding's, so that only programs that ask for a device wait or see an error.

#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdatomic.h>

// retime_cuda_load returns the driver in libraries that load it themselves, as cmd/libretime does.
__attribute__((weak, visibility("hidden"))) void *retime_cuda_load(void);

// retime_cuda_init initializes the driver. Several threads may call it at once and repeatedly.
__attribute__((visibility("hidden"))) CUresult retime_cuda_init(unsigned int flags) {
	void *driver = retime_cuda_load ? retime_cuda_load() : RTLD_NEXT;
	CUresult (*init)(unsigned int) = driver ? (CUresult(*)(unsigned int))dlsym(driver, "cuInit") : 0;
	return init ? init(flags) : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuInit(unsigned int flags) {
	static atomic_flag started = ATOMIC_FLAG_INIT;
	return atomic_flag_test_and_set(&started) ? retime_cuda_init(flags) : CUDA_SUCCESS;
}
