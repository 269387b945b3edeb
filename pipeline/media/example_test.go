package media_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	"retime/frame"
	"retime/pipeline/media"
)

// A Reader delivers frames in the order in which they are shown: here the first three that a
// player shows after one second.
func ExampleOpen() {
	r, err := media.Open(context.Background(), "../../testdata/demo.mp4", media.ReaderOptions{From: media.Start{At: big.NewRat(1, 1)}})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	v := r.Video()
	fmt.Printf("%s, %d x %d, %s frames per second\n", v.Format.Name, v.Width, v.Height, v.Rate.RatString())
	for range 3 {
		f, err := r.Read() // io.EOF behind the last frame
		if err != nil {
			log.Fatal(err)
		}
		at := new(big.Rat).Mul(big.NewRat(f.PTS, 1), v.TimeBase)
		luma := frame.Samples[uint8](f.Planes[0])
		fmt.Printf("%s s: %d x %d samples of luma\n", at.FloatString(3), luma.Width, luma.Height)
		f.Release()
	}
	// Output:
	// yuv420p, 640 x 360, 24 frames per second
	// 1.000 s: 640 x 360 samples of luma
	// 1.042 s: 640 x 360 samples of luma
	// 1.083 s: 640 x 360 samples of luma
}
