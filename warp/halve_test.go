package warp

import (
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// The sizes are odd and even, around the eight pixels that Halve averages at a time.
func TestHalve(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for width := 1; width <= 35; width++ {
		for _, height := range []int{1, 2, 3, 8} {
			stride := width + width%3
			src := frame.Image[uint8]{Width: width, Height: height, Stride: stride, Pix: make([]uint8, stride*height)}
			for i := range src.Pix {
				src.Pix[i] = uint8(r.IntN(256)) | uint8(r.IntN(2)*255) // often full white
			}
			got := Halve(src)
			if got.Width != (width+1)/2 || got.Height != (height+1)/2 {
				t.Fatalf("%dx%d becomes %dx%d", width, height, got.Width, got.Height)
			}
			for y := range got.Height {
				for x := range got.Width {
					sum := 2
					for _, p := range [4][2]int{{2 * x, 2 * y}, {2*x + 1, 2 * y}, {2 * x, 2*y + 1}, {2*x + 1, 2*y + 1}} {
						sum += int(src.Row(min(p[1], height-1))[min(p[0], width-1)])
					}
					if want := uint8(sum / 4); got.Row(y)[x] != want {
						t.Fatalf("%dx%d: pixel (%d, %d) is %d, want %d", width, height, x, y, got.Row(y)[x], want)
					}
				}
			}
		}
	}
}
