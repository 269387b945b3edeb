package cuda

/*
#cgo !windows LDFLAGS: -ldl
#ifdef _WIN32
#include <windows.h>
#define LIBRARY "nvcuda.dll"
static void *open_library(void) { return (void *)LoadLibraryA(LIBRARY); }
static void *find(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }
#else
#include <dlfcn.h>
#define LIBRARY "libcuda.so.1"
static void *open_library(void) { return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); }
static void *find(void *library, const char *name) { return dlsym(library, name); }
#endif

static const char *library_name(void) { return LIBRARY; }

static int load(void) { return open_library() != 0; }

// probe loads the library and its functions by name, because a program that links the
// library does not start on a machine without it.
static int probe(int *count, int *version, const char **call) {
	*count = *version = 0;
	*call = LIBRARY;
	void *library = open_library();
	if (!library) return -1;
	int (*init)(unsigned) = (int (*)(unsigned))find(library, "cuInit");
	int (*get_version)(int *) = (int (*)(int *))find(library, "cuDriverGetVersion");
	int (*get_count)(int *) = (int (*)(int *))find(library, "cuDeviceGetCount");
	if (!init || !get_version || !get_count) return -1;
	int r;
	*call = "cuDriverGetVersion";
	if ((r = get_version(version))) return r;
	*call = "cuInit";
	if ((r = init(0))) return r;
	*call = "cuDeviceGetCount";
	return get_count(count);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// The reasons why no device can be opened.
var (
	ErrNoDriver = fmt.Errorf("no NVIDIA driver (%s cannot be loaded)", C.GoString(C.library_name()))
	ErrNoDevice = errors.New("no CUDA device answers")
)

// codeNoDevice is CUDA_ERROR_NO_DEVICE.
const codeNoDevice = 100

// Probe asks the driver for the number of its devices and for the newest version of CUDA that it
// supports, as 1000 major + 10 minor. It works even in a program built without CUDA, because it
// loads the library by name. It returns ErrNoDriver if there is no driver, and 0 devices if there
// is a driver but no device.
func Probe() (devices, version int, err error) {
	var n, v C.int
	var name *C.char
	switch r := C.probe(&n, &v, &name); {
	case r < 0:
		return 0, 0, ErrNoDriver
	case r == codeNoDevice:
		return 0, int(v), nil
	case r != 0:
		return 0, int(v), &Error{C.GoString(name), fmt.Errorf("code %d", int(r))}
	}
	return int(n), int(v), nil
}

// deviceFiles are the device files of the drivers: Linux's own, and the one that Windows lends to a
// Linux that runs on it.
var deviceFiles = []string{"/dev/nvidiactl", "/dev/dxg"}

// Likely reports whether a device will probably answer. Unlike [Probe], it does not start the
// driver, which takes tenths of a second, or seconds if no other program uses the device.
func Likely() bool { return (runtime.GOOS == "windows" || anyOpens(deviceFiles)) && driverLoads() }

func driverLoads() bool { return C.load() != 0 }

// anyOpens reports whether any of the files can be opened. A device file stays after its driver is
// gone, but can no longer be opened.
func anyOpens(files []string) bool {
	for _, name := range files {
		if f, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
			f.Close()
			return true
		}
	}
	return false
}
