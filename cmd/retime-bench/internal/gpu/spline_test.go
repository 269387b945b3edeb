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
	"retime/internal/devicetest"
	"retime/warp/bspline"
)

// transforms returns transforms of a picture of width by height, by name.
func transforms(t *testing.T, width, height int) map[string]bspline.Projective {
	t.Helper()
	cx, cy := float64(width-1)/2, float64(height-1)/2
	zoomIn, err := bspline.Zoom(2.3, cx, cy)
	must(t, err)
	zoomOut, err := bspline.Zoom(-0.37, cx, cy)
	must(t, err)
	affine, err := bspline.Affine(1.1, 0.2, -3, -0.1, 0.9, 2)
	must(t, err)
	homography, err := bspline.Homography([9]float64{1, 0.1, 2, -0.05, 1.1, 1, 0.3 / float64(width), 0.4 / float64(height), 0.9})
	must(t, err)
	return map[string]bspline.Projective{
		"half": bspline.Shift(0.5, 0.5), "shift": bspline.Shift(-2.3, 1.71), "whole": bspline.Shift(3, -2),
		"far": bspline.Shift(1e9+0.25, -3e12), "beyond": bspline.Shift(1e18, 0.5),
		"in": zoomIn, "out": zoomOut, "rotation": bspline.Rotation(0.4, cx, cy),
		"affine": affine, "homography": homography, "nowhere": {},
	}
}

func TestSpline(t *testing.T) {
	onDevices(t, func(t *testing.T, d *gpu.Device) {
		for _, b := range boundaries {
			for order := bspline.CatmullRom; order <= bspline.MaxOrder; order++ {
				subtest(t, d, fmt.Sprintf("%v/%v", b, order), func(t *testing.T) {
					for i, s := range []struct{ width, height int }{{1, 1}, {2, 7}, {5, 3}, {37, 41}, {140, 35}} {
						// Each combination of order and boundary is tested with two or three of the
						// shapes.
						if (i+int(order)+int(b))%2 != 0 {
							continue
						}
						if (i/2+int(order))%2 == 0 {
							spline[float32](t, d, order, b, s.width, s.height)
						} else {
							spline[float64](t, d, order, b, s.width, s.height)
						}
					}
				})
			}
		}
	})
}

// spline compares transformed pictures with the CPU's. Exact.
func spline[T bspline.Float](t *testing.T, d *gpu.Device, order bspline.Order, b bspline.Boundary, width, height int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(13, uint64(width*height)))
	of, err := bspline.New(frame.Workers{}, devicetest.Noise[T](rng, width, height, width), order, b, 1e-6)
	must(t, err)
	host, margin := of.Coefficients()
	s, err := d.NewStream()
	must(t, err)
	defer s.Close()
	var coeff, out cuda.Image[T]
	var u, v cuda.Image[float32]
	defer coeff.Free()
	defer out.Free()
	defer u.Free()
	defer v.Free()
	must(t, coeff.Resize(d.Device, host.Width, host.Height))
	must(t, coeff.Upload(s, host))
	on, err := gpu.NewSpline(d.Device, coeff, order, b, margin)
	must(t, err)

	// The output is larger than the picture, and than a block.
	want := frame.NewImage[T](width+3, height+2)
	got := frame.NewImage[T](want.Width, want.Height)
	must(t, out.Resize(d.Device, want.Width, want.Height))
	outsides := []bspline.Outside[T]{{Value: T(math.NaN())}, {X: true, Value: 7}, {X: true, Y: true, Value: -1}}
	check := func(name string, tr bspline.Transform, warp func(o bspline.Outside[T]) error) {
		t.Helper()
		for i, o := range outsides {
			if i > 0 && name != "half" && name != "affine" && name != "flow" {
				continue
			}
			must(t, of.WarpWithin(frame.Workers{}, want, tr, o))
			must(t, out.Fill(s, 0x5a))
			must(t, warp(o))
			must(t, out.Download(s, got))
			must(t, s.Synchronize())
			sameBits(t, fmt.Sprintf("order %v, %v, %s, outside %v", order, b, name, o), got, want)
		}
	}
	for name, tr := range transforms(t, width, height) {
		check(name, tr, func(o bspline.Outside[T]) error { return on.WarpWithin(s, out, tr, o) })
	}
	field := [2]frame.Image[float32]{frame.NewImage[float32](width, height), frame.NewImage[float32](width, height)}
	for _, f := range field {
		for i := range f.Pix {
			f.Pix[i] = (rng.Float32() - 0.5) * 20
		}
	}
	field[0].Pix[0] = float32(math.NaN())
	f, err := bspline.NewFlow(field[0], field[1])
	must(t, err)
	must(t, u.Resize(d.Device, width, height))
	must(t, v.Resize(d.Device, width, height))
	must(t, u.Upload(s, field[0]))
	must(t, v.Upload(s, field[1]))
	check("flow", f, func(o bspline.Outside[T]) error { return on.WarpFlowWithin(s, out, gpu.Flow{U: u, V: v}, o) })
}
