//go:build !noopencv

package opencv_test

import (
	"fmt"
	"log"
	"math"

	"retime/flow"
	"retime/flow/opencv"
	"retime/frame"
)

// draw returns a texture that has moved to the right by some pixels.
func draw(moved int) frame.Image[uint8] {
	img := frame.NewImage[uint8](160, 96)
	for y := range img.Height {
		row := img.Row(y)
		for x := range row {
			u, v := float64(x-moved), float64(y)
			row[x] = uint8(128 + 50*math.Sin(u/5) + 50*math.Sin(v/4+u/9))
		}
	}
	return img
}

// A DIS estimator finds how far each pixel moves from one picture to the next.
func ExampleDIS() {
	options := opencv.Medium.Options()
	options.FinestScale = 0 // a vector for each pixel, without scaling
	dis, err := opencv.NewDIS(options)
	if err != nil {
		log.Fatal(err)
	}
	defer dis.Close()

	var field flow.Field // Estimate gives it its size
	if err := dis.Estimate(draw(0), draw(3), &field); err != nil {
		log.Fatal(err)
	}
	v := field.Row(48)[80]
	fmt.Printf("%d x %d vectors\n", field.Width, field.Height)
	fmt.Printf("the centre moves by %.0f pixels\n", float64(v.X)/flow.One)
	// Output:
	// 160 x 96 vectors
	// the centre moves by 3 pixels
}

// Every estimator is a flow.Estimator, so that a program may choose one.
func ExampleFarneback() {
	var estimator flow.Estimator[frame.Image[uint8], *flow.Field]
	estimator, err := opencv.NewFarneback(opencv.DefaultFarneback())
	if err != nil {
		log.Fatal(err)
	}
	defer estimator.Close()

	var field flow.Field
	if err := estimator.Estimate(draw(0), draw(3), &field); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the centre moves by %.0f pixels\n", float64(field.Row(48)[80].X)/flow.One)
	// Output: the centre moves by 3 pixels
}
