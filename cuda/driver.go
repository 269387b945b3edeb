package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// Driver is the part of the CUDA driver that a Device needs. The build tag cuda adds the real one;
// package kernels has one that runs the kernels on the CPU, for tests.
//
// Addresses are device addresses. Streams, events and kernels are the driver's own values: some
// methods return them and others accept them. Copies and launches return before they are done; each
// stream runs them in order. The caller must call all methods except Do and Close within Do.
// Several goroutines may call them at once, but only one at a time may use a stream.
type Driver interface {
	// Info returns a description of the device.
	Info() Info
	// Do calls f on a locked OS thread on which the device's context is current.
	Do(f func() error) error
	Close() error
	// Context identifies the device's context: drivers that return equal values can use each
	// other's addresses, streams and events.
	Context() any

	// MemoryInfo returns the free and the total device memory in bytes.
	MemoryInfo() (free, total int64, err error)
	// Alloc returns the address of device memory, aligned to 256 bytes, or
	// ErrOutOfMemory if there is not enough.
	Alloc(bytes int64) (uintptr, error)
	Free(address uintptr) error
	// AllocHost returns page-locked host memory, which the device reads and writes directly.
	AllocHost(bytes int64) (unsafe.Pointer, error)
	FreeHost(p unsafe.Pointer) error

	NewStream() (any, error)
	// NewUrgentStream returns a stream whose launches start before those waiting on streams of
	// NewStream.
	NewUrgentStream() (any, error)
	// Native returns the stream as other users of the context know it, a CUstream, or 0 if there
	// are no other users.
	Native(stream any) uintptr
	DestroyStream(stream any) error
	Synchronize(stream any) error
	NewEvent(timed bool) (any, error)
	DestroyEvent(event any) error
	Record(event, stream any) error
	// WaitEvent makes later work on the stream wait for the event.
	WaitEvent(stream, event any) error
	// SynchronizeEvent waits until the event has happened.
	SynchronizeEvent(event any) error
	// Elapsed returns the time between two timed events in seconds.
	Elapsed(from, to any) (float64, error)

	// CopyToDevice, CopyToHost and Copy copy rectangles of height rows of width bytes,
	// with rows stride bytes apart.
	CopyToDevice(stream any, dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error
	CopyToHost(stream any, dst unsafe.Pointer, dstStride int, src uintptr, srcStride, width, height int) error
	Copy(stream any, dst uintptr, dstStride int, src uintptr, srcStride, width, height int) error
	// Fill sets bytes bytes of memory to value.
	Fill(stream any, dst uintptr, value byte, bytes int64) error

	// Load loads kernels/MODULE.cu, in which Kernel then finds functions.
	Load(module string) error
	// Kernel returns the function called name in kernels/MODULE.cu.
	Kernel(module, name string) (any, error)
	// Launch starts a kernel with shared bytes of dynamic shared memory. Each argument
	// holds the bytes of a parameter, padded to 8.
	Launch(stream, kernel any, grid, block Dim, shared int, args []uint64) error

	// NewGraph returns a graph of launches, each of which waits for the previous one.
	NewGraph(list []KernelNode) (any, error)
	// LaunchGraph starts a graph's launches.
	LaunchGraph(stream, graph any) error
	// DestroyGraph frees a graph. Launches under way run to their end.
	DestroyGraph(graph any) error
}

// KernelNode is a launch in a graph; its fields are the arguments of Launch.
type KernelNode struct {
	Kernel      any
	Grid, Block Dim
	Shared      int
	Args        []uint64
}

// OpenDriver returns the driver of the device with the given number, from 0, in the order of
// [Devices]. It is for drivers that extend this one; all others call [Open]. The driver's kernels
// have the type Function of gorgonia.org/cu.
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
	L2              int // bytes of second-level cache
	// SharedMemory is the largest number of bytes of shared memory that a block may
	// have.
	SharedMemory int
}

// newEnough returns an error unless the device runs code for one of the architectures, such as
// "sm_80 sm_90 and PTX 9.0", or for a later one.
func newEnough(in Info, architectures string) error {
	oldest := math.MaxInt
	for field := range strings.FieldsSeq(architectures) {
		if n, err := strconv.Atoi(strings.TrimPrefix(field, "sm_")); err == nil {
			oldest = min(oldest, n)
		}
	}
	if oldest < math.MaxInt && 10*in.Major+in.Minor < oldest {
		return fmt.Errorf("%s is too old for this program's kernels: it has compute capability %d.%d, and they need %d.%d or later",
			in.Name, in.Major, in.Minor, oldest/10, oldest%10)
	}
	return nil
}

// Dim is the size of a grid in blocks or of a block in threads.
type Dim struct{ X, Y, Z int }

// Error is a failed driver call.
type Error struct {
	Call string // such as "cuMemAlloc"
	Err  error  // the driver's code
}

func (e *Error) Error() string { return e.Call + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }
