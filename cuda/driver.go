package cuda

import (
	"fmt"
	"unsafe"
)

// Driver is what a Device needs of CUDA's driver. The build tag cuda brings in
// the real one; package kernels has one that runs the kernels on the CPU,
// for tests.
//
// Addresses are device addresses. Streams, events and kernels are the driver's
// own values: what one method returns, others take. Copies and launches return
// before they are done, in the order of their stream. Methods other than Do and
// Close must be called within Do, and may be called from several goroutines,
// though a stream belongs to one at a time.
type Driver interface {
	// Info describes the device.
	Info() Info
	// Do calls f on a locked OS thread on which the device's context is current.
	Do(f func() error) error
	Close() error

	// Free bytes of device memory, and all of it.
	MemoryInfo() (free, total int64, err error)
	// Alloc returns the address of device memory, aligned to 256 bytes. Its error
	// is ErrOutOfMemory where there is not enough.
	Alloc(bytes int64) (uintptr, error)
	Free(address uintptr) error
	// AllocHost returns page-locked host memory, which the device copies from
	// and to directly.
	AllocHost(bytes int64) (unsafe.Pointer, error)
	FreeHost(p unsafe.Pointer) error

	NewStream() (any, error)
	DestroyStream(stream any) error
	Synchronize(stream any) error
	NewEvent(timed bool) (any, error)
	DestroyEvent(event any) error
	Record(event, stream any) error
	// WaitEvent makes what follows on the stream wait for the event.
	WaitEvent(stream, event any) error
	// SynchronizeEvent returns when the event has happened.
	SynchronizeEvent(event any) error
	// Elapsed is the time between two timed events in seconds.
	Elapsed(from, to any) (float64, error)

	// Rectangles of height rows of width bytes, whose rows lie stride bytes apart.
	CopyToDevice(stream any, dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error
	CopyToHost(stream any, dst unsafe.Pointer, dstStride int, src uintptr, srcStride, width, height int) error
	Copy(stream any, dst uintptr, dstStride int, src uintptr, srcStride, width, height int) error
	// Fill sets bytes.
	Fill(stream any, dst uintptr, value byte, bytes int64) error

	// Kernel returns function name of kernels/MODULE.cu.
	Kernel(module, name string) (any, error)
	// Launch starts a kernel with shared bytes of dynamic shared memory. Each
	// argument is the parameter's bytes, padded to 8.
	Launch(stream, kernel any, grid, block Dim, shared int, args []uint64) error
}

// OpenDriver returns the driver of the device of that number, from 0, as [Devices]
// lists them, for a driver that adds to it; [Open] is for all others. Its kernels are
// values of gorgonia.org/cu's type Function.
func OpenDriver(ordinal int) (Driver, error) {
	driver, err := openDriver(ordinal)
	if err != nil {
		return nil, fmt.Errorf("CUDA device %d: %w", ordinal, err)
	}
	return driver, nil
}

// Info describes a device.
type Info struct {
	Ordinal         int
	Name            string
	Major, Minor    int   // compute capability
	Memory          int64 // bytes
	Multiprocessors int
	L2              int // bytes of second level cache
	// SharedMemory is the most bytes that a block may be launched with.
	SharedMemory int
}

// Dim is the size of a grid in blocks or of a block in threads.
type Dim struct{ X, Y, Z int }

// Error is a failed call of the driver.
type Error struct {
	Call string // such as "cuMemAlloc"
	Err  error  // the driver's code
}

func (e *Error) Error() string { return e.Call + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }
