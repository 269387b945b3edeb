//go:build unix

package cuda_test

import (
	"fmt"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/internal/devicetest"
)

var (
	must    = devicetest.Must
	run     = devicetest.Run[*cuda.Device]
	subtest = devicetest.Subtest
)

// onDevices runs test on each kind of device; see devicetest.
func onDevices(t *testing.T, test func(t *testing.T, d *cuda.Device)) {
	devicetest.Each(t, cuda.NewDevice(kernels.NewEmulator()), cuda.Open, test)
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
