package warp

import (
	"sync"

	"retime/flow"
	"retime/frame"
)

// medianTwice sets dst to the medians, over three by three pixels with repeated edges, of
// the medians of src's components, times sign, which is 1 or -1. Vectors that match nothing
// stand alone, and go. scratch keeps memory between calls.
func medianTwice(workers frame.Workers, dst, src flow.Field, sign int32, scratch *sync.Pool) {
	eachChunk(workers, src.Height, 2, scratch, func(once *flow.Field, top, bottom, y0, y1 int) {
		once.Resize(src.Width, bottom-top)
		first, end := max(y0-1, 0), min(y1+1, src.Height)
		loops.median(*once, flow.Field{Image: rowsOf(src.Image, top, bottom)}, 1, first-top, end-top)
		loops.median(flow.Field{Image: rowsOf(dst.Image, top, bottom)}, *once, sign, y0-top, y1-top)
	})
}

// chunkRows is how many rows two steps in turn take at once: so few that what the first one
// writes is still in the cache when the second one reads it.
const chunkRows = 16

// eachChunk calls f for rows [y0, y1) of height, chunk by chunk, with memory for what it
// makes of rows [top, bottom), which begin and end margin rows further or at the edges.
func eachChunk[S any](workers frame.Workers, height, margin int, memory *sync.Pool, f func(m *S, top, bottom, y0, y1 int)) {
	workers.Rows(height, func(y0, y1 int) {
		m, ok := memory.Get().(*S)
		if !ok {
			m = new(S)
		}
		defer memory.Put(m)
		for ; y0 < y1; y0 += chunkRows {
			end := min(y0+chunkRows, y1)
			f(m, max(y0-margin, 0), min(end+margin, height), y0, end)
		}
	})
}

// rowsOf returns rows [y0, y1) of m, with m's memory.
func rowsOf[E any](m frame.Image[E], y0, y1 int) frame.Image[E] {
	return frame.Image[E]{Width: m.Width, Height: y1 - y0, Stride: m.Stride, Pix: m.Pix[y0*m.Stride : (y1-1)*m.Stride+m.Width]}
}

// medianRows sets rows [y0, y1) of dst to the medians of src, times sign.
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
