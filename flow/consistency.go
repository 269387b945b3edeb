package flow

import (
	"fmt"
	"math"

	"retime/frame"
)

// Inconsistent is the Consistency of a pixel that leaves the picture, whose flow is
// unknown at either end, or whose error is at least 65535/256 pixels.
const Inconsistent = math.MaxUint16

// Consistency checks two fields of one size, from A to B and from B to A, against each other:
// dst(p) = |forward(p) + backward(p + forward(p))| in 1/256 pixel, which is 0 if the fields agree
// and large if A is occluded in B. Consistency interpolates backward bilinearly and exactly, rounds
// each component of the sum to 1/256 pixel, halves up, and rounds the length down. A pixel that
// moves more than half a pixel beyond the outermost centres has left the picture; between those
// centres and that limit, backward has its border vectors.
//
// Consistency resizes dst. The result does not depend on workers.
func Consistency(dst *frame.Image[uint16], forward, backward Field, workers frame.Workers) error {
	if forward.Width != backward.Width || forward.Height != backward.Height {
		return fmt.Errorf("flow: consistency of fields of %dx%d and %dx%d", forward.Width, forward.Height, backward.Width, backward.Height)
	}
	dst.Resize(forward.Width, forward.Height)
	workers.Rows(forward.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			consistencyRow(dst.Row(y), forward.Row(y), backward, y)
		}
	})
	return nil
}

func consistencyRow(dst []uint16, forward []Vec, backward Field, y int) {
	right, bottom := (backward.Width-1)*One, (backward.Height-1)*One
	forward = forward[:len(dst)]
	for x := range dst {
		dst[x] = Inconsistent
		v := forward[x]
		// An Unknown vector leads far outside the picture.
		qx, qy := x*One+int(v.X), y*One+int(v.Y)
		if qx < -One/2 || qx > right+One/2 || qy < -One/2 || qy > bottom+One/2 {
			continue
		}
		bx, by, ok := lookup(backward, uint(min(max(qx, 0), right)), uint(min(max(qy, 0), bottom)))
		if !ok {
			continue
		}
		const half = One * One / 2
		ex := (int64(v.X)*(One*One) + bx + half) >> 16
		ey := (int64(v.Y)*(One*One) + by + half) >> 16
		if max(ex, -ex, ey, -ey) >= Inconsistent {
			continue
		}
		// The square is below 2^33: in that range the rounded root never reaches an
		// integer that the exact root does not.
		dst[x] = uint16(min(int64(math.Sqrt(float64(ex*ex+ey*ey))), Inconsistent))
	}
}

// lookup interpolates f bilinearly at a position inside the picture, in 1/256 pixel, and returns a
// vector in 1/2^24 pixel. It returns false if a neighbour with nonzero weight is Unknown.
func lookup(f Field, x, y uint) (vx, vy int64, ok bool) {
	fx, fy := int64(x%One), int64(y%One)
	i := int(y/One)*f.Stride + int(x/One)
	// A neighbour of weight zero may be outside the picture.
	right, down := 0, 0
	if fx > 0 {
		right = 1
	}
	if fy > 0 {
		down = f.Stride
	}
	v00, v01, v10, v11 := f.Pix[i], f.Pix[i+right], f.Pix[i+down], f.Pix[i+down+right]
	ok = v00.Known() && v01.Known() && v10.Known() && v11.Known()
	vx = (One-fy)*((One-fx)*int64(v00.X)+fx*int64(v01.X)) + fy*((One-fx)*int64(v10.X)+fx*int64(v11.X))
	vy = (One-fy)*((One-fx)*int64(v00.Y)+fx*int64(v01.Y)) + fy*((One-fx)*int64(v10.Y)+fx*int64(v11.Y))
	return vx, vy, ok
}
