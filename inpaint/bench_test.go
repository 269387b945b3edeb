package inpaint

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// BenchmarkFill fills three planes of 1920x1080, each with its own mask. Holes cover
// 1.4 % of a plane, the share that Rosner et al. report for warped film.
func BenchmarkFill(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			r := rand.New(rand.NewPCG(5, 0))
			var planes [3]frame.Image[uint8]
			for i := range planes {
				planes[i] = frame.NewImage[uint8](1920, 1080)
				fillRandom(r, planes[i])
			}
			mask := disocclusions(r, 1920, 1080, 0.014)
			p := mustNew(b, DefaultDirections, workers)
			for b.Loop() {
				for i := range planes {
					p.SetMask(mask)
					if err := Fill(p, planes[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkSetMask(b *testing.B) {
	mask := frame.NewImage[uint8](1920, 1080)
	p := mustNew(b, DefaultDirections, 1)
	for b.Loop() {
		p.SetMask(mask)
	}
}

// disocclusions returns a mask with crescent-shaped holes, such as moving objects uncover, that
// cover the given share of the plane.
func disocclusions(r *rand.Rand, width, height int, share float64) frame.Image[uint8] {
	mask := frame.NewImage[uint8](width, height)
	for left := int(share * float64(width*height)); left > 0; {
		cx, cy, radius := r.IntN(width), r.IntN(height), 10+r.IntN(90)
		shift := 2 + r.IntN(14)
		for y := max(0, cy-radius); y < min(height, cy+radius) && left > 0; y++ {
			for x := max(0, cx-radius); x < min(width, cx+radius+shift); x++ {
				dx, dy := x-cx, y-cy
				if dx*dx+dy*dy >= radius*radius && (dx-shift)*(dx-shift)+dy*dy < radius*radius && mask.Row(y)[x] == 0 {
					mask.Row(y)[x] = 255
					left--
				}
			}
		}
	}
	return mask
}
