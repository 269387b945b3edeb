// Package cuda makes frames on NVIDIA GPUs, with the same bits as package warp on the CPU.
//
// A [Device] holds a context, its kernels and an arena of device memory. Functions queue work on a
// [Stream], which runs it in order; their comments say what the work reads and writes. When such a
// function returns, the work may not have run yet, so host memory that it reads or writes must not
// be touched until the stream is synchronized.
//
// Only builds with the tag cuda can open a device; other builds return [ErrNotBuilt].
// All calls that reach the device must run within [Device.Do].
package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
)

// ErrNotBuilt reports that a program was built without CUDA and cannot open a device.
var ErrNotBuilt = errors.New("this program is built without CUDA")

// Device is a GPU in its primary context. Several goroutines may call its methods at
// once.
type Device struct {
	driver Driver
	arena  arena

	mu      sync.Mutex
	kernels map[kernelName]*Kernel
	lent    int  // pieces of HostMemory in use
	closed  bool // Close has been called
}

type kernelName struct{ module, name string }

// Open returns the device with the given number, from 0, in the order of [Devices].
func Open(ordinal int) (*Device, error) {
	driver, err := kept.open(ordinal, OpenDriver)
	if err != nil {
		return nil, err
	}
	return NewDevice(driver), nil
}

// NewDevice returns a device over a driver. The device closes the driver.
func NewDevice(driver Driver) *Device {
	return &Device{driver: driver, arena: arena{driver: driver}, kernels: map[kernelName]*Kernel{}}
}

// Info returns a description of the device.
func (d *Device) Info() Info { return d.driver.Info() }

// Do calls f on a locked OS thread on which the device's context is current. Calls of
// Do may nest.
func (d *Device) Do(f func() error) error { return d.driver.Do(f) }

// Close frees the device's memory and, once none of its HostMemory is in use, its kernels and
// context. The caller must free streams, events and other page-locked memory first.
func (d *Device) Close() error {
	err := d.Do(d.arena.close)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed = true; d.lent > 0 {
		return err
	}
	return cmp.Or(err, d.driver.Close())
}

// MemoryHeld returns the number of bytes of device memory that the device has taken from the
// driver, and how many of them are in use.
func (d *Device) MemoryHeld() (taken, used int64) { return d.arena.held() }

// LimitMemory bounds the device memory that the device takes from the driver, in bytes, before
// anything has used any; 0 sets no bound. The context and its kernels come on top.
func (d *Device) LimitMemory(bytes int64) { d.arena.limit = bytes }

// FreeMemory returns how many bytes of its memory the device may still take, 0 if it cannot tell.
func (d *Device) FreeMemory() int64 {
	free, _, err := d.room()
	if err != nil {
		return 0
	}
	return max(free, 0)
}

// room returns how much device memory is left, and of how much.
func (d *Device) room() (free, total int64, err error) {
	d.arena.mu.Lock()
	defer d.arena.mu.Unlock()
	return d.arena.room()
}

// Kernel is a function that runs on the device.
type Kernel struct {
	kernelName
	device *Device

	mu     sync.Mutex
	loaded any // the driver's value, set once the function is loaded
}

// handle returns the driver's value for the function, and loads the function first if necessary.
func (k *Kernel) handle() (any, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.loaded != nil {
		return k.loaded, nil
	}
	v, err := k.device.driver.Kernel(k.module, k.name)
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", k.device.Info().Name, err)
	}
	k.loaded = v
	return v, nil
}

// Kernel returns the function called name in kernels/MODULE.cu. It loads the module, but leaves
// loading the function to its first launch, because a clip needs few of those for all formats.
func (d *Device) Kernel(module, name string) (*Kernel, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := kernelName{module, name}
	if k, ok := d.kernels[key]; ok {
		return k, nil
	}
	if err := d.driver.Load(module); err != nil {
		return nil, fmt.Errorf("%s.cu on %s: %w", module, d.Info().Name, err)
	}
	k := &Kernel{kernelName: key, device: d}
	d.kernels[key] = k
	return k, nil
}

// Kernels looks up several functions of a module and stores them in names.
func (d *Device) Kernels(module string, names map[string]**Kernel) error {
	for name, k := range names {
		var err error
		if *k, err = d.Kernel(module, name); err != nil {
			return err
		}
	}
	return nil
}
