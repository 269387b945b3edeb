package flow

import (
	"fmt"
	"math"

	"retime/frame"
)

// EndpointError compares two fields of one size by the length in pixels of the difference of their
// vectors (Baker, Scharstein, Lewis, Roth, Black and Szeliski, "A Database and Evaluation
// Methodology for Optical Flow", IJCV 2011, section 4.1). It returns the mean over the pixels that
// are known in both fields, or NaN if there are none. If dst is not nil, EndpointError resizes it
// and stores the error of each pixel there, NaN for pixels that are unknown in either field.
func EndpointError(dst *frame.Image[float32], got, want Field) (mean float64, err error) {
	return compare("endpoint error", dst, got, want, func(a, b Vec) float64 {
		dx, dy := float64(a.X)-float64(b.X), float64(a.Y)-float64(b.Y)
		return math.Sqrt(float64(dx*dx)+float64(dy*dy)) / One
	})
}

// AngularError compares two fields of one size by the angle in degrees, 0 to 180,
// between the space-time vectors (x, y, 1) in pixels (Barron, Fleet and Beauchemin,
// "Performance of Optical Flow Techniques", IJCV 1994). It returns and stores its
// results as EndpointError does.
func AngularError(dst *frame.Image[float32], got, want Field) (mean float64, err error) {
	return compare("angular error", dst, got, want, func(a, b Vec) float64 {
		ax, ay, bx, by := float64(a.X), float64(a.Y), float64(b.X), float64(b.Y)
		// The cross product stays exact at small angles; the arc cosine does not.
		cx, cy, cz := float64(ay*One)-float64(by*One), float64(bx*One)-float64(ax*One), float64(ax*by)-float64(ay*bx)
		cross := math.Sqrt(float64(cx*cx) + float64(cy*cy) + float64(cz*cz))
		dot := float64(ax*bx) + float64(ay*by) + One*One
		return math.Atan2(cross, dot) * (180 / math.Pi)
	})
}

func compare(name string, dst *frame.Image[float32], got, want Field, of func(a, b Vec) float64) (float64, error) {
	if got.Width != want.Width || got.Height != want.Height {
		return 0, fmt.Errorf("flow: %s of fields of %dx%d and %dx%d", name, got.Width, got.Height, want.Width, want.Height)
	}
	if dst != nil {
		dst.Resize(got.Width, got.Height)
	}
	sum, known := 0.0, 0
	for y := range got.Height {
		a, b := got.Row(y), want.Row(y)
		for x := range a {
			e := math.NaN()
			if a[x].Known() && b[x].Known() {
				e = of(a[x], b[x])
				sum += e
				known++
			}
			if dst != nil {
				dst.Pix[y*dst.Stride+x] = float32(e)
			}
		}
	}
	return sum / float64(known), nil
}
