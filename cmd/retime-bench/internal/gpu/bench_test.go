package gpu_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"retime/cmd/retime-bench/internal/gpu"
	"retime/cmd/retime-bench/internal/gpu/kernels"
)

// The run works on the emulator, too; the times there mean nothing.
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
		for _, study := range []func(b *gpu.Bench, width, height int) error{gpu.SplineTable[float32], gpu.SplineTable[float64], gpu.TextureTable} {
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
	for _, row := range []string{"float32 20x12", "float64 20x12", "order 11", "16 look-ups"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no %q in\n%s", row, out.String())
		}
	}
}
