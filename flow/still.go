package flow

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"retime/frame"
)

// stillRadius is the radius in pixels of the squares that KeepStill compares. With half
// that radius, it also finds still squares inside moving objects, which costs up to
// 0.02 dB.
const stillRadius = 8

// KeepStill sets the vectors of still pixels to zero. A pixel is still if the square of
// 17 by 17 pixels around it is the same in both pictures; estimators spread the motion
// of other places over such pixels. The fields must have the size of the pictures, and
// may lead from a to b or from b to a. KeepStill returns an error if the sizes differ.
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
		// rows[x] counts the consecutive rows, up to and including the current one, that are the
		// same across the width of the square around x, but at most stillRows. Rows outside the
		// picture count as the same.
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

// stillRows is the height of a square in rows.
const stillRows = 2*stillRadius + 1

// countStill updates the counts in rows for one more row of each picture, and reports
// whether any count has reached stillRows.
func countStill(rows []uint8, a, b []uint8) bool {
	width, any, done := len(rows), false, 0
	differs := -stillRadius - 1 // last pixel known to differ
	for differs+stillRadius+1 < width {
		// The scan runs backward: a pixel that differs rules out every square that contains it.
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

// countOn adds one to every count, and reports whether any has reached stillRows.
func countOn(rows []uint8) bool {
	most := uint8(0)
	for x, n := range rows {
		n = min(n+1, stillRows)
		rows[x] = n
		most = max(most, n)
	}
	return most == stillRows
}

// firstDifference returns the first index from x on at which a and b differ, or their
// common length.
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
