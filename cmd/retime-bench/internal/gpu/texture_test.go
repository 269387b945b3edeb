//go:build unix

package gpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"retime/cmd/retime-bench/internal/gpu"
	"retime/cuda"
	"retime/frame"
	"retime/warp/bspline"
)

// TestTexture compares look-ups far beyond the edges with splines under the same
// boundary: within 1e-5 of samples from -1 to 1, because coordinates are float32, and
// within 1/64 if fractions have 8 bits.
func TestTexture(t *testing.T) {
	const width, height = 37, 23
	onDevices(t, func(t *testing.T, d *gpu.Device) {
		s, err := d.NewStream()
		must(t, err)
		defer s.Close()
		sampler, err := gpu.NewTextureSampler(d)
		must(t, err)
		defer sampler.Close()
		var out cuda.Image[float32]
		defer out.Free()
		must(t, out.Resize(d.Device, 3*width, 3*height))
		affine, err := bspline.Affine(1.01, 0.07, 35.3, -0.06, 0.97, 20.9)
		must(t, err)
		got, want := frame.NewImage[float32](3*width, 3*height), frame.NewImage[float64](3*width, 3*height)
		rng := rand.New(rand.NewPCG(14, 15))
		samples := noise[float64](rng, width, height, width)

		for _, address := range []struct {
			mode     gpu.AddressMode
			boundary bspline.Boundary
		}{
			{gpu.AddressClamp, bspline.Constant}, {gpu.AddressBorder, bspline.Constant},
			{gpu.AddressWrap, bspline.Periodic}, {gpu.AddressMirror, bspline.HalfSymmetric},
		} {
			for _, by := range []struct {
				look      gpu.LookUp
				linear    bool
				order     bspline.Order
				tolerance float64
			}{
				{gpu.LookUpOnce, false, bspline.Nearest, 1e-5},
				{gpu.LookUpOnce, true, bspline.Linear, 1. / 64},
				{gpu.LookUpPairs, true, bspline.Cubic, 1. / 64},
				{gpu.LookUpPairsByTable, true, bspline.Cubic, 1. / 64},
				{gpu.LookUpCubic, false, bspline.Cubic, 1e-5},
				{gpu.LookUpCatmullRom, false, bspline.CatmullRom, 1e-5},
			} {
				what := fmt.Sprintf("%v, look-up %d, order %v", address.mode, by.look, by.order)
				// The texture holds the coefficients of a picture, in float64, with a margin of
				// zeros if it continues with zeros.
				coeff, margin := samples, 0
				if by.order == bspline.Cubic {
					coeff = frame.Image[float64]{Width: width, Height: height, Stride: width, Pix: append([]float64(nil), samples.Pix...)}
					for i := range coeff.Pix {
						coeff.Pix[i] /= 36
					}
				}
				host := frame.NewImage[float32](width, height)
				for i, v := range coeff.Pix {
					host.Pix[i] = float32(v)
				}
				if address.mode == gpu.AddressBorder {
					margin = 3
					framed := frame.NewImage[float64](width+2*margin, height+2*margin)
					for y := range height {
						copy(framed.Row(y + margin)[margin:], coeff.Row(y))
					}
					coeff = framed
				}
				of, err := bspline.FromCoefficients(coeff, by.order, address.boundary, margin)
				must(t, err)
				for y := range want.Height {
					for x := range want.Row(y) {
						px, py := position(affine, x, y)
						want.Row(y)[x] = of.At(px, py)
					}
				}
				texture, err := gpu.NewTexture(d, host, address.mode, by.linear)
				must(t, err)
				must(t, sampler.Warp(s, out, texture, by.look, affine))
				must(t, out.Download(s, got))
				must(t, s.Synchronize())
				must(t, texture.Close())
				for y := range got.Height {
					for x, v := range got.Row(y) {
						if w := want.Row(y)[x]; !(math.Abs(float64(v)-w) <= by.tolerance) {
							t.Fatalf("%s: %v at (%d, %d), want %v", what, v, x, y, w)
						}
					}
				}
			}
		}
	})
}

// position returns the position in the input for the output at (x, y).
func position(tr bspline.Projective, x, y int) (px, py float64) {
	var xs, ys [1]float64
	tr.Positions(x, y, xs[:], ys[:])
	return xs[0], ys[0]
}

func TestTextureRejects(t *testing.T) {
	onDevices(t, func(t *testing.T, d *gpu.Device) {
		s, err := d.NewStream()
		must(t, err)
		defer s.Close()
		sampler, err := gpu.NewTextureSampler(d)
		must(t, err)
		defer sampler.Close()
		if _, err := gpu.NewTexture(d, frame.Image[float32]{}, gpu.AddressClamp, true); err == nil {
			t.Error("an empty texture: no error")
		}
		img := frame.NewImage[float32](4, 4)
		if _, err := gpu.NewTexture(d, img, 9, true); err == nil {
			t.Error("address mode 9: no error")
		}
		texture, err := gpu.NewTexture(d, img, gpu.AddressClamp, true)
		must(t, err)
		defer texture.Close()
		var out cuda.Image[float32]
		defer out.Free()
		must(t, out.Resize(d.Device, 4, 4))
		homography, err := bspline.Homography([9]float64{1, 0, 0, 0, 1, 0, 0.1, 0, 1})
		must(t, err)
		for _, err := range []error{
			sampler.Warp(s, out, texture, 9, bspline.Shift(1, 1)),
			sampler.Warp(s, out, texture, gpu.LookUpCubic, bspline.Shift(1, 1)),
			sampler.Warp(s, out, texture, gpu.LookUpOnce, homography),
		} {
			if err == nil {
				t.Error("no error")
			}
		}
		must(t, s.Synchronize())
	})
}
