package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/frame"
	"retime/warp/bspline"
)

// TestTexture compares look-ups far beyond the edges with splines under the same
// boundary: within 1e-5 of samples from -1 to 1, because coordinates are float32,
// and within 1/64 where fractions have 8 bits.
func TestTexture(t *testing.T) {
	const width, height = 37, 23
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		s, err := d.NewStream()
		must(t, err)
		defer s.Close()
		sampler, err := cuda.NewTextureSampler(s)
		must(t, err)
		defer sampler.Close()
		var img, out cuda.Image[float32]
		defer img.Free()
		defer out.Free()
		must(t, img.Resize(d, width, height))
		must(t, out.Resize(d, 3*width, 3*height))
		affine, err := bspline.Affine(1.01, 0.07, 35.3, -0.06, 0.97, 20.9)
		must(t, err)
		got, want := frame.NewImage[float32](3*width, 3*height), frame.NewImage[float64](3*width, 3*height)
		rng := rand.New(rand.NewPCG(14, 15))
		samples := noise[float64](rng, width, height, width)

		for _, address := range []struct {
			mode     cuda.AddressMode
			boundary bspline.Boundary
		}{
			{cuda.AddressClamp, bspline.Constant}, {cuda.AddressBorder, bspline.Constant},
			{cuda.AddressWrap, bspline.Periodic}, {cuda.AddressMirror, bspline.HalfSymmetric},
		} {
			for _, by := range []struct {
				look      cuda.LookUp
				linear    bool
				order     bspline.Order
				tolerance float64
			}{
				{cuda.LookUpOnce, false, bspline.Nearest, 1e-5},
				{cuda.LookUpOnce, true, bspline.Linear, 1. / 64},
				{cuda.LookUpPairs, true, bspline.Cubic, 1. / 64},
				{cuda.LookUpPairsByTable, true, bspline.Cubic, 1. / 64},
				{cuda.LookUpCubic, false, bspline.Cubic, 1e-5},
				{cuda.LookUpCatmullRom, false, bspline.CatmullRom, 1e-5},
			} {
				what := fmt.Sprintf("%v, look-up %d, order %v", address.mode, by.look, by.order)
				// The coefficients of a picture, in float64, with a margin of zeros
				// where the texture has them.
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
				if address.mode == cuda.AddressBorder {
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
				must(t, img.Upload(s, host))
				texture, err := cuda.NewTexture(s, img, address.mode, by.linear)
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

// position is where the output at (x, y) comes from.
func position(tr bspline.Projective, x, y int) (px, py float64) {
	var xs, ys [1]float64
	tr.Positions(x, y, xs[:], ys[:])
	return xs[0], ys[0]
}

func TestTextureRejects(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		s, err := d.NewStream()
		must(t, err)
		defer s.Close()
		sampler, err := cuda.NewTextureSampler(s)
		must(t, err)
		defer sampler.Close()
		var img cuda.Image[float32]
		defer img.Free()
		if _, err := cuda.NewTexture(s, img, cuda.AddressClamp, true); err == nil {
			t.Error("an empty texture: no error")
		}
		must(t, img.Resize(d, 4, 4))
		must(t, img.Fill(s, 0))
		if _, err := cuda.NewTexture(s, img, 9, true); err == nil {
			t.Error("address mode 9: no error")
		}
		texture, err := cuda.NewTexture(s, img, cuda.AddressClamp, true)
		must(t, err)
		defer texture.Close()
		homography, err := bspline.Homography([9]float64{1, 0, 0, 0, 1, 0, 0.1, 0, 1})
		must(t, err)
		for _, err := range []error{
			sampler.Warp(s, img, texture, 9, bspline.Shift(1, 1)),
			sampler.Warp(s, img, texture, cuda.LookUpCubic, bspline.Shift(1, 1)),
			sampler.Warp(s, img, texture, cuda.LookUpOnce, homography),
		} {
			if err == nil {
				t.Error("no error")
			}
		}
		must(t, s.Synchronize())
	})
}
