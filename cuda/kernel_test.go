//go:build unix

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/warp"
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
