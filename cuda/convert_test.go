//go:build unix

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/frame"
)

// shapes are sizes with strides on the host: one sample, odd sizes, more than one block, rows with
// padding.
var shapes = []struct{ width, height, stride int }{
	{1, 1, 1}, {3, 2, 3}, {4, 4, 4}, {5, 9, 16}, {129, 7, 131}, {131, 17, 160}, {256, 8, 256}, {259, 33, 259},
}

func TestConvert(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for _, s := range shapes {
			for _, depth := range []int{8, 10, 16} {
				subtest(t, d, fmt.Sprintf("%dx%d/%d", s.width, s.height, depth), func(t *testing.T) {
					// The smaller margin aligns no row of floats, the larger one all rows.
					for _, margin := range []int{3, 4} {
						if depth == 8 {
							convert[uint8](t, d, s.width, s.height, s.stride, depth, margin)
						} else {
							convert[uint16](t, d, s.width, s.height, s.stride, depth, margin)
						}
					}
				})
			}
		}
	})
}

func convert[T frame.Sample](t *testing.T, d *cuda.Device, width, height, stride, depth, margin int) {
	rng := rand.New(rand.NewPCG(1, uint64(width*height+depth)))
	limit := 1<<depth - 1
	src := frame.Image[T]{Width: width, Height: height, Stride: stride, Pix: make([]T, stride*height)}
	for i := range src.Pix {
		src.Pix[i] = T(rng.IntN(limit + 1))
	}
	s, err := d.NewStream()
	must(t, err)
	defer s.Close()

	// The floats have a margin.
	var samples cuda.Image[T]
	var floats cuda.Image[float32]
	defer samples.Free()
	defer floats.Free()
	must(t, samples.Resize(d, width, height))
	must(t, floats.Resize(d, width+2*margin, height+2*margin))
	must(t, samples.Upload(s, src))
	inner := floats.Part(margin, margin, width, height)
	must(t, cuda.ToFloat(s, inner, samples))
	got := frame.NewImage[float32](width, height)
	must(t, inner.Download(s, got))
	must(t, s.Synchronize())
	for y := range height {
		for x, v := range got.Row(y) {
			if v != float32(src.Row(y)[x]) {
				t.Fatalf("float at (%d, %d): %v of sample %d", x, y, v, src.Row(y)[x])
			}
		}
	}
}
