// Package devicetest runs tests on the emulator of GPUs and on a GPU.
package devicetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/frame"
	"retime/warp/bspline"
)

// Device is a cuda.Device, or one with more.
type Device interface {
	Do(f func() error) error
	Info() cuda.Info
	MemoryHeld() (taken, used int64)
	Close() error
}

// Each runs test on an emulated device and, in a build with the tag cuda, on the first GPU, which
// open opens, if one answers.
func Each[D Device](t *testing.T, emulated D, open func(ordinal int) (D, error), test func(t *testing.T, d D)) {
	t.Run("emulator", func(t *testing.T) { Run(t, emulated, test) })
	t.Run("gpu", func(t *testing.T) {
		list, err := cuda.Devices()
		if err != nil || len(list) == 0 {
			t.Skip("no GPU: ", err)
		}
		d, err := open(0)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(d.Info().Name)
		Run(t, d, test)
	})
}

// Run runs test within d.Do, and closes d. It checks that the test releases all memory.
func Run[D Device](t *testing.T, d D, test func(t *testing.T, d D)) {
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

// Subtest runs test within d.Do, because t.Run starts a goroutine on another thread.
func Subtest(t *testing.T, d Device, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		Must(t, d.Do(func() error {
			test(t)
			return nil
		}))
	})
}

// Must fails the test if err is not nil.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Noise returns samples from -1 to 1, including zeros of both signs.
func Noise[T bspline.Float](rng *rand.Rand, width, height, stride int) frame.Image[T] {
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
