//go:build unix

package gpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/cmd/retime-bench/internal/gpu"
	"retime/cmd/retime-bench/internal/gpu/kernels"
	"retime/cuda"
	"retime/frame"
	"retime/warp/bspline"
)

var boundaries = []bspline.Boundary{bspline.HalfSymmetric, bspline.WholeSymmetric, bspline.Periodic, bspline.Constant}

// onDevices runs test on the emulator and, in a build with the tag cuda, on the first
// GPU if one answers. It checks that the test releases all memory.
func onDevices(t *testing.T, test func(t *testing.T, d *gpu.Device)) {
	t.Run("emulator", func(t *testing.T) { run(t, gpu.NewDevice(kernels.NewEmulator()), test) })
	t.Run("gpu", func(t *testing.T) {
		list, err := cuda.Devices()
		if err != nil || len(list) == 0 {
			t.Skip("no GPU: ", err)
		}
		d, err := gpu.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(d.Info().Name)
		run(t, d, test)
	})
}

func run(t *testing.T, d *gpu.Device, test func(t *testing.T, d *gpu.Device)) {
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
func subtest(t *testing.T, d *gpu.Device, name string, test func(t *testing.T)) {
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

// noise returns samples from -1 to 1, including zeros of both signs.
func noise[T bspline.Float](rng *rand.Rand, width, height, stride int) frame.Image[T] {
	img := frame.Image[T]{Width: width, Height: height, Stride: stride, Pix: make([]T, stride*height)}
	for i := range img.Pix {
		switch rng.IntN(16) {
		case 0:
			img.Pix[i] = 0
		case 1:
			img.Pix[i] = T(math.Copysign(0, -1))
		default:
			img.Pix[i] = T(2*rng.Float64() - 1)
		}
	}
	return img
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
