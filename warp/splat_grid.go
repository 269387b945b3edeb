package warp

import (
	"math"

	"retime/flow"
	"retime/pipeline/frame"
)

// ResampleFlow fits src to the grid of dst, of which a pixel is 2^sx columns
// and 2^sy rows of src; a negative number is for a finer grid. The flow of a
// subsampled plane has sx and sy of its subsampling, that of a plane twice as
// fine as the flow has -1 and -1.
//
// A coarser pixel takes the mean of those that it covers, of which the last
// ones stand for any beyond the edge, to the nearest 1/256 of the new pixel
// with ties away from zero; where the old and new samples lie within a pixel
// is not regarded. A finer pixel takes the vector of the one that it is part
// of. The vectors change with the size of the pixel and are limited to 32 bits.
func ResampleFlow(workers frame.Workers, dst, src flow.Field, sx, sy int) {
	blockX, blockY := max(sx, 0), max(sy, 0)
	area := blockX + blockY
	workers.Rows(dst.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			for x, out := 0, dst.Row(y); x < len(out); x++ {
				var sumX, sumY int64
				for j := range 1 << blockY {
					row := src.Row(min(scaleIndex(y, sy)+j, src.Height-1))
					for i := range 1 << blockX {
						v := row[min(scaleIndex(x, sx)+i, src.Width-1)]
						sumX += int64(v.X)
						sumY += int64(v.Y)
					}
				}
				out[x] = flow.Vec{X: shrink(sumX, area+sx), Y: shrink(sumY, area+sy)}
			}
		}
	})
}

// ResampleWeights fits src to the grid of dst as ResampleFlow does; means are
// rounded half up.
func ResampleWeights(workers frame.Workers, dst, src frame.Image[uint16], sx, sy int) {
	blockX, blockY := max(sx, 0), max(sy, 0)
	area := blockX + blockY
	workers.Rows(dst.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			for x, out := 0, dst.Row(y); x < len(out); x++ {
				var sum uint32
				for j := range 1 << blockY {
					row := src.Row(min(scaleIndex(y, sy)+j, src.Height-1))
					for i := range 1 << blockX {
						sum += uint32(row[min(scaleIndex(x, sx)+i, src.Width-1)])
					}
				}
				out[x] = uint16((sum + 1<<area>>1) >> area)
			}
		}
	})
}

// scaleIndex returns v * 2^s, rounded down.
func scaleIndex(v, s int) int {
	if s < 0 {
		return v >> -s
	}
	return v << s
}

// shrink returns v / 2^s to the nearest integer, ties away from zero, limited
// to 32 bits.
func shrink(v int64, s int) int32 {
	if s <= 0 {
		v <<= -s
	} else {
		sign := v >> 63
		v = ((v^sign-sign)+1<<(s-1))>>s ^ sign - sign
	}
	return int32(min(max(v, math.MinInt32), math.MaxInt32))
}
