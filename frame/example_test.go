package frame_test

import (
	"fmt"

	"retime/frame"
)

// A frame of 10-bit YUV 4:2:0 has a chroma sample for every two by two pixels, and keeps
// each sample in 16 bits.
func ExampleNew() {
	format := frame.Format{Name: "yuv420p10le", Depth: 10, Planes: 3, ChromaX: 1, ChromaY: 1}
	f := frame.New(format, 1919, 1080)
	defer f.Release()

	luma := frame.Samples[uint16](f.Planes[0])
	for y := range luma.Height {
		row := luma.Row(y)
		for x := range row {
			row[x] = uint16(format.Max() * x / (luma.Width - 1))
		}
	}
	for i, p := range f.Planes {
		fmt.Printf("plane %d: %d x %d samples\n", i, p.Width, p.Height)
	}
	fmt.Println("luma from", luma.Row(0)[0], "to", luma.Row(0)[1918])
	// Output:
	// plane 0: 1919 x 1080 samples
	// plane 1: 960 x 540 samples
	// plane 2: 960 x 540 samples
	// luma from 0 to 1023
}

// Wrap makes a frame over samples already in memory, here in padded rows, without copying them.
func ExampleWrap() {
	const width, height, stride = 6, 4, 8
	pixels := make([]byte, stride*height)

	plane := frame.Plane{Width: width, Height: height, Stride: stride, Pix: pixels}
	gray := frame.Format{Name: "gray", Depth: 8, Planes: 1}
	f := frame.Wrap(gray, width, height, []frame.Plane{plane}, func(*frame.Frame) {
		fmt.Println("nobody uses the pixels any more")
	})

	kept := f.Retain() // a receiver that keeps the frame does this
	f.Release()
	fmt.Println("one reference is left")
	kept.Release()
	// Output:
	// one reference is left
	// nobody uses the pixels any more
}

// Several workers fill a picture, each a band of rows of its own.
func ExampleWorkers_Rows() {
	img := frame.NewImage[uint8](640, 360)
	frame.Workers{}.Rows(img.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := img.Row(y)
			for x := range row {
				row[x] = uint8(x ^ y)
			}
		}
	})
	fmt.Println(img.Row(3)[5], img.Row(359)[639])
	// Output: 6 24
}
