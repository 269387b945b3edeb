package bench

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
)

func TestTable(t *testing.T) {
	var out bytes.Buffer
	b := &Bench{Out: &out, Copy: 2e12}
	table := b.NewTable("things", 5, "paper")
	table.Row("one", 0.001, 1e9, "5.99")
	table.Row("two", 0.5, 0, "-")
	want := `things
              ms      GB/s of copy        paper
one       1.0000    1000.0    0.50         5.99
two     500.0000         -       -            -
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{7, 1, 2}, 2}} {
		if m := median(c.v); m != c.want {
			t.Errorf("median of %v: %v, want %v", c.v, m, c.want)
		}
	}
}

// The frame runs on the emulator, too, whose times mean nothing.
func TestDeviceIsMeasured(t *testing.T) {
	e := kernels.NewEmulator()
	e.Memory = 1 << 20
	d := cuda.NewDevice(e)
	var out bytes.Buffer
	ran := false
	err := Run(context.Background(), d, &out, 3, []Study{{Name: "mine", Run: func(*Bench) error { ran = true; return nil }}})
	if err != nil || !ran || !strings.Contains(out.String(), "GB/s read and written") {
		t.Errorf("error %v, ran %v:\n%s", err, ran, out.String())
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// The studies of splines run on the emulator with small pictures.
func TestSplineStudies(t *testing.T) {
	d := cuda.NewDevice(kernels.NewEmulator())
	var out bytes.Buffer
	err := Run(context.Background(), d, &out, 1, []Study{{Name: "small", Run: func(b *Bench) error {
		for _, study := range []func(b *Bench, width, height int) error{splineTable[float32], splineTable[float64], textureTable} {
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
