//go:build cuda

package cuda

// This file declares functions that gorgonia.org/cu does not bind, or binds without an
// error.

/*
#cgo CFLAGS: -I/usr/local/cuda/include
#cgo noescape launch
#cgo nocallback launch
#include <cuda.h>

CUresult retime_cuda_init(unsigned int flags);

static CUresult alloc_host(void **p, size_t bytes) { return cuMemHostAlloc(p, bytes, CU_MEMHOSTALLOC_PORTABLE); }

static CUresult copy(CUmemorytype to, CUdeviceptr dst, size_t dst_pitch, CUmemorytype from, CUdeviceptr src, size_t src_pitch,
	size_t width, size_t height, CUstream stream) {
	CUDA_MEMCPY2D c = {0};
	c.srcMemoryType = from;
	c.srcPitch = src_pitch;
	if (from == CU_MEMORYTYPE_HOST) c.srcHost = (const void *)src; else c.srcDevice = src;
	c.dstMemoryType = to;
	c.dstPitch = dst_pitch;
	if (to == CU_MEMORYTYPE_HOST) c.dstHost = (void *)dst; else c.dstDevice = dst;
	c.WidthInBytes = width;
	c.Height = height;
	return cuMemcpy2DAsync(&c, stream);
}

static CUresult copy_to_device(CUdeviceptr dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height, void *stream) {
	if (height == 1) return cuMemcpyHtoDAsync(dst, src, width, stream);
	return copy(CU_MEMORYTYPE_DEVICE, dst, dst_pitch, CU_MEMORYTYPE_HOST, (CUdeviceptr)src, src_pitch, width, height, stream);
}

static CUresult copy_to_host(void *dst, size_t dst_pitch, CUdeviceptr src, size_t src_pitch, size_t width, size_t height, void *stream) {
	if (height == 1) return cuMemcpyDtoHAsync(dst, src, width, stream);
	return copy(CU_MEMORYTYPE_HOST, (CUdeviceptr)dst, dst_pitch, CU_MEMORYTYPE_DEVICE, src, src_pitch, width, height, stream);
}

static CUresult copy_on_device(CUdeviceptr dst, size_t dst_pitch, CUdeviceptr src, size_t src_pitch, size_t width, size_t height, void *stream) {
	if (height == 1) return cuMemcpyDtoDAsync(dst, src, width, stream);
	return copy(CU_MEMORYTYPE_DEVICE, dst, dst_pitch, CU_MEMORYTYPE_DEVICE, src, src_pitch, width, height, stream);
}

// launch starts a kernel whose parameters are stored one after the other, padded to 8 bytes each.
static CUresult launch(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *stream, unsigned long long *args, int n) {
	void *at[512]; // a kernel has 4 KiB of parameters at most
	if (n > 512) return CUDA_ERROR_INVALID_VALUE;
	for (int i = 0; i < n; i++) at[i] = &args[i];
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, at, 0);
}

static CUresult allow_shared(void *f, int bytes) {
	int fixed = 0;
	CUresult r = cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f);
	if (r != CUDA_SUCCESS) return r;
	return cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes - fixed);
}

static const char *error_name(CUresult r) {
	const char *s = 0;
	return cuGetErrorString(r, &s) == CUDA_SUCCESS ? s : "unknown error";
}
*/
import "C"

import (
	"errors"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

const maxSharedMemoryOptin = cu.DeviceAttribute(C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)

// result turns a driver's result code into an error.
func result(name string, r C.CUresult) error {
	switch r {
	case C.CUDA_SUCCESS:
		return nil
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		return &Error{name, ErrOutOfMemory}
	}
	return &Error{name, errors.New(C.GoString(C.error_name(r)))}
}

// initialize initializes the driver, once.
var initialize = sync.OnceValue(func() error {
	if !driverLoads() { // in libraries that do not link it
		return ErrNoDriver
	}
	return result("cuInit", C.retime_cuda_init(0))
})

// DriverVersion returns the newest version of CUDA that the driver supports.
func DriverVersion() (major, minor int, err error) {
	if err := initialize(); err != nil {
		return 0, 0, err
	}
	v := cu.Version()
	return v / 1000, v % 1000 / 10, nil
}

// handle returns the driver's own value of a stream or function. The binding keeps it
// in its only field.
func handle[T cu.Stream | cu.Function](v T) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&v))
}

// allowSharedMemory lets launches of f use all the shared memory that a block may have.
func allowSharedMemory(f cu.Function, bytes int) error {
	return result("cuFuncSetAttribute", C.allow_shared(handle(f), C.int(bytes)))
}

// launchKernel launches f with one call into C; the binding's Launch takes five.
func launchKernel(f cu.Function, grid, block Dim, shared int, stream cu.Stream, args []uint64) error {
	return result("cuLaunchKernel", C.launch(handle(f), C.uint(grid.X), C.uint(grid.Y), C.uint(grid.Z),
		C.uint(block.X), C.uint(block.Y), C.uint(block.Z), C.uint(shared), handle(stream),
		(*C.ulonglong)(unsafe.Pointer(unsafe.SliceData(args))), C.int(len(args))))
}

func (n *nvidia) AllocHost(bytes int64) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	err := result("cuMemHostAlloc", C.alloc_host(&p, C.size_t(bytes)))
	return p, err
}

func (n *nvidia) CopyToDevice(stream any, dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	return result("cuMemcpyHtoDAsync", C.copy_to_device(C.CUdeviceptr(dst), C.size_t(dstStride), src, C.size_t(srcStride),
		C.size_t(width), C.size_t(height), handle(stream.(*nvidiaStream).Stream)))
}

func (n *nvidia) CopyToHost(stream any, dst unsafe.Pointer, dstStride int, src uintptr, srcStride, width, height int) error {
	return result("cuMemcpyDtoHAsync", C.copy_to_host(dst, C.size_t(dstStride), C.CUdeviceptr(src), C.size_t(srcStride),
		C.size_t(width), C.size_t(height), handle(stream.(*nvidiaStream).Stream)))
}

func (n *nvidia) Copy(stream any, dst uintptr, dstStride int, src uintptr, srcStride, width, height int) error {
	return result("cuMemcpyDtoDAsync", C.copy_on_device(C.CUdeviceptr(dst), C.size_t(dstStride), C.CUdeviceptr(src), C.size_t(srcStride),
		C.size_t(width), C.size_t(height), handle(stream.(*nvidiaStream).Stream)))
}
