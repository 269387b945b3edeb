package flow

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"retime/frame"
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
		// in, up to stillRows; rows beyond the picture count as the same.
		rows := make([]uint8, a.Width)
		for x := range rows {
			rows[x] = stillRadius
		}
		for y := max(y0-stillRadius, 0); y < y1+stillRadius; y++ {
			var any bool
			if y < a.Height {
				any = countStill(rows, a.Row(y), b.Row(y))
			} else {
				any = countOn(rows)
			}
			if y < y0+stillRadius || !any {
				continue
			}
			for _, f := range fields {
				row := f.Row(y - stillRadius)
				for x, n := range rows {
					if n == stillRows {
						row[x] = Vec{}
					}
				}
			}
		}
	})
	return nil
}

// stillRows is how many rows the surroundings have.
const stillRows = 2*stillRadius + 1

// countStill counts on in rows, for one row of each picture, and says whether any
// pixel's surroundings are the same in all rows.
func countStill(rows []uint8, a, b []uint8) bool {
	width, any, done := len(rows), false, 0
	differs := -stillRadius - 1 // the last pixel known to differ
	for differs+stillRadius+1 < width {
		// From behind: one that differs rules out all surroundings that start before it.
		first, last := max(differs+1, 0), min(differs+stillRows, width-1)
		for last >= first && a[last] == b[last] {
			last--
		}
		if last >= first {
			differs = last
			continue
		}
		start, next := differs+stillRadius+1, firstDifference(a, b, first)
		end := next - stillRadius
		if next == width {
			end = width
		}
		clear(rows[done:start])
		if countOn(rows[start:end]) {
			any = true
		}
		done, differs = end, next
	}
	clear(rows[done:])
	return any
}

// countOn adds a row, and says whether any pixel has them all.
func countOn(rows []uint8) bool {
	most := uint8(0)
	for x, n := range rows {
		n = min(n+1, stillRows)
		rows[x] = n
		most = max(most, n)
	}
	return most == stillRows
}

// firstDifference is the first pixel from x on in which a and b, of one length,
// differ, or their length.
func firstDifference(a, b []uint8, x int) int {
	for ; x+8 <= len(a); x += 8 {
		if d := binary.LittleEndian.Uint64(a[x:]) ^ binary.LittleEndian.Uint64(b[x:]); d != 0 {
			return x + bits.TrailingZeros64(d)/8
		}
	}
	for x < len(a) && a[x] == b[x] {
		x++
	}
	return x
}
