package cuda

import (
	"unsafe"

	"retime/frame"
)

// hostMemory allocates page-locked memory for frames.
type hostMemory struct{ device *Device }

// HostMemory returns an allocator of page-locked memory, which all devices fill directly. Its
// memory outlives the device's Close; the context then ends with the last piece.
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
	// If the device has failed, there is nothing left to do about errors.
	_ = d.Do(func() error { return d.driver.FreeHost(p) })
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lent--; d.lent == 0 && d.closed {
		_ = d.driver.Close()
	}
}

// direct reports whether devices can fill f themselves.
func direct(f *frame.Frame) bool {
	_, ok := f.Memory.(hostMemory)
	return ok
}
