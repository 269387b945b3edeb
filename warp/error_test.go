package warp

import (
	"math/rand/v2"
	"testing"

	"retime/frame"
)

func TestBoxMean(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 5))
	for _, size := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {5, 7}, {40, 23}} {
		for radius := 1; radius <= 4; radius++ {
			for _, workers := range []int{1, 3} {
				w, h := size[0], size[1]
				src := frame.NewImage[uint16](w+2, h)
				src.Width = w
				for i := range src.Pix {
					src.Pix[i] = uint16(r.Uint32())
				}
				var got frame.Image[uint16]
				boxMean(frame.Workers{N: workers}, &got, src, radius)
				for y := range h {
					for x := range w {
						sum, n := uint64(0), uint64(0)
						for j := max(y-radius, 0); j <= min(y+radius, h-1); j++ {
							for i := max(x-radius, 0); i <= min(x+radius, w-1); i++ {
								sum, n = sum+uint64(src.Row(j)[i]), n+1
							}
						}
						inverse := (1<<32 + n/2) / n
						if want := (sum*inverse + 1<<31) >> 32; uint64(got.Row(y)[x]) != want {
							t.Fatalf("%v, radius %d, %d workers: %d at %d,%d, want %d", size, radius, workers, got.Row(y)[x], x, y, want)
						}
					}
				}
			}
		}
	}
}
