// Package cuda makes frames on NVIDIA GPUs, with the bits that package warp
// makes on the CPU.
//
// A [Device] holds a context, its kernels and an arena of device memory. Work is
// queued on a [Stream] by functions that say in their comment what they read and
// write, and is done in that order. A queued function has not run when the call
// returns, and its host memory must stay as it is until the stream is
// synchronized.
//
// Only builds with the tag cuda can open a device; others say so. All calls that
// reach the device run within [Device.Do].
package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
)

// ErrNotBuilt is returned where a program without CUDA is asked for a device.
var ErrNotBuilt = errors.New("this program is built without CUDA")

// Device is a GPU with a context of its own. Its methods may be called from
// several goroutines.
type Device struct {
	driver Driver
	arena  arena

	mu      sync.Mutex
	kernels map[kernelName]*Kernel
	lent    int  // pieces of HostMemory that are not given back
	closed  bool // but for those
}

type kernelName struct{ module, name string }

// Open returns the device of that number, from 0, as [Devices] lists them.
func Open(ordinal int) (*Device, error) {
	driver, err := OpenDriver(ordinal)
	if err != nil {
		return nil, err
	}
	return NewDevice(driver), nil
}

// NewDevice returns a device over a driver, which it closes.
func NewDevice(driver Driver) *Device {
	return &Device{driver: driver, arena: arena{driver: driver}, kernels: map[kernelName]*Kernel{}}
}

// Info describes the device.
func (d *Device) Info() Info { return d.driver.Info() }

// Do calls f on a locked OS thread on which the device's context is current.
// Calls may nest.
func (d *Device) Do(f func() error) error { return d.driver.Do(f) }

// Close frees the device's memory, kernels and context, these once nothing of
// HostMemory is in use any more. Streams, events and other page-locked memory must be
// freed before.
func (d *Device) Close() error {
	err := d.Do(d.arena.close)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed = true; d.lent > 0 {
		return err
	}
	return cmp.Or(err, d.driver.Close())
}

// MemoryHeld is how many bytes of device memory were taken from the driver, and
// how many of them are in use.
func (d *Device) MemoryHeld() (taken, used int64) { return d.arena.held() }

// Kernel is a function of the device.
type Kernel struct {
	kernelName
	handle any
}

// Kernel returns function name of kernels/MODULE.cu, which is loaded once.
func (d *Device) Kernel(module, name string) (*Kernel, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := kernelName{module, name}
	if k, ok := d.kernels[key]; ok {
		return k, nil
	}
	handle, err := d.driver.Kernel(module, name)
	if err != nil {
		return nil, fmt.Errorf("kernel %s of %s.cu on %s: %w", name, module, d.Info().Name, err)
	}
	k := &Kernel{key, handle}
	d.kernels[key] = k
	return k, nil
}

// Kernels looks up several functions of one module.
func (d *Device) Kernels(module string, names map[string]**Kernel) error {
	for name, k := range names {
		var err error
		if *k, err = d.Kernel(module, name); err != nil {
			return err
		}
	}
	return nil
}
