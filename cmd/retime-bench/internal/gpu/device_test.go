//go:build unix

package gpu_test

import (
	"math"
	"testing"

	"retime/cmd/retime-bench/internal/gpu"
	"retime/cmd/retime-bench/internal/gpu/kernels"
	"retime/frame"
	"retime/internal/devicetest"
	"retime/warp/bspline"
)

var boundaries = []bspline.Boundary{bspline.HalfSymmetric, bspline.WholeSymmetric, bspline.Periodic, bspline.Constant}

var (
	must    = devicetest.Must
	subtest = devicetest.Subtest
)

// onDevices runs test on each kind of device; see devicetest.
func onDevices(t *testing.T, test func(t *testing.T, d *gpu.Device)) {
	devicetest.Each(t, gpu.NewDevice(kernels.NewEmulator()), gpu.Open, test)
}

// sameBits compares the bits of got with those of want. All NaNs are equal.
func sameBits[T bspline.Float](t *testing.T, what string, got, want frame.Image[T]) {
	t.Helper()
	for y := range got.Height {
		for x, v := range got.Row(y) {
			w := want.Row(y)[x]
			if math.Float64bits(float64(v)) != math.Float64bits(float64(w)) && (v == v || w == w) {
				t.Fatalf("%s, %dx%d: %v at (%d, %d), want %v", what, want.Width, want.Height, v, x, y, w)
			}
		}
	}
}
