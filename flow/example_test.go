package flow_test

import (
	"bytes"
	"fmt"
	"log"

	"retime/flow"
	"retime/frame"
)

// A field goes through a Middlebury .flo file unchanged.
func ExampleWriteFlo() {
	field := flow.NewField(4, 3)
	field.Row(1)[2] = flow.Vec{X: 3 * flow.One / 2, Y: -2 * flow.One} // 1.5 pixels right, 2 up
	field.Row(2)[0] = flow.Unknown

	var file bytes.Buffer
	if err := flow.WriteFlo(&file, field); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Len(), "bytes")

	read, err := flow.ReadFlo(&file)
	if err != nil {
		log.Fatal(err)
	}
	v := read.Row(1)[2]
	fmt.Println(float64(v.X)/flow.One, float64(v.Y)/flow.One)
	fmt.Println(read.Row(2)[0].Known())
	// Output:
	// 108 bytes
	// 1.5 -2
	// false
}

// The flow to the second picture and the flow back from there lead a pixel back to where it was. If
// they do not, one of them is wrong, or the second picture does not show the pixel.
func ExampleConsistency() {
	forward, backward := flow.NewField(8, 1), flow.NewField(8, 1)
	for x := range 8 {
		forward.Row(0)[x] = flow.Vec{X: 2 * flow.One}   // everything moves right by 2 pixels,
		backward.Row(0)[x] = flow.Vec{X: -2 * flow.One} // and back
	}
	backward.Row(0)[5] = flow.Vec{} // but this pixel stays where it is

	var off frame.Image[uint16]
	if err := flow.Consistency(&off, forward, backward, frame.Workers{}); err != nil {
		log.Fatal(err)
	}
	for x, d := range off.Row(0) {
		switch {
		case d == flow.Inconsistent:
			fmt.Printf("pixel %d leaves the picture\n", x)
		case d > flow.One/2:
			fmt.Printf("pixel %d is %g pixels off\n", x, float64(d)/flow.One)
		}
	}
	// Output:
	// pixel 3 is 2 pixels off
	// pixel 6 leaves the picture
	// pixel 7 leaves the picture
}
