package splines

import (
	"fmt"
	"math"
	"time"

	"retime/frame"
	"retime/warp/bspline"
)

// Rotation is the result of ten rotations by 36 degrees, which would ideally restore
// the picture.
type Rotation struct {
	Method string
	Time   time.Duration // of the ten rotations
	// PSNR compares the result with the original in dB, with a peak of 255, inside the
	// circle that every rotation keeps within the picture.
	PSNR float64
}

const (
	turns = 10
	// rim is the width of the ring, in samples, at the circle's edge that PSNR leaves out, so that
	// the boundary does not matter.
	rim = 32
)

// Rotate rotates img, with samples up to 255, ten times in float32 with a spline of the
// given order, half-symmetric, at a precision of 1e-6.
func Rotate(workers frame.Workers, img frame.Image[float64], order bspline.Order) (Rotation, error) {
	result := Rotation{Method: fmt.Sprintf("retime, order %v", order)}
	p, err := bspline.NewPrefilter[float32](order, bspline.HalfSymmetric, 1e-6)
	if err != nil {
		return result, err
	}
	c, out := convert[float32](img), convert[float32](img)
	turn := bspline.Rotation(2*math.Pi/turns, float64(img.Width-1)/2, float64(img.Height-1)/2)
	start := time.Now()
	for range turns {
		if err := p.Apply(workers, c); err != nil {
			return result, err
		}
		s, err := bspline.FromCoefficients(c, order, bspline.HalfSymmetric, 0)
		if err != nil {
			return result, err
		}
		if err := s.Warp(workers, out, turn); err != nil {
			return result, err
		}
		c, out = out, c
	}
	result.Time = time.Since(start)
	result.PSNR = psnrInCircle(c, img)
	return result, nil
}

func psnrInCircle(got frame.Image[float32], want frame.Image[float64]) float64 {
	cx, cy := float64(want.Width-1)/2, float64(want.Height-1)/2
	radius := max(1, min(cx, cy)-rim)
	var sum, count float64
	for y := range want.Height {
		for x, v := range want.Row(y) {
			if math.Hypot(float64(x)-cx, float64(y)-cy) <= radius {
				d := float64(got.Row(y)[x]) - v
				sum += d * d
				count++
			}
		}
	}
	return 10 * math.Log10(255*255*count/sum)
}
