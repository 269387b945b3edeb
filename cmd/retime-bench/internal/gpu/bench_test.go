//go:build unix

package gpu_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"retime/cmd/retime-bench/internal/gpu"
	"retime/cmd/retime-bench/internal/gpu/kernels"
	"retime/cuda"
)

// A run also works on the emulator, where the times mean nothing.
func TestDeviceIsMeasured(t *testing.T) {
	e := kernels.NewEmulator()
	e.Memory = 1 << 20
	d := gpu.NewDevice(e)
	var out bytes.Buffer
	ran := false
	err := gpu.Run(context.Background(), d, &out, 3, []gpu.Study{{Name: "mine", Run: func(*gpu.Bench) error { ran = true; return nil }}})
	if err != nil || !ran || !strings.Contains(out.String(), "GB/s read and written") {
		t.Errorf("error %v, ran %v:\n%s", err, ran, out.String())
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// The studies of splines run on the emulator with small pictures.
func TestSplineStudies(t *testing.T) {
	d := gpu.NewDevice(kernels.NewEmulator())
	var out bytes.Buffer
	err := gpu.Run(context.Background(), d, &out, 1, []gpu.Study{{Name: "small", Run: func(b *gpu.Bench) error {
		for _, study := range []func(b *gpu.Bench, width, height int) error{gpu.SplineTable[float32], gpu.SplineTable[float64]} {
			if err := study(b, 20, 12); err != nil {
				return err
			}
		}
		return nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, row := range []string{"float32 20x12", "float64 20x12", "order 11"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no %q in\n%s", row, out.String())
		}
	}
}

func TestCopyVectors(t *testing.T) {
	onDevices(t, func(t *testing.T, d *gpu.Device) {
		k, err := d.Kernel("copy", "copy_vectors")
		must(t, err)
		s, err := d.NewStream()
		must(t, err)
		defer s.Close()
		for _, n := range []int{1, 31, 128, 1000, 4099} {
			src, got := make([][4]uint32, n), make([][4]uint32, n+1)
			for i := range src {
				src[i] = [4]uint32{uint32(i), uint32(n), ^uint32(i), 7}
			}
			var from, to cuda.Buffer[[4]uint32]
			defer from.Free()
			defer to.Free()
			must(t, from.Resize(d.Device, n))
			must(t, to.Resize(d.Device, n+1))
			must(t, to.Clear(s))
			must(t, from.Upload(s, src))
			block := cuda.Dim{X: 64, Y: 1, Z: 1}
			must(t, s.Launch(k, cuda.Cover((n+3)/4, 1, block), block, 0, from.Arg(), to.Arg(), cuda.Long(int64(n))))
			must(t, to.Download(s, got))
			must(t, s.Synchronize())
			if !slices.Equal(got[:n], src) || got[n] != [4]uint32{} {
				t.Errorf("%d vectors: the copy differs", n)
			}
		}
	})
}
