//go:build unix

package gpu

import "retime/warp/bspline"

// SplineTable runs splineTable for a picture of any size.
func SplineTable[T bspline.Float](b *Bench, width, height int) error {
	return splineTable[T](b, width, height)
}

func BoxSplineTable(b *Bench, width, height, side int) error {
	return boxSplineTable(b, width, height, side)
}
