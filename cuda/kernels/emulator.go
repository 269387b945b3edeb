//go:build unix

// Package kernels holds the CUDA kernels, one operator in each file, and an emulator
// that runs them on the CPU, so that tests need no GPU.
//
// The emulator compiles the kernels' own files as C++. It runs threads one at a time, and blocks in
// an order that changes from launch to launch, to reveal results that depend on the order. It
// supports the part of CUDA that emulator.h declares.
package kernels

/*
#cgo CXXFLAGS: -std=c++14 -O2 -Wall -Wno-unused-function -Wno-unknown-pragmas
#include <stdlib.h>
#include "emulator_run.h"
*/
import "C"

import (
	"embed"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"retime/cuda"
)

//go:generate go run ../../internal/constants
//go:generate go run ./generate

// Sources are the files of the kernels. Embedding them makes the Go tool rebuild the
// emulator when one of them changes.
//
//go:embed *.cu *.cuh
var Sources embed.FS

// Emulator is a cuda.Driver that runs kernels on the CPU. It does all work on streams immediately.
type Emulator struct {
	// Memory is the size of the device memory, and HostMemory the amount of host memory
	// that can be page-locked, in bytes.
	Memory, HostMemory int64
	// Fail, if set, is called for each allocation, copy, launch and synchronization, with the name
	// of the Driver's method or, for a launch, of the kernel. If Fail returns an error, the call
	// returns it.
	Fail func(call string) error

	mu                sync.Mutex
	allocs            map[uintptr]int64
	hosts             map[unsafe.Pointer]int64
	taken, hostsTaken int64
}

// NewEmulator returns an emulator with 4 GiB of device memory and as much host memory.
func NewEmulator() *Emulator {
	return &Emulator{Memory: 4 << 30, HostMemory: 4 << 30, allocs: map[uintptr]int64{}, hosts: map[unsafe.Pointer]int64{}}
}

// fails returns Fail's error for a call, or nil.
func (e *Emulator) fails(call string) error {
	if e.Fail == nil {
		return nil
	}
	return e.Fail(call)
}

// running guards the state of the emulator in C++. launches counts launches: odd and
// even ones run their threads in opposite orders.
var (
	running  sync.Mutex
	launches int
)

// Info describes a device whose limits every real device meets. On Turing, blocks have 64 KiB of
// shared memory, of which a kernel's own variables take at most 12.
func (e *Emulator) Info() cuda.Info {
	return cuda.Info{
		Name: "emulator", Major: 7, Memory: e.Memory, Multiprocessors: 1, L2: 1 << 20, SharedMemory: 52 << 10,
	}
}

// Do calls f.
func (e *Emulator) Do(f func() error) error { return f() }

// Close returns an error if some memory was not freed.
func (e *Emulator) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n, h := len(e.allocs), len(e.hosts); n+h > 0 {
		return fmt.Errorf("%d allocations of device memory and %d of page-locked memory are left", n, h)
	}
	return nil
}

// Context returns e.
func (e *Emulator) Context() any { return e }

// MemoryInfo returns how much of Memory is free, and Memory.
func (e *Emulator) MemoryInfo() (free, total int64, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.Memory - e.taken, e.Memory, nil
}

// Memory has these alignments in bytes: on the device as cuda.Driver states, on the host as
// frame.Memory promises.
const (
	allocAlign = 256
	hostAlign  = 64
)

// Alloc returns memory filled with a pattern that no kernel should ever read.
func (e *Emulator) Alloc(bytes int64) (uintptr, error) {
	if err := e.fails("Alloc"); err != nil {
		return 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taken+bytes > e.Memory {
		return 0, &cuda.Error{Call: "Alloc", Err: cuda.ErrOutOfMemory}
	}
	var p unsafe.Pointer
	if C.posix_memalign(&p, allocAlign, C.size_t(bytes)) != 0 {
		return 0, &cuda.Error{Call: "Alloc", Err: cuda.ErrOutOfMemory}
	}
	fill(unsafe.Slice((*byte)(p), bytes), 0xcd)
	e.allocs[uintptr(p)] = bytes
	e.taken += bytes
	return uintptr(p), nil
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// at returns a pointer to the memory at a device address.
func at(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// Free releases device memory.
func (e *Emulator) Free(address uintptr) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	bytes, ok := e.allocs[address]
	if !ok {
		return fmt.Errorf("Free: nothing was allocated at %#x", address)
	}
	C.free(at(address))
	delete(e.allocs, address)
	e.taken -= bytes
	return nil
}

// AllocHost returns memory that counts as page-locked.
func (e *Emulator) AllocHost(bytes int64) (unsafe.Pointer, error) {
	if err := e.fails("AllocHost"); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var p unsafe.Pointer
	if e.hostsTaken+bytes > e.HostMemory || C.posix_memalign(&p, hostAlign, C.size_t(max(1, bytes))) != 0 {
		return nil, &cuda.Error{Call: "AllocHost", Err: cuda.ErrOutOfMemory}
	}
	e.hosts[p] = bytes
	e.hostsTaken += bytes
	return p, nil
}

// locked returns the start of the page-locked memory that contains p, or nil if none does.
func (e *Emulator) locked(p unsafe.Pointer) unsafe.Pointer {
	e.mu.Lock()
	defer e.mu.Unlock()
	for first, bytes := range e.hosts {
		if uintptr(p) >= uintptr(first) && uintptr(p) < uintptr(first)+uintptr(bytes) {
			return first
		}
	}
	return nil
}

// FreeHost releases page-locked memory.
func (e *Emulator) FreeHost(p unsafe.Pointer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	bytes, ok := e.hosts[p]
	if !ok {
		return fmt.Errorf("FreeHost: nothing was allocated at %p", p)
	}
	delete(e.hosts, p)
	e.hostsTaken -= bytes
	C.free(p)
	return nil
}

// NewStream returns a stream, which has no state.
func (e *Emulator) NewStream() (any, error) { return new(struct{}), nil }

// NewUrgentStream returns a stream, which has no state.
func (e *Emulator) NewUrgentStream() (any, error) { return new(struct{}), nil }

// Native returns 0: nothing else uses the emulator.
func (e *Emulator) Native(any) uintptr { return 0 }

// DestroyStream does nothing.
func (e *Emulator) DestroyStream(any) error { return nil }

// Synchronize returns at once: no work is ever queued.
func (e *Emulator) Synchronize(any) error { return e.fails("Synchronize") }

// event holds the time at which it was recorded.
type event struct{ at time.Time }

// NewEvent returns an event. All events record the time.
func (e *Emulator) NewEvent(bool) (any, error) { return new(event), nil }

// DestroyEvent does nothing.
func (e *Emulator) DestroyEvent(any) error { return nil }

// Record stores the current time in the event.
func (e *Emulator) Record(ev, _ any) error {
	ev.(*event).at = time.Now()
	return nil
}

// WaitEvent does nothing: no work is ever queued.
func (e *Emulator) WaitEvent(_, _ any) error { return nil }

// SynchronizeEvent returns at once: no work is ever queued.
func (e *Emulator) SynchronizeEvent(any) error { return e.fails("SynchronizeEvent") }

// Elapsed returns the time between two events in seconds.
func (e *Emulator) Elapsed(from, to any) (float64, error) {
	return to.(*event).at.Sub(from.(*event).at).Seconds(), nil
}

func copyRows(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, width, height int) {
	for y := range height {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, y*dstStride)), width), unsafe.Slice((*byte)(unsafe.Add(src, y*srcStride)), width))
	}
}

// CopyToDevice copies immediately.
func (e *Emulator) CopyToDevice(_ any, dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	if err := e.fails("CopyToDevice"); err != nil {
		return err
	}
	copyRows(at(dst), dstStride, src, srcStride, width, height)
	return nil
}

// CopyToHost copies immediately.
func (e *Emulator) CopyToHost(_ any, dst unsafe.Pointer, dstStride int, src uintptr, srcStride, width, height int) error {
	if err := e.fails("CopyToHost"); err != nil {
		return err
	}
	copyRows(dst, dstStride, at(src), srcStride, width, height)
	return nil
}

// Copy copies immediately.
func (e *Emulator) Copy(_ any, dst uintptr, dstStride int, src uintptr, srcStride, width, height int) error {
	if err := e.fails("Copy"); err != nil {
		return err
	}
	copyRows(at(dst), dstStride, at(src), srcStride, width, height)
	return nil
}

// Fill sets bytes of memory to value immediately.
func (e *Emulator) Fill(_ any, dst uintptr, value byte, bytes int64) error {
	if err := e.fails("Fill"); err != nil {
		return err
	}
	fill(unsafe.Slice((*byte)(at(dst)), bytes), value)
	return nil
}

// kernel is a function and the number of its parameters.
type kernel struct {
	name string
	at   unsafe.Pointer
	args int
}

// Load does nothing: the kernels are part of the program.
func (e *Emulator) Load(string) error { return nil }

// Kernel returns the function called name in module.cu.
func (e *Emulator) Kernel(module, name string) (any, error) {
	m, n := C.CString(module), C.CString(name)
	defer C.free(unsafe.Pointer(m))
	defer C.free(unsafe.Pointer(n))
	var args C.int
	p := C.retime_kernel(m, n, &args)
	if p == nil {
		return nil, fmt.Errorf("%s.cpp does not list it; run make generate", module)
	}
	return kernel{name, unsafe.Pointer(p), int(args)}, nil
}

// Launch runs a kernel to its end. It returns an error for launches that exceed real devices'
// limits.
func (e *Emulator) Launch(_, k any, grid, block cuda.Dim, shared int, args []uint64) error {
	f := k.(kernel)
	if err := e.admit(f, grid, block, shared, args); err != nil {
		return err
	}
	return f.run(grid, block, shared, args)
}

// admit returns an error if a launch exceeds the limits or has the wrong number of
// arguments.
func (e *Emulator) admit(f kernel, grid, block cuda.Dim, shared int, args []uint64) error {
	if err := e.fails(f.name); err != nil {
		return err
	}
	threads := block.X * block.Y * block.Z
	switch {
	case len(args) != f.args:
		return fmt.Errorf("%d arguments for %d parameters", len(args), f.args)
	case grid.X < 1 || grid.Y < 1 || grid.Z < 1 || grid.X > 1<<31-1 || grid.Y > 65535 || grid.Z > 65535:
		return fmt.Errorf("grid of %d by %d by %d blocks", grid.X, grid.Y, grid.Z)
	case block.X < 1 || block.Y < 1 || block.Z < 1 || threads > 1024:
		return fmt.Errorf("block of %d by %d by %d threads", block.X, block.Y, block.Z)
	case shared > e.Info().SharedMemory:
		return fmt.Errorf("%d bytes of shared memory", shared)
	}
	return nil
}

func (f kernel) run(grid, block cuda.Dim, shared int, args []uint64) error {
	running.Lock()
	defer running.Unlock()
	launches++
	g := [3]C.int{C.int(grid.X), C.int(grid.Y), C.int(grid.Z)}
	b := [3]C.int{C.int(block.X), C.int(block.Y), C.int(block.Z)}
	var first *C.uint64_t
	if len(args) > 0 {
		first = (*C.uint64_t)(unsafe.Pointer(&args[0]))
	}
	if wrong := C.retime_launch(f.at, &g[0], &b[0], C.int(shared), C.int(launches&1), first); wrong != nil {
		return fmt.Errorf("%s", C.GoString(wrong))
	}
	return nil
}

// NewGraph returns the list, or an error if a launch exceeds real devices' limits.
func (e *Emulator) NewGraph(list []cuda.KernelNode) (any, error) {
	for _, n := range list {
		if err := e.admit(n.Kernel.(kernel), n.Grid, n.Block, n.Shared, n.Args); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// LaunchGraph runs the launches to their end.
func (e *Emulator) LaunchGraph(stream, graph any) error {
	for _, n := range graph.([]cuda.KernelNode) {
		if err := e.Launch(stream, n.Kernel, n.Grid, n.Block, n.Shared, n.Args); err != nil {
			return err
		}
	}
	return nil
}

// DestroyGraph does nothing.
func (e *Emulator) DestroyGraph(any) error { return nil }
