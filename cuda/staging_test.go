//go:build unix

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/cuda"
	"retime/frame"
)

// Values that pass through page-locked memory come back unchanged, in all shapes, even if more are
// in flight than it holds.
func TestStageUploads(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		s, err := d.NewStream()
		must(t, err)
		defer s.Close()
		must(t, s.StageUploads())
		rng := rand.New(rand.NewPCG(1, 1))
		random := func(n int) []uint16 {
			v := make([]uint16, n)
			for i := range v {
				v[i] = uint16(rng.Uint32())
			}
			return v
		}
		for _, n := range []int{0, 1, 3, 32 << 10, 2<<20 - 1, 2 << 20, 2<<20 + 1, 9<<20 + 5} {
			var b cuda.Buffer[uint16]
			must(t, b.Resize(d, n))
			want, got := random(n), make([]uint16, n)
			must(t, b.Upload(s, want))
			must(t, b.Download(s, got))
			must(t, s.Synchronize())
			if !slices.Equal(got, want) {
				t.Errorf("%d values differ", n)
			}
			b.Free()
		}
		for _, c := range [][3]int{{1, 1, 1}, {3, 5, 8}, {64, 7, 64}, {64, 9, 65}, {5000, 1500, 5003}, {1, 300, 1}} {
			t.Run(fmt.Sprint(c), func(t *testing.T) {
				src := frame.Image[uint16]{Width: c[0], Height: c[1], Stride: c[2], Pix: random(c[1] * c[2])}
				got := frame.NewImage[uint16](c[0], c[1])
				must(t, d.Do(func() error {
					var m cuda.Image[uint16]
					defer m.Free()
					must(t, m.Resize(d, c[0], c[1]))
					for range 3 {
						must(t, m.Upload(s, src))
					}
					must(t, m.Download(s, got))
					return s.Synchronize()
				}))
				for y := range c[1] {
					if !slices.Equal(got.Row(y), src.Row(y)) {
						t.Fatalf("row %d differs", y)
					}
				}
			})
		}
	})
}
