package bspline_test

import (
	"fmt"
	"math"

	"retime/frame"
	"retime/warp/bspline"
)

// The example enlarges a picture of a parabola by two around its middle.
func Example() {
	img := frame.NewImage[float64](33, 33)
	for y := range img.Height {
		for x := range img.Row(y) {
			img.Row(y)[x] = float64(1 + (x-16)*(x-16))
		}
	}
	workers := frame.Workers{}
	s, err := bspline.New(workers, img, bspline.Cubic, bspline.WholeSymmetric, 1e-6)
	if err != nil {
		fmt.Println(err)
		return
	}
	zoom, err := bspline.Zoom(2, 16, 16)
	if err != nil {
		fmt.Println(err)
		return
	}
	out := frame.NewImage[float64](33, 33)
	if err := s.Warp(workers, out, zoom); err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range out.Row(16)[12:21] {
		fmt.Printf("%.3f ", v)
	}
	fmt.Println()
	// Output: 5.000 3.250 2.000 1.250 1.000 1.250 2.000 3.250 5.000
}

// The prefilter works in place. A caller with a sampler of its own weights the
// coefficients itself.
func ExamplePrefilter() {
	img := frame.NewImage[float32](32, 32)
	for y := range img.Height {
		for x := range img.Row(y) {
			img.Row(y)[x] = float32(10*x + y)
		}
	}
	p, err := bspline.NewPrefilter[float32](bspline.Cubic, bspline.WholeSymmetric, 1e-6)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := p.Apply(frame.Workers{}, img); err != nil {
		fmt.Println(err)
		return
	}
	var wx, wy [4]float32
	x0, tx := bspline.Cubic.Locate(15.25)
	y0, ty := bspline.Cubic.Locate(16.5)
	bspline.Weights(bspline.Cubic, float32(tx), wx[:])
	bspline.Weights(bspline.Cubic, float32(ty), wy[:])
	var value float32
	for l, v := range wy {
		for k, u := range wx {
			value += v * u * img.Row(y0 + l)[x0+k]
		}
	}
	fmt.Printf("%.3f\n", value*float32(math.Pow(bspline.Gain(bspline.Cubic), 2)))
	// Output: 169.000
}
