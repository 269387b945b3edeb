package warp

import (
	"math"

	"retime/flow"
	"retime/frame"
)

// ResampleFlow fits src to the grid of dst, on which a pixel covers 2^sx columns and
// 2^sy rows of src; negative numbers mean a finer grid. For a subsampled plane, sx and
// sy are the plane's subsampling; for a plane twice as fine as the flow, both are -1.
//
// A coarser pixel takes the mean of the pixels that it covers, with the edge repeated
// outside, rounded to the nearest 1/256 of the new pixel with ties away from zero.
// ResampleFlow ignores the positions of the old and new samples within their pixels. A
// finer pixel takes the vector of the pixel that it is part of. The vectors scale with
// the size of the pixel and are limited to 32 bits.
//
// dst may have at most the size of src on the new grid, rounded up.
func ResampleFlow(workers frame.Workers, dst, src flow.Field, sx, sy int) {
	area := max(sx, 0) + max(sy, 0)
	workers.Rows(dst.Height, func(y0, y1 int) {
		var sums [gridTile]vectorTotal
		for y := y0; y < y1; y++ {
			if sx == 0 && sy == 0 {
				copy(dst.Row(y), src.Row(y))
				continue
			}
			for x, out := 0, dst.Row(y); len(out) > 0; x += gridTile {
				n := min(gridTile, len(out))
				clear(sums[:n])
				for first, v := covered(y, sy), 0; v < 1<<max(sy, 0); v++ {
					addCovered(sums[:n], src.Row(min(first+v, src.Height-1)), x, sx)
				}
				for i, s := range sums[:n] {
					out[i] = flow.Vec{X: shrink(s.x, area+sx), Y: shrink(s.y, area+sy)}
				}
				out = out[n:]
			}
		}
	})
}

// gridTile is the largest number of pixels that are resampled at once.
const gridTile = 256

type vectorTotal struct{ x, y int64 }

// addCovered adds to each of sums the vectors of row that pixels x, x+1 and so on
// cover.
func addCovered(sums []vectorTotal, row []flow.Vec, x, s int) {
	n := 1 << max(s, 0)
	for i := range sums {
		first := covered(x+i, s)
		for u := range n {
			sums[i].add(row[min(first+u, len(row)-1)])
		}
	}
}

func (t *vectorTotal) add(v flow.Vec) {
	t.x += int64(v.X)
	t.y += int64(v.Y)
}

// ResampleWeights fits src to the grid of dst as ResampleFlow does. It rounds means
// half up.
func ResampleWeights(workers frame.Workers, dst, src frame.Image[uint16], sx, sy int) {
	area := max(sx, 0) + max(sy, 0)
	workers.Rows(dst.Height, func(y0, y1 int) {
		var sums [gridTile]uint32
		for y := y0; y < y1; y++ {
			if sx == 0 && sy == 0 {
				copy(dst.Row(y), src.Row(y))
				continue
			}
			for x, out := 0, dst.Row(y); len(out) > 0; x += gridTile {
				n := min(gridTile, len(out))
				clear(sums[:n])
				for first, v := covered(y, sy), 0; v < 1<<max(sy, 0); v++ {
					row := src.Row(min(first+v, src.Height-1))
					for i := range sums[:n] {
						for first, u := covered(x+i, sx), 0; u < 1<<max(sx, 0); u++ {
							sums[i] += uint32(row[min(first+u, len(row)-1)])
						}
					}
				}
				for i, s := range sums[:n] {
					out[i] = uint16((s + 1<<area>>1) >> area)
				}
				out = out[n:]
			}
		}
	})
}

// covered returns the first old pixel that new pixel i, 2^s times as large, covers.
func covered(i, s int) int {
	if s <= 0 {
		return i >> -s
	}
	return i << s
}

// shrink returns v / 2^s to the nearest integer, ties away from zero, limited to 32
// bits.
func shrink(v int64, s int) int32 {
	if s <= 0 {
		v <<= -s
	} else {
		sign := v >> 63
		v = ((v^sign-sign)+1<<(s-1))>>s ^ sign - sign
	}
	return int32(min(max(v, math.MinInt32), math.MaxInt32))
}
