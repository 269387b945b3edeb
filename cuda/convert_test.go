package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/cuda"
	"retime/frame"
)

// shapes are sizes with strides on the host: one sample, odd sizes, more than one
// block, rows with padding.
var shapes = []struct{ width, height, stride int }{
	{1, 1, 1}, {3, 2, 3}, {4, 4, 4}, {5, 9, 16}, {129, 7, 131}, {131, 17, 160}, {256, 8, 256}, {259, 33, 259},
}

func TestConvert(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for _, s := range shapes {
			for _, depth := range []int{8, 10, 16} {
				subtest(t, d, fmt.Sprintf("%dx%d/%d", s.width, s.height, depth), func(t *testing.T) {
					// The smaller margin aligns no row of floats, the larger one all
					// rows.
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
	c, err := cuda.NewConverter(d)
	must(t, err)
	s, err := d.NewStream()
	must(t, err)
	defer s.Close()

	// The pictures have a margin, except for the first.
	var samples, back cuda.Image[T]
	var floats cuda.Image[float32]
	defer samples.Free()
	defer back.Free()
	defer floats.Free()
	must(t, samples.Resize(d, width, height))
	must(t, back.Resize(d, width+2*margin, height+2*margin))
	must(t, floats.Resize(d, width+2*margin, height+2*margin))
	must(t, samples.Upload(s, src))
	inner := floats.Part(margin, margin, width, height)
	must(t, cuda.ToFloat(s, c, inner, samples))
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

	for y := range height {
		for x, v := range got.Row(y) {
			got.Row(y)[x] = disturbed(rng, v, limit)
		}
	}
	must(t, inner.Upload(s, got))
	const canary = 0x5a
	must(t, back.Fill(s, canary))
	must(t, cuda.ToSamples(s, c, back.Part(margin, margin, width, height), inner, limit))
	whole := frame.NewImage[T](width+2*margin, height+2*margin)
	must(t, back.Download(s, whole))
	must(t, s.Synchronize())
	word := uint16(canary<<8 | canary)
	outside := T(word)
	for y := range whole.Height {
		for x, v := range whole.Row(y) {
			want := outside
			if x, y := x-margin, y-margin; x >= 0 && y >= 0 && x < width && y < height {
				want = nearest[T](got.Row(y)[x], limit)
			}
			if v != want {
				t.Fatalf("sample at (%d, %d) with the margin: %d, want %d", x, y, v, want)
			}
		}
	}
}

// disturbed returns v with an offset, which now and then leads far out of range or onto
// a tie.
func disturbed(rng *rand.Rand, v float32, limit int) float32 {
	switch rng.IntN(8) {
	case 0:
		return -v - rng.Float32()
	case 1:
		return v + float32(limit)
	case 2:
		return v + 0.5
	case 3:
		return math.Nextafter32(0.5, 0)
	}
	return v + rng.Float32() - 0.5
}

// nearest returns the sample nearest to v, rounded as warp rounds.
func nearest[T frame.Sample](v float32, limit int) T {
	v += 0.5
	return T(min(max(math.Floor(float64(v)), 0), float64(limit)))
}

func TestCopyVectors(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
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
			must(t, from.Resize(d, n))
			must(t, to.Resize(d, n+1))
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
