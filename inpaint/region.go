package inpaint

import (
	"bytes"

	"retime/frame"
)

// These values of region.index are not numbers of hole pixels.
const (
	known   = -1
	border  = -2 // known pixel next to a hole
	outside = -3
)

// run is a horizontal run of hole pixels, columns [x0, x1) of row y. Hole pixels have
// numbers in raster order; first is the number of the pixel at x0.
type run struct {
	y, x0, x1, first int32
}

// borderPixel is a known pixel next to a hole. Bit 4 + dx + 3*dy of holes is set if the neighbour
// at (dx, dy) is a hole pixel.
type borderPixel struct {
	x, y  int32
	holes uint32
}

// region is the set of the hole pixels of a plane.
type region struct {
	width, height int
	// index has a frame of one pixel around the plane, so that walks along a line need
	// no test for the plane's edges.
	index  []int32
	stride int
	runs   []run
	pixels int
	border []borderPixel
}

// set makes r the set of the pixels with a nonzero mask.
func (r *region) set(mask frame.Image[uint8]) {
	r.reset(mask.Width, mask.Height)
	for y := range mask.Height {
		r.addRow(mask.Row(y), y)
	}
	r.findBorder()
}

// reset empties r. Unless the size changes, its time is in proportion to the area of r.
func (r *region) reset(width, height int) {
	if width == r.width && height == r.height {
		for _, h := range r.runs {
			row := r.row(int(h.y), int(h.x0), int(h.x1))
			for i := range row {
				row[i] = known
			}
		}
		for _, b := range r.border {
			r.index[r.at(int(b.x), int(b.y))] = known
		}
	} else {
		r.width, r.height, r.stride = width, height, width+2
		n := r.stride * (height + 2)
		if cap(r.index) < n {
			r.index = make([]int32, n)
		}
		r.index = r.index[:n]
		for i := range r.index {
			r.index[i] = outside
		}
		for y := range height {
			row := r.row(y, 0, width)
			for i := range row {
				row[i] = known
			}
		}
	}
	r.runs, r.border, r.pixels = r.runs[:0], r.border[:0], 0
}

// at returns the position of the pixel (x, y) in index.
func (r *region) at(x, y int) int { return (y+1)*r.stride + x + 1 }

// row returns the part of index for columns [x0, x1) of row y.
func (r *region) row(y, x0, x1 int) []int32 {
	return r.index[r.at(x0, y):r.at(x1, y)]
}

// addRow appends the runs of row y.
func (r *region) addRow(mask []uint8, y int) {
	if bytes.Count(mask, []byte{0}) == len(mask) {
		return
	}
	for x0 := 0; ; {
		x0 += frame.LeadingZeros(mask[x0:])
		if x0 == len(mask) {
			return
		}
		x1 := len(mask)
		if n := bytes.IndexByte(mask[x0:], 0); n >= 0 {
			x1 = x0 + n
		}
		r.runs = append(r.runs, run{int32(y), int32(x0), int32(x1), int32(r.pixels)})
		index := r.row(y, x0, x1)
		for i := range index {
			index[i] = int32(r.pixels + i)
		}
		r.pixels += x1 - x0
		x0 = x1
	}
}

// findBorder lists the pixels that a 3x3 dilation adds to the holes.
func (r *region) findBorder() {
	for _, h := range r.runs {
		for y := int(h.y) - 1; y <= int(h.y)+1; y++ {
			for i, v := range r.row(y, int(h.x0)-1, int(h.x1)+1) {
				if v == known {
					x := int(h.x0) - 1 + i
					r.index[r.at(x, y)] = border
					r.border = append(r.border, borderPixel{int32(x), int32(y), r.holesAround(x, y)})
				}
			}
		}
	}
}

func (r *region) holesAround(x, y int) uint32 {
	var holes uint32
	for dy := -1; dy <= 1; dy++ {
		for dx, v := range r.row(y+dy, x-1, x+2) {
			holes |= uint32(^v) >> 31 << (3*(dy+1) + dx)
		}
	}
	return holes
}
