package cuda

import (
	"slices"
	"sync"
)

// keeper holds the drivers of closed devices, with their contexts and kernels, for devices that are
// opened later.
type keeper struct {
	mu      sync.Mutex
	holders int
	closed  []*keptDriver
}

var kept keeper

// Keep leaves the contexts and kernels of devices that are closed from now on to devices that are
// opened later, which spares these some tenths of a second. The function that it returns ends that.
// Calls may overlap.
func Keep() (release func()) { return kept.keep() }

func (k *keeper) keep() (release func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holders++
	return sync.OnceFunc(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.holders--; k.holders > 0 {
			return
		}
		for _, d := range k.closed {
			_ = d.Driver.Close() // nothing depends on it
		}
		k.closed = nil
	})
}

// open returns a driver of the device with the given number: one that was kept and still works, or
// a new one.
func (k *keeper) open(ordinal int, create func(ordinal int) (Driver, error)) (Driver, error) {
	for {
		d := k.take(ordinal)
		if d == nil {
			break
		}
		if d.works() {
			return d, nil
		}
		_ = d.Driver.Close() // it fails after a fault, and a new context may do better
	}
	d, err := create(ordinal)
	if err != nil {
		return nil, err
	}
	return &keptDriver{d, k, ordinal}, nil
}

// take returns a driver that was kept, which is the caller's then, or nil.
func (k *keeper) take(ordinal int) *keptDriver {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.closed, func(d *keptDriver) bool { return d.ordinal == ordinal })
	if i < 0 {
		return nil
	}
	d := k.closed[i]
	k.closed = slices.Delete(k.closed, i, i+1)
	return d
}

// keptDriver is a driver that its keeper may take back when it is closed.
type keptDriver struct {
	Driver
	keeper  *keeper
	ordinal int
}

// works reports whether the context has not failed: after a fault every call fails.
func (d *keptDriver) works() bool {
	return d.Do(func() error {
		_, _, err := d.MemoryInfo()
		return err
	}) == nil
}

func (d *keptDriver) Close() error {
	d.keeper.mu.Lock()
	if d.keeper.holders > 0 {
		d.keeper.closed = append(d.keeper.closed, d)
		d.keeper.mu.Unlock()
		return nil
	}
	d.keeper.mu.Unlock()
	return d.Driver.Close()
}
