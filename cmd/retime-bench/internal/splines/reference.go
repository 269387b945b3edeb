package splines

import (
	"math"

	"retime/frame"
	"retime/warp/bspline"
)

// shifted returns img shifted by half a sample in x and y, half-symmetric, by the plain algorithms
// 1 to 5 in float64: it processes whole columns, then whole rows, with a precision of 1e-20. It
// shares only the poles with warp/bspline.
func shifted(workers frame.Workers, img frame.Image[float64], order bspline.Order) frame.Image[float64] {
	c := convert[float64](img)
	workers.Rows(c.Width, func(x0, x1 int) {
		column := make([]float64, c.Height)
		for x := x0; x < x1; x++ {
			for y := range column {
				column[y] = c.Row(y)[x]
			}
			filter(column, order)
			for y, v := range column {
				c.Row(y)[x] = v
			}
		}
	})
	workers.Rows(c.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			filter(c.Row(y), order)
		}
	})

	n := order.Support()
	first, _ := order.Locate(-0.5)
	weights := make([]float64, n)
	for k := range weights {
		weights[k] = kernel(order, -0.5-float64(first+k))
	}
	out := frame.NewImage[float64](c.Width, c.Height)
	workers.Rows(out.Height, func(y0, y1 int) {
		// line is a row of coefficients, extended on both sides.
		line := make([]float64, c.Width+n)
		for y := y0; y < y1; y++ {
			dst := out.Row(y)
			for l, wy := range weights {
				src := c.Row(bspline.HalfSymmetric.Index(y+first+l, c.Height))
				for x := range line {
					line[x] = src[bspline.HalfSymmetric.Index(x+first, c.Width)]
				}
				for x := range dst {
					var sum float64
					for k, wx := range weights {
						sum += wx * line[x+k]
					}
					dst[x] += wy * sum
				}
			}
		}
	})
	return out
}

// filter applies algorithm 2 to a half-symmetric signal.
func filter(s []float64, order bspline.Order) {
	const precision = 1e-20
	last := len(s) - 1
	for _, z := range bspline.Poles(order) {
		// The sum has terms until they are below the precision, with some reserve for the gain of
		// the other poles and of the normalisation.
		terms := int(math.Log(precision*1e-6) / math.Log(-z))
		var sum float64
		for i := terms; i >= 0; i-- {
			sum = s[bspline.HalfSymmetric.Index(-i, len(s))] + z*sum
		}
		s[0] = sum
		for i := 1; i <= last; i++ {
			s[i] += z * s[i-1]
		}
		s[last] *= z / (z - 1)
		for i := last - 1; i >= 0; i-- {
			s[i] = z * (s[i+1] - s[i])
		}
	}
	gain := bspline.Normalization(order)
	for i := range s {
		s[i] *= gain
	}
}

// kernel returns the B-spline of order n at x by its recursion in the order.
func kernel(n bspline.Order, x float64) float64 {
	if n == 0 {
		if x >= -0.5 && x < 0.5 {
			return 1
		}
		return 0
	}
	half := float64(n+1) / 2
	if math.Abs(x) >= half {
		return 0
	}
	return ((half+x)*kernel(n-1, x+0.5) + (half-x)*kernel(n-1, x-0.5)) / float64(n)
}
