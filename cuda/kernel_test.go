//go:build unix

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/frame"
	"retime/warp"
	"retime/warp/bspline"
)

// Frames sampled with the element of Zwart and Powell have the same bits on both backends, in every
// format and at every level. Exact.
func TestZwartPowell(t *testing.T) {
	const seed = 61
	sizes := [][2]int{{53, 37}, {1, 1}, {2, 3}, {70, 41}}
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		n := 0
		for _, format := range formats {
			for level := range warp.MaxLevel + 1 {
				n++
				p := warp.Params{Mode: warp.Project, Kernel: warp.ZwartPowell, Acceleration: n%2 == 0}
				t.Run(fmt.Sprintf("%s/level %d", format.Name, level), func(t *testing.T) {
					cpu, gpu := backends(t, d, p)
					defer gpu.Close()
					size, rng := sizes[n%len(sizes)], rand.New(rand.NewPCG(seed, uint64(n)))
					in := interval(rng, format, size[0], size[1], level, motions[n%len(motions)], n%2 == 0)
					compare(t, cpu, gpu, in, phases[n%4:][:1])
				})
			}
		}
	})
}

// Frames of floating-point light have the same bits on both backends, at every level, also after frames of samples. Exact.
func TestLight(t *testing.T) {
	const seed = 62
	sizes := [][2]int{{53, 37}, {1, 1}, {2, 3}, {70, 41}}
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		n := 0
		for _, kernel := range []warp.Kernel{warp.BSpline, warp.ZwartPowell} {
			for _, order := range []bspline.Order{3, 1, 0} {
				for level := range warp.MaxLevel + 1 {
					cpu, gpu := backends(t, d, warp.Params{Mode: warp.Project, Order: order, Kernel: kernel, Acceleration: true})
					for _, format := range []frame.Format{{Name: "gray16", Depth: 16, Planes: 1}, {Name: "gbrap16", Depth: 16, Planes: 4, RGB: true}} {
						n++
						size, rng := sizes[n%len(sizes)], rand.New(rand.NewPCG(seed, uint64(n)))
						in := interval(rng, format, size[0], size[1], level, motions[n%len(motions)], n%2 == 0)
						for _, floats := range []bool{false, true} {
							given := in
							given.A, given.B = floating(in.A, floats), floating(in.B, floats)
							compare(t, cpu, gpu, given, phases[n%4:][:1])
						}
					}
					gpu.Close()
				}
			}
		}
	})
}

// floating returns a frame over f's samples that are of floating-point light or not.
func floating(f *frame.Frame, floats bool) *frame.Frame {
	g := frame.Wrap(f.Format, f.Width, f.Height, f.Planes, nil)
	g.Floats = floats
	return g
}
