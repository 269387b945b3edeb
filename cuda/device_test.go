//go:build unix

package cuda_test

import (
	"fmt"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
)

// onDevices runs test on the emulator and, in a build with the tag cuda, on each kind of GPU
// present. It checks that the test releases all memory.
func onDevices(t *testing.T, test func(t *testing.T, d *cuda.Device)) {
	t.Run("emulator", func(t *testing.T) { run(t, cuda.NewDevice(kernels.NewEmulator()), test) })
	t.Run("gpu", func(t *testing.T) {
		list, err := cuda.Devices()
		if err != nil || len(list) == 0 {
			t.Skip("no GPU: ", err)
		}
		d, err := cuda.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(d.Info().Name)
		run(t, d, test)
	})
}

// inAnyOrder runs test as onDevices does, and also on emulators that delay queued work, so that
// missing waits show. Some of these have too little page-locked memory to stage uploads, because
// waits for free chunks would hide missing ones.
func inAnyOrder(t *testing.T, test func(t *testing.T, d *cuda.Device)) {
	onDevices(t, test)
	for seed := range uint64(2) {
		for _, memory := range []int64{4 << 30, 8 << 20} {
			l := kernels.NewLate(seed)
			l.HostMemory = memory
			t.Run(fmt.Sprintf("late %d, %v", seed, cuda.Bytes(memory)), func(t *testing.T) { run(t, cuda.NewDevice(l), test) })
		}
	}
}

func run(t *testing.T, d *cuda.Device, test func(t *testing.T, d *cuda.Device)) {
	err := d.Do(func() error {
		test(t, d)
		return nil
	})
	if _, used := d.MemoryHeld(); used != 0 {
		t.Errorf("%d bytes of device memory were not given back", used)
	}
	if e := d.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Error(err)
	}
}

// subtest runs test within d.Do, because t.Run starts a goroutine on another thread.
func subtest(t *testing.T, d *cuda.Device, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		must(t, d.Do(func() error {
			test(t)
			return nil
		}))
	})
}

// must fails the test if err is not nil.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
