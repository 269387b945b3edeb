package warp

import (
	"retime/flow"
	"retime/frame"
)

// Differences between guides have units of 1/differenceOne grey level.
const differenceOne = 16

// lookup returns img at (x, y), in 1/256 pixel, interpolated bilinearly, times 65536.
// It moves positions outside img to the edge.
func lookup(img frame.Image[uint8], x, y int32) uint32 {
	ix, iy := int(x>>positionBits), int(y>>positionBits)
	fx, fy := uint32(x&(positionOne-1)), uint32(y&(positionOne-1))
	if uint(ix) >= uint(img.Width-1) {
		if ix < 0 {
			ix, fx = 0, 0
		} else {
			ix, fx = img.Width-1, 0
		}
	}
	if uint(iy) >= uint(img.Height-1) {
		if iy < 0 {
			iy, fy = 0, 0
		} else {
			iy, fy = img.Height-1, 0
		}
	}
	o := iy*img.Stride + ix
	dx, dy := 1, img.Stride
	if fx == 0 {
		dx = 0
	}
	if fy == 0 {
		dy = 0
	}
	top := uint32(img.Pix[o])*(positionOne-fx) + uint32(img.Pix[o+dx])*fx
	bottom := uint32(img.Pix[o+dy])*(positionOne-fx) + uint32(img.Pix[o+dy+dx])*fx
	return top*(positionOne-fy) + bottom*fy
}

// difference returns |a - b| of two lookups in units of 1/differenceOne.
func difference(a, b uint32) uint16 {
	d := int32(a) - int32(b)
	if d < 0 {
		d = -d
	}
	return uint16((d + 1<<11) >> 12)
}

// warpError sets dst to the difference between a and b along f, averaged over squares
// of three by three pixels.
func warpError(workers frame.Workers, dst, scratch *frame.Image[uint16], a, b frame.Image[uint8], f flow.Field) {
	scratch.Resize(a.Width, a.Height)
	workers.Rows(a.Height, func(y0, y1 int) { loops.warpError(*scratch, a, b, f, y0, y1) })
	boxMean(workers, dst, *scratch, 1)
}

func warpErrorRows(dst frame.Image[uint16], a, b frame.Image[uint8], f flow.Field, y0, y1 int) {
	for y := y0; y < y1; y++ {
		out, src, vec := dst.Row(y), a.Row(y), f.Row(y)
		for x := range out {
			v := vec[x]
			out[x] = difference(uint32(src[x])<<16, lookup(b, int32(x)<<positionBits+v.X, int32(y)<<positionBits+v.Y))
		}
	}
}

// boxMean sets dst to the mean of src over squares of 2*radius+1 pixels, as far as they
// lie inside, rounded to the nearest.
func boxMean(workers frame.Workers, dst *frame.Image[uint16], src frame.Image[uint16], radius int) {
	dst.Resize(src.Width, src.Height)
	inverse := reciprocals(2*radius + 1)
	workers.Rows(src.Height, func(y0, y1 int) { loops.boxMean(*dst, src, radius, inverse, y0, y1) })
}

func boxMeanRows(dst, src frame.Image[uint16], radius int, inverse []uint64, y0, y1 int) {
	w, h := src.Width, src.Height
	sums := make([]uint32, w+2*radius) // over the rows of a square, for each column, and 0 beyond the ends
	columns := sums[radius:][:w]
	across := make([]int32, w) // number of columns in each square
	for x := range across {
		across[x] = int32(min(w, x+radius+1) - max(0, x-radius))
	}
	for y := max(0, y0-radius); y < min(h, y0+radius); y++ {
		for x, v := range src.Row(y) {
			columns[x] += uint32(v)
		}
	}
	for y := y0; y < y1; y++ {
		if in := y + radius; in < h {
			for x, v := range src.Row(in) {
				columns[x] += uint32(v)
			}
		}
		rows := int32(min(h, y+radius+1) - max(0, y-radius))
		var sum uint32
		for _, v := range sums[:2*radius] {
			sum += v
		}
		out, ahead, behind := dst.Row(y)[:w], sums[2*radius:][:w], sums[:w]
		for x, n := range across {
			sum += ahead[x]
			out[x] = uint16((uint64(sum)*inverse[rows*n] + 1<<31) >> 32)
			sum -= behind[x]
		}
		if gone := y - radius; gone >= 0 {
			for x, v := range src.Row(gone) {
				columns[x] -= uint32(v)
			}
		}
	}
}

// reciprocals returns 2^32/n, rounded, for n up to the square of side.
func reciprocals(side int) []uint64 {
	r := make([]uint64, side*side+1)
	for n := 1; n < len(r); n++ {
		r[n] = (1<<32 + uint64(n)/2) / uint64(n)
	}
	return r
}

// A flow back that misses by more than missLeast shows that one of two frames hides what the other
// shows.
const missLeast = positionOne

// missed returns by how much the flow back, from the end of vector v at (x, y), misses that place, in
// 1/256 pixel in x or in y, or false if v leads out of the picture.
func missed(back flow.Field, x, y int, v flow.Vec) (miss int64, ok bool) {
	bx, by := int64(x)+(int64(v.X)+positionOne/2)>>positionBits, int64(y)+(int64(v.Y)+positionOne/2)>>positionBits
	if bx < 0 || by < 0 || bx >= int64(back.Width) || by >= int64(back.Height) {
		return 0, false
	}
	w := back.Pix[int(by)*back.Stride+int(bx)]
	return largest(int64(v.X)+int64(w.X), int64(v.Y)+int64(w.Y)), true
}

// leadsOut stands for the miss of a vector that leads out of the picture.
const leadsOut = -1

// measureMisses sets dst to what missed returns for each vector of f.Forward, or to leadsOut.
func measureMisses(workers frame.Workers, dst *frame.Image[int32], f FlowPair) {
	dst.Resize(f.Forward.Width, f.Forward.Height)
	workers.Rows(dst.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out := dst.Row(y)
			for x, v := range f.Forward.Row(y) {
				if miss, ok := missed(f.Backward, x, y, v); ok {
					out[x] = int32(miss)
				} else {
					out[x] = leadsOut
				}
			}
		}
	})
}

// largest returns the larger magnitude.
func largest(x, y int64) int64 { return max(x, -x, y, -y) }
