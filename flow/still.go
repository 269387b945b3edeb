package flow

import (
	"fmt"

	"retime/pipeline/frame"
)

// stillRadius is half the side of the surroundings that KeepStill compares. Those of
// half the size are also found in the midst of what moves, and cost up to 0.02 dB.
const stillRadius = 8

// KeepStill sets to zero the vectors of pixels that nothing has passed: whose
// surroundings, 17 by 17 pixels, are the same in both pictures. An estimator spreads
// motion from elsewhere over them. The fields, of the pictures' size, may be from
// a to b or from b to a.
func KeepStill(a, b frame.Image[uint8], workers frame.Workers, fields ...Field) error {
	if a.Width != b.Width || a.Height != b.Height {
		return fmt.Errorf("flow: pictures of %dx%d and %dx%d", a.Width, a.Height, b.Width, b.Height)
	}
	for _, f := range fields {
		if f.Width != a.Width || f.Height != a.Height {
			return fmt.Errorf("flow: a field of %dx%d for pictures of %dx%d", f.Width, f.Height, a.Width, a.Height)
		}
	}
	workers.Rows(a.Height, func(y0, y1 int) {
		// How many rows down to the present one a pixel's surroundings are the same
		// in; rows beyond the picture count as the same.
		rows := make([]int, a.Width)
		for x := range rows {
			rows[x] = stillRadius
		}
		for y := max(y0-stillRadius, 0); y < y1+stillRadius; y++ {
			if y < a.Height {
				countStill(rows, a.Row(y), b.Row(y))
			} else {
				for x := range rows {
					rows[x]++
				}
			}
			if y < y0+stillRadius {
				continue
			}
			for _, f := range fields {
				row := f.Row(y - stillRadius)
				for x, n := range rows {
					if n > 2*stillRadius {
						row[x] = Vec{}
					}
				}
			}
		}
	})
	return nil
}

// countStill counts on in rows, for one row of each picture.
func countStill(rows []int, a, b []uint8) {
	a, b = a[:len(rows)], b[:len(rows)]
	differed := -stillRadius - 1 // the last pixel that differed
	for x := range len(rows) + stillRadius {
		if x < len(rows) && a[x] != b[x] {
			differed = x
		}
		if at := x - stillRadius; at >= 0 {
			rows[at]++
			if differed >= at-stillRadius {
				rows[at] = 0
			}
		}
	}
}
