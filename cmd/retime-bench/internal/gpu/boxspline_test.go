//go:build unix

package gpu_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"retime/cmd/retime-bench/internal/gpu"
	"retime/cmd/retime-bench/internal/gpu/kernels"
	"retime/cuda"
	"retime/warp/boxspline"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/lattice"
)

// needBoxSplines skips a test if the box splines' kernels have not been generated.
func needBoxSplines(t *testing.T) {
	if _, err := kernels.Sources.Open("boxspline.cu"); err != nil {
		t.Skip("no kernels of box splines; make test and make generate write them")
	}
}

// boxSamples returns noise on the element's lattice.
func boxSamples(t *testing.T, e *boxspline.Element) *lattice.Samples {
	rng := rand.New(rand.NewPCG(31, 32))
	s, err := lattice.NewSamples(e.Lattice, lattice.WholeSymmetric, lattice.Point{6, 5, 4})
	must(t, err)
	s.Each(func(p lattice.Point) { s.Set(p, float64(float32(2*rng.Float64()-1))) })
	return s
}

// boxPositions returns positions in the box, in 1/1024, some of them on knot planes.
func boxPositions(s *lattice.Samples, n int) (p [3][]float64) {
	rng := rand.New(rand.NewPCG(33, 34))
	for k := range p {
		p[k] = make([]float64, n)
		if k >= s.Lattice.Dim {
			continue
		}
		limit := s.Size[k]*s.Lattice.Step - 1
		for i := range p[k] {
			p[k][i] = float64(rng.IntN(1024*limit+1)) / 1024
			if i%8 == 0 {
				p[k][i] = math.Round(2*p[k][i]) / 2
			}
		}
	}
	return p
}

func onCPU[T fast.Float](f fast.Function, g *fast.Grid[T], dst []T, p [3][]float64) {
	switch g := any(g).(type) {
	case *fast.Grid[float64]:
		if f.Plane != nil {
			f.Plane(g, any(dst).([]float64), p[0], p[1])
		} else {
			f.Volume(g, any(dst).([]float64), p[0], p[1], p[2])
		}
	case *fast.Grid[float32]:
		if f.Plane != nil {
			f.Plane32(g, any(dst).([]float32), p[0], p[1])
		} else {
			f.Volume32(g, any(dst).([]float32), p[0], p[1], p[2])
		}
	}
}

// onGPU returns the values of a variant on the device.
func onGPU[T fast.Float](t *testing.T, d *gpu.Device, s *cuda.Stream, f fast.Function, dim int, g *fast.Grid[T], variant string, p [3][]float64) []T {
	t.Helper()
	var arrays []T
	_, shape, base := g.Array(0)
	for i := range g.Arrays() {
		a, _, _ := g.Array(i)
		arrays = append(arrays, a...)
	}
	at := gpu.Positions{Width: len(p[0]), Height: 1, Depth: 1}
	var out cuda.Buffer[T]
	defer out.Free()
	for k := range p {
		defer at.Listed[k].Free()
		must(t, at.Listed[k].Resize(d.Device, len(p[k])))
		must(t, at.Listed[k].Upload(s, p[k]))
	}
	must(t, out.Resize(d.Device, len(p[0])))
	got := make([]T, len(p[0]))
	if variant == "linear" {
		var list [][]float32
		for i := range g.Arrays() {
			a, _, _ := g.Array(i)
			list = append(list, any(a).([]float32))
		}
		b, err := gpu.NewBoxTextures(d, f.Element, dim, list, shape, base)
		must(t, err)
		defer b.Close()
		must(t, b.Evaluate(s, any(out).(cuda.Buffer[float32]), at))
	} else {
		b, err := gpu.NewBoxSpline[T](d, f.Element, dim, g.Arrays(), shape, base)
		must(t, err)
		defer b.Free()
		must(t, b.Upload(s, arrays))
		must(t, b.Evaluate(s, out, variant, at))
	}
	must(t, out.Download(s, got))
	must(t, s.Synchronize())
	return got
}

// The kernels give the same bits as package fast in float32 and float64, with and without branches.
// Linear look-ups come within 5e-6 of the largest coefficient if software interpolates, because
// quotients round, and within 1/64 with the textures' 8-bit fractions.
func TestBoxSplines(t *testing.T) {
	needBoxSplines(t)
	onDevices(t, func(t *testing.T, d *gpu.Device) {
		s, err := d.NewStream()
		must(t, err)
		defer s.Close()
		for _, f := range fast.Functions {
			e, err := boxspline.Find(f.Element)
			must(t, err)
			samples := boxSamples(t, e)
			p := boxPositions(samples, 400)
			g, h := fast.NewGrid[float64](samples, f.Along), fast.NewGrid[float32](samples, f.Along)
			want, want32 := make([]float64, len(p[0])), make([]float32, len(p[0]))
			onCPU(f, g, want, p)
			onCPU(f, h, want32, p)
			for i, v := range onGPU(t, d, s, f, e.Dim(), g, "f64", p) {
				if v != want[i] {
					t.Fatalf("%s, float64: %v at %v, %v, %v, want %v", f.Element, v, p[0][i], p[1][i], p[2][i], want[i])
				}
			}
			variants := []string{"f32"}
			if gpu.HasBranching(f.Element) {
				variants = append(variants, "branching")
			}
			for _, variant := range variants {
				for i, v := range onGPU(t, d, s, f, e.Dim(), h, variant, p) {
					if v != want32[i] {
						t.Fatalf("%s, %s: %v at %v, %v, %v, want %v", f.Element, variant, v, p[0][i], p[1][i], p[2][i], want32[i])
					}
				}
			}
			for variant, tolerance := range map[string]float64{"soft": 5e-6, "linear": 1. / 64} {
				worst := 0.0
				for i, v := range onGPU(t, d, s, f, e.Dim(), h, variant, p) {
					if !(math.Abs(float64(v)-want[i]) <= worst) {
						worst = math.Abs(float64(v) - want[i])
					}
				}
				if !(worst <= tolerance) {
					t.Errorf("%s, %s: off by %v", f.Element, variant, worst)
				}
				t.Logf("%s, %s: off by %.1e", f.Element, variant, worst)
			}
		}
	})
}

// The study runs on the emulator with small arrays, and stays inside them.
func TestBoxSplineStudy(t *testing.T) {
	needBoxSplines(t)
	e := kernels.NewEmulator()
	e.Memory = 16 << 20
	d := gpu.NewDevice(e)
	var out bytes.Buffer
	err := gpu.Run(context.Background(), d, &out, 1, []gpu.Study{{Name: "small", Run: func(b *gpu.Bench) error { return gpu.BoxSplineTable(b, 12, 9, 6) }}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for _, row := range []string{"bicubic, coherent, exact", "zp, random, branching", "tricubic, random, linear"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no %q in\n%s", row, out.String())
		}
	}
}
