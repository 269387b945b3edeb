package warp

import (
	"retime/flow"
	"retime/frame"
)

// median sets dst to the medians of src's components over three by three pixels, with
// repeated edges, times sign, which is 1 or -1. Vectors that match nothing stand alone, and
// go.
func median(workers frame.Workers, dst, src flow.Field, sign int32) {
	workers.Rows(src.Height, func(y0, y1 int) { loops.median(dst, src, sign, y0, y1) })
}

func medianRows(dst, src flow.Field, sign int32, y0, y1 int) {
	columns := make([]sorted, src.Width)
	for y := y0; y < y1; y++ {
		above, here, below := src.Row(max(y-1, 0)), src.Row(y), src.Row(min(y+1, src.Height-1))
		for x := range columns {
			a, b, c := above[x], here[x], below[x]
			columns[x] = sorted{sort3(a.X, b.X, c.X), sort3(a.Y, b.Y, c.Y)}
		}
		out := dst.Row(y)
		for x := range out {
			l, m, r := &columns[max(x-1, 0)], &columns[x], &columns[min(x+1, src.Width-1)]
			out[x] = flow.Vec{X: sign * median9(&l.x, &m.x, &r.x), Y: sign * median9(&l.y, &m.y, &r.y)}
		}
	}
}

// sorted holds a column's components in ascending order.
type sorted struct{ x, y [3]int32 }

func sort3(a, b, c int32) [3]int32 {
	a, b = min(a, b), max(a, b)
	b, c = min(b, c), max(b, c)
	a, b = min(a, b), max(a, b)
	return [3]int32{a, b, c}
}

// median9 returns the median of three columns: the median of the largest of the least,
// the median of the middle ones, and the least of the largest.
func median9(l, m, r *[3]int32) int32 {
	return median3(max(l[0], m[0], r[0]), median3(l[1], m[1], r[1]), min(l[2], m[2], r[2]))
}

func median3(a, b, c int32) int32 { return max(min(a, b), min(max(a, b), c)) }
