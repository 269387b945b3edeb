package inpaint_test

import (
	"fmt"
	"log"

	"retime/frame"
	"retime/inpaint"
)

// Fill closes a scratch, three pixels wide, from both sides. The pixels around it stay.
func Example() {
	img, mask := frame.NewImage[uint8](16, 9), frame.NewImage[uint8](16, 9)
	for y := range img.Height {
		for x := range img.Width {
			img.Row(y)[x] = uint8(10 * x)
			if x >= 7 && x < 10 {
				img.Row(y)[x] = 255 // the scratch
				mask.Row(y)[x] = 255
			}
		}
	}

	p, err := inpaint.New(inpaint.DefaultDirections)
	if err != nil {
		log.Fatal(err)
	}
	p.SetMask(mask)
	if err := inpaint.Fill(p, img); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d\n", img.Row(4)[5:12])
	// Output: [50 60 69 80 91 100 110]
}
