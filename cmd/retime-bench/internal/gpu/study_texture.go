package gpu

import (
	"fmt"

	"retime/cmd/retime-bench/internal/splines"
	"retime/cuda"
	"retime/frame"
	"retime/warp/bspline"
)

// textures prints table 1 of Ruijters, ter Haar Romeny and Suetens, "Accuracy of GPU-based B-spline
// Evaluation" (2008): the errors of cubic interpolation against float64 on the CPU, for samples
// from 0 to 1 and 256 by 256 values. The paper reports 7.68e-4 with a table of weights and 5.83e-4
// without. The times are for more values.
func textures(b *Bench) error { return textureTable(b, splineWidth, splineHeight) }

// textureTable times the interpolation of width by height values.
func textureTable(b *Bench, width, height int) error {
	const size = 256
	img := splines.Picture(size, size)
	for i := range img.Pix {
		img.Pix[i] /= 255
	}
	// The output at (x, y) is the value at (40 + 0.59 x + 0.07 y, 30 - 0.07 x + 0.59
	// y).
	back, err := bspline.Affine(0.59, 0.07, 40, -0.07, 0.59, 30)
	if err != nil {
		return err
	}
	m := back.Inverse()
	tr, err := bspline.Affine(m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2])
	if err != nil {
		return err
	}
	of, err := bspline.New(frame.Workers{}, img, bspline.Cubic, bspline.WholeSymmetric, 1e-16)
	if err != nil {
		return err
	}
	want, got := frame.NewImage[float64](size, size), frame.NewImage[float32](size, size)
	if err := of.Warp(frame.Workers{}, want, tr); err != nil {
		return err
	}
	exact, _ := of.Coefficients()
	coeff := frame.NewImage[float32](size, size)
	for i, v := range exact.Pix {
		coeff.Pix[i] = float32(v)
	}

	var small, out, large cuda.Image[float32]
	defer small.Free()
	defer out.Free()
	defer large.Free()
	if err := small.Resize(b.Device.Device, size, size); err != nil {
		return err
	}
	if err := small.Upload(b.Stream, coeff); err != nil {
		return err
	}
	if err := out.Resize(b.Device.Device, size, size); err != nil {
		return err
	}
	if err := large.Resize(b.Device.Device, width, height); err != nil {
		return err
	}
	linear, err := NewTexture(b.Device, coeff, AddressClamp, true)
	if err != nil {
		return err
	}
	defer linear.Close()
	nearest, err := NewTexture(b.Device, coeff, AddressClamp, false)
	if err != nil {
		return err
	}
	defer nearest.Close()
	sampler, err := NewTextureSampler(b.Device)
	if err != nil {
		return err
	}
	defer sampler.Close()
	spline, err := NewSpline(b.Device.Device, small, bspline.Cubic, bspline.WholeSymmetric, 0)
	if err != nil {
		return err
	}

	zoom, err := bspline.Zoom(float64(width)/size, 0, 0)
	if err != nil {
		return err
	}
	turned := zoom.Then(bspline.Rotation(1e-3, 0, 0))
	t := b.NewTable(fmt.Sprintf("cubic interpolation: time for %dx%d values, squared errors of %dx%d", width, height, size, size), 34, "error²")
	for _, m := range []struct {
		name string
		warp func(dst cuda.Image[float32], tr bspline.Projective) error
	}{
		{"4 linear look-ups, weight table", func(dst cuda.Image[float32], tr bspline.Projective) error {
			return sampler.Warp(b.Stream, dst, linear, LookUpPairsByTable, tr)
		}},
		{"4 linear look-ups, on the fly", func(dst cuda.Image[float32], tr bspline.Projective) error {
			return sampler.Warp(b.Stream, dst, linear, LookUpPairs, tr)
		}},
		{"16 look-ups, on the fly", func(dst cuda.Image[float32], tr bspline.Projective) error {
			return sampler.Warp(b.Stream, dst, nearest, LookUpCubic, tr)
		}},
		{"exact", func(dst cuda.Image[float32], tr bspline.Projective) error { return spline.Warp(b.Stream, dst, tr) }},
	} {
		if err := m.warp(out, tr); err != nil {
			return err
		}
		if err := out.Download(b.Stream, got); err != nil {
			return err
		}
		if err := b.Stream.Synchronize(); err != nil {
			return err
		}
		var sum float64
		for i, v := range got.Pix {
			e := float64(v) - want.Pix[i]
			sum += float64(e * e)
		}
		seconds, err := b.Time(func() error { return m.warp(large, turned) })
		if err != nil {
			return err
		}
		t.Row(m.name, seconds, int64(4*width*height), fmt.Sprintf("%.2e", sum))
	}
	return nil
}
