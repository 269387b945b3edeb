package cuda

import (
	"unsafe"

	"retime/frame"
)

// hostMemory is page-locked memory for frames.
type hostMemory struct{ device *Device }

// HostMemory gives out page-locked memory, which all devices fill directly. What is
// given out remains when the device is closed, which then ends with the last of it.
func (d *Device) HostMemory() frame.Memory { return hostMemory{d} }

func (m hostMemory) Alloc(bytes int) (p unsafe.Pointer) {
	d := m.device
	err := d.Do(func() (err error) {
		p, err = d.driver.AllocHost(int64(bytes))
		return err
	})
	if err != nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lent++
	return p
}

func (m hostMemory) Free(p unsafe.Pointer) {
	d := m.device
	// After a fault there is nothing to be done about errors.
	_ = d.Do(func() error { return d.driver.FreeHost(p) })
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lent--; d.lent == 0 && d.closed {
		_ = d.driver.Close()
	}
}

// direct says whether devices fill f themselves.
func direct(f *frame.Frame) bool {
	_, ok := f.Memory.(hostMemory)
	return ok
}
