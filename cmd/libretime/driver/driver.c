/*
 * Stands in for NVIDIA's driver where a library is linked that must load without one. Each function of
 * the driver is a jump through a table, which is filled when the driver is first asked for. calls.h,
 * which the Makefile writes, lists the functions: CALL(number, name), from 0.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* A function of a driver that is not there, or lacks it. */
static int missing(void) { return 34; /* CUDA_ERROR_STUB_LIBRARY */ }

#define CALL(n, name) (void *)missing,
HIDDEN void *retime_driver_calls[] = {
#include "calls.h"
};
#undef CALL

#ifdef __x86_64__
#define JUMP(at) "jmp *" at "(%rip)\n"
#else
#define JUMP(at) "adrp x16, " at "\nldr x16, [x16, :lo12:" at "]\nbr x16\n"
#endif

#define CALL(n, name) \
	__asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n" JUMP("retime_driver_calls+8*" #n));
#include "calls.h"
#undef CALL

static const char *const names[] = {
#define CALL(n, name) #name,
#include "calls.h"
#undef CALL
};

static void *driver;

static void fill(void)
{
	size_t i;
	if (!(driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)))
		return;
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		void *call = dlsym(driver, names[i]);
		if (call)
			retime_driver_calls[i] = call;
	}
}

/* Loads the driver and returns it, or NULL if there is none. */
HIDDEN void *retime_cuda_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill);
	return driver;
}
