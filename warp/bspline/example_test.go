package bspline_test

import (
	"fmt"
	"log"
	"math"

	"retime/frame"
	"retime/warp/bspline"
)

// A picture whose rows are parabolas is enlarged by two around its middle. A cubic spline
// reproduces a parabola exactly, so every second value is on it, between two samples.
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
		log.Fatal(err)
	}
	zoom, err := bspline.Zoom(2, 16, 16)
	if err != nil {
		log.Fatal(err)
	}
	out := frame.NewImage[float64](33, 33)
	if err := s.Warp(workers, out, zoom); err != nil {
		log.Fatal(err)
	}
	for _, v := range out.Row(16)[12:21] {
		fmt.Printf("%.3f ", v)
	}
	fmt.Println()
	// Output: 5.000 3.250 2.000 1.250 1.000 1.250 2.000 3.250 5.000
}

// A program with its own sampler, for example on a GPU, takes the coefficients, which replace the
// samples, and weighs them itself. Here it reads the picture 10x + y at x = 15.25, y = 16.5.
func ExamplePrefilter() {
	img := frame.NewImage[float32](32, 32)
	for y := range img.Height {
		for x := range img.Row(y) {
			img.Row(y)[x] = float32(10*x + y)
		}
	}
	p, err := bspline.NewPrefilter[float32](bspline.Cubic, bspline.WholeSymmetric, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Apply(frame.Workers{}, img); err != nil {
		log.Fatal(err)
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
