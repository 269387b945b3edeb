//go:build cuda

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"
)

// Built reports whether this program was built with CUDA.
const Built = true

// nvidia is the driver of one GPU.
type nvidia struct {
	info    Info
	context cu.CUContext
	modules modules
}

// Devices returns descriptions of the GPUs that answer.
func Devices() ([]Info, error) {
	if err := initialize(); err != nil {
		return nil, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return nil, &Error{"cuDeviceGetCount", err}
	}
	list := make([]Info, n)
	for i := range list {
		if list[i], err = describe(i); err != nil {
			return nil, fmt.Errorf("CUDA device %d: %w", i, err)
		}
	}
	return list, nil
}

func describe(ordinal int) (Info, error) {
	in := Info{Ordinal: ordinal}
	d, err := cu.GetDevice(ordinal)
	if err != nil {
		return in, &Error{"cuDeviceGet", err}
	}
	if in.Name, err = d.Name(); err != nil {
		return in, &Error{"cuDeviceGetName", err}
	}
	if in.Memory, err = d.TotalMem(); err != nil {
		return in, &Error{"cuDeviceTotalMem", err}
	}
	for _, a := range []struct {
		attribute cu.DeviceAttribute
		value     *int
	}{
		{cu.ComputeCapabilityMajor, &in.Major},
		{cu.ComputeCapabilityMinor, &in.Minor},
		{cu.MultiprocessorCount, &in.Multiprocessors},
		{cu.L2CacheSize, &in.L2},
		{maxSharedMemoryOptin, &in.SharedMemory},
	} {
		if *a.value, err = d.Attribute(a.attribute); err != nil {
			return in, &Error{"cuDeviceGetAttribute", err}
		}
	}
	return in, nil
}

func openDriver(ordinal int) (Driver, error) {
	if err := checkSources(); err != nil {
		return nil, err
	}
	if err := initialize(); err != nil {
		return nil, err
	}
	info, err := describe(ordinal)
	if err != nil {
		return nil, err
	}
	if err := newEnough(info, Architectures()); err != nil {
		return nil, err
	}
	device := cu.Device(ordinal)
	// Video decoders leave their pictures in the primary context. Waiting threads sleep, because
	// the processor has other frames to decode and encode.
	if err := device.SetPrimaryCtxFlags(cu.SchedBlockingSync); err != nil && !errors.Is(err, cu.PrimaryContextActive) {
		return nil, &Error{"cuDevicePrimaryCtxSetFlags", err}
	}
	context, err := device.RetainPrimaryCtx()
	if err != nil {
		return nil, call("cuDevicePrimaryCtxRetain", err)
	}
	return &nvidia{info: info, context: context}, nil
}

func (n *nvidia) Info() Info { return n.info }

func (n *nvidia) Do(f func() error) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.PushCurrentCtx(n.context); err != nil {
		return &Error{"cuCtxPushCurrent", err}
	}
	defer func() {
		if _, e := cu.PopCurrentCtx(); err == nil && e != nil {
			err = &Error{"cuCtxPopCurrent", e}
		}
	}()
	return f()
}

// Close lets go of the context, which others may still use.
func (n *nvidia) Close() error {
	err := n.Do(n.modules.unload)
	return cmp.Or(err, call("cuDevicePrimaryCtxRelease", cu.Device(n.info.Ordinal).ReleasePrimaryCtx()))
}

func (n *nvidia) Context() any { return n.context }

// call adds the name of the failed call to an error.
func call(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, cu.OutOfMemory):
		return &Error{name, ErrOutOfMemory}
	}
	return &Error{name, err}
}

func (n *nvidia) MemoryInfo() (free, total int64, err error) {
	free, total, err = cu.MemInfo()
	return free, total, call("cuMemGetInfo", err)
}

func (n *nvidia) Alloc(bytes int64) (uintptr, error) {
	p, err := cu.MemAlloc(bytes)
	return uintptr(p), call("cuMemAlloc", err)
}

func (n *nvidia) Free(address uintptr) error {
	return call("cuMemFree", cu.MemFree(cu.DevicePtr(address)))
}

func (n *nvidia) FreeHost(p unsafe.Pointer) error { return call("cuMemFreeHost", cu.MemFreeHost(p)) }

type nvidiaStream struct{ cu.Stream }

func (n *nvidia) NewStream() (any, error) {
	s, err := cu.MakeStream(cu.NonBlocking)
	return &nvidiaStream{s}, call("cuStreamCreate", err)
}

func (n *nvidia) NewUrgentStream() (any, error) {
	_, greatest, err := cu.StreamPriorityRange()
	if err != nil {
		return nil, call("cuCtxGetStreamPriorityRange", err)
	}
	s, err := cu.MakeStreamWithPriority(greatest, cu.NonBlocking)
	return &nvidiaStream{s}, call("cuStreamCreateWithPriority", err)
}

func (n *nvidia) Native(stream any) uintptr { return uintptr(handle(stream.(*nvidiaStream).Stream)) }

func (n *nvidia) DestroyStream(stream any) error {
	return call("cuStreamDestroy", stream.(*nvidiaStream).Destroy())
}

func (n *nvidia) Synchronize(stream any) error {
	return call("cuStreamSynchronize", stream.(*nvidiaStream).Synchronize())
}

func (n *nvidia) NewEvent(timed bool) (any, error) {
	flags := cu.BlockingSyncEvent
	if !timed {
		flags |= cu.DisableTiming
	}
	e, err := cu.MakeEvent(flags)
	return e, call("cuEventCreate", err)
}

func (n *nvidia) DestroyEvent(event any) error {
	e := event.(cu.Event)
	return call("cuEventDestroy", cu.DestroyEvent(&e))
}

func (n *nvidia) Record(event, stream any) error {
	return call("cuEventRecord", event.(cu.Event).Record(stream.(*nvidiaStream).Stream))
}

func (n *nvidia) WaitEvent(stream, event any) error {
	return call("cuStreamWaitEvent", stream.(*nvidiaStream).Wait(event.(cu.Event), 0))
}

func (n *nvidia) SynchronizeEvent(event any) error {
	return call("cuEventSynchronize", event.(cu.Event).Synchronize())
}

func (n *nvidia) Elapsed(from, to any) (float64, error) {
	ms, err := from.(cu.Event).Elapsed(to.(cu.Event))
	return ms / 1000, call("cuEventElapsedTime", err)
}

func (n *nvidia) Fill(stream any, dst uintptr, value byte, bytes int64) error {
	return call("cuMemsetD8Async", cu.MemsetD8Async(cu.DevicePtr(dst), value, bytes, stream.(*nvidiaStream).Stream))
}

func (n *nvidia) Load(module string) error {
	_, err := n.modules.load(module)
	return err
}

func (n *nvidia) Kernel(module, name string) (any, error) {
	m, err := n.modules.load(module)
	if err != nil {
		return nil, err
	}
	f, err := m.Function(name)
	if err != nil {
		return nil, call("cuModuleGetFunction", err)
	}
	return f, call("cuFuncSetAttribute", allowSharedMemory(f, n.info.SharedMemory))
}

func (n *nvidia) Launch(stream, kernel any, grid, block Dim, shared int, args []uint64) error {
	return launchKernel(kernel.(cu.Function), grid, block, shared, stream.(*nvidiaStream).Stream, args)
}
