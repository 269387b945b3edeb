//go:build unix

package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/frame"
	"retime/internal/devicetest"
	"retime/warp/bspline"
)

var boundaries = []bspline.Boundary{bspline.HalfSymmetric, bspline.WholeSymmetric, bspline.Periodic, bspline.Constant}

// prefilterShapes has lines of one sample, lines shorter than any warm-up, and lines of about one
// or two subregions, so that the last subregion has one sample or a few.
var prefilterShapes = []struct{ width, height int }{
	{1, 1}, {2, 5}, {7, 3}, {33, 257}, {257, 33}, {256, 256}, {270, 260}, {513, 40}, {31, 600},
}

func TestPrefilter(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for _, b := range boundaries {
			for order := bspline.CatmullRom; order <= bspline.MaxOrder; order++ {
				subtest(t, d, fmt.Sprintf("%v/%v", b, order), func(t *testing.T) {
					for i, s := range prefilterShapes {
						// Each combination of order and boundary is tested with a third of the
						// shapes, in one type.
						if (i+int(order)+int(b))%3 != 0 {
							continue
						}
						if (i+int(order))%2 == 0 {
							prefilter[float32](t, d, order, b, 1e-6, s.width, s.height)
						} else {
							prefilter[float64](t, d, order, b, 1e-16, s.width, s.height)
						}
					}
				})
			}
		}
		subtest(t, d, "finest", func(t *testing.T) {
			for _, b := range boundaries {
				prefilter[float64](t, d, bspline.MaxOrder, b, 1e-20, 300, 20)
				prefilter[float32](t, d, bspline.MaxOrder, b, 1e-20, 20, 300)
				// These lines are too long for shared memory.
				for _, order := range []bspline.Order{4, 7} {
					prefilter[float32](t, d, order, b, 1e-6, 8000, 3)
					prefilter[float64](t, d, order, b, 1e-6, 3, 8000)
				}
			}
		})
	})
}

// prefilter compares coefficients with the CPU's. Exact.
func prefilter[T bspline.Float](t *testing.T, d *cuda.Device, order bspline.Order, b bspline.Boundary, precision float64, width, height int) {
	t.Helper()
	src := devicetest.Noise[T](rand.New(rand.NewPCG(11, uint64(width*height))), width, height, width+width%3)
	p, err := cuda.NewPrefilter[T](d, order, b, precision)
	must(t, err)
	defer p.Free()
	of, err := bspline.NewPrefilter[T](order, b, precision)
	must(t, err)
	want := bspline.Extend(frame.Workers{}, src, of.Margin())
	must(t, of.Apply(frame.Workers{}, want))

	s, err := d.NewStream()
	must(t, err)
	defer s.Close()
	// One image is aligned, and the other is not.
	var from, to cuda.Image[T]
	defer from.Free()
	defer to.Free()
	must(t, from.Resize(d, width, height))
	must(t, from.Upload(s, src))
	must(t, to.Resize(d, want.Width+2, want.Height+2))
	must(t, to.Fill(s, 0))
	must(t, p.Apply(s, to.Part(1, 1, want.Width, want.Height), from))
	whole := frame.NewImage[T](want.Width+2, want.Height+2)
	must(t, to.Download(s, whole))
	must(t, s.Synchronize())
	sameInside(t, fmt.Sprintf("order %v, %v, %T", order, b, src.Pix[0]), whole, want, 1, 0)

	if p.Margin() > 0 {
		return
	}
	must(t, p.Apply(s, from, from))
	got := frame.NewImage[T](width, height)
	must(t, from.Download(s, got))
	must(t, s.Synchronize())
	sameInside(t, fmt.Sprintf("order %v, %v, %T, in place", order, b, src.Pix[0]), got, want, 0, 0)
}

func TestFromSamples(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for _, order := range []bspline.Order{0, 1, 3, 5} {
			for _, s := range prefilterShapes {
				fromSamples[uint8](t, d, order, s.width, s.height)
				fromSamples[uint16](t, d, order, s.width, s.height)
			}
		}
	})
}

// fromSamples compares coefficients of integers with the CPU's. Exact.
func fromSamples[S frame.Sample](t *testing.T, d *cuda.Device, order bspline.Order, width, height int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(12, uint64(width*height)))
	src := frame.NewImage[S](width, height)
	want := frame.NewImage[float32](width, height)
	for i := range src.Pix {
		src.Pix[i] = S(rng.Uint32())
		want.Pix[i] = float32(src.Pix[i])
	}
	p, err := cuda.NewPrefilter[float32](d, order, bspline.WholeSymmetric, 1e-6)
	must(t, err)
	defer p.Free()
	of, err := bspline.NewPrefilter[float32](order, bspline.WholeSymmetric, 1e-6)
	must(t, err)
	must(t, of.Apply(frame.Workers{}, want))
	s, err := d.NewStream()
	must(t, err)
	defer s.Close()
	var from cuda.Image[S]
	var to cuda.Image[float32]
	defer from.Free()
	defer to.Free()
	must(t, from.Resize(d, width, height))
	must(t, from.Upload(s, src))
	must(t, to.Resize(d, width, height))
	must(t, cuda.FromSamples(s, p, to, from))
	got := frame.NewImage[float32](width, height)
	must(t, to.Download(s, got))
	must(t, s.Synchronize())
	sameInside(t, fmt.Sprintf("order %v of %T", order, src.Pix[0]), got, want, 0, 0)
}

// sameInside compares the bits of got with want's. want has, on each side, a margin with the value
// outside. All NaNs are equal.
func sameInside[T bspline.Float](t *testing.T, what string, got, want frame.Image[T], margin int, outside T) {
	t.Helper()
	for y := range got.Height {
		for x, v := range got.Row(y) {
			w := outside
			if x, y := x-margin, y-margin; x >= 0 && y >= 0 && x < want.Width && y < want.Height {
				w = want.Row(y)[x]
			}
			if math.Float64bits(float64(v)) != math.Float64bits(float64(w)) && (v == v || w == w) {
				t.Fatalf("%s, %dx%d: %v at (%d, %d), want %v", what, want.Width, want.Height, v, x-margin, y-margin, w)
			}
		}
	}
}
