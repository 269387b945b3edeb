package dis

import "retime/frame"

// level is the geometry of a level: of its picture, which is the same in the pyramids of both
// pictures, and of its patches.
type level struct {
	width, height int // of the picture in samples
	columns, rows int // of the patches
	stride        int // between patches
	// Sample (x, y) of a pyramid is at origin + y*pitch + x, for x and y from -borderSize to
	// borderSize beyond the last.
	origin, pitch int
}

// levels appends the levels of a picture of width by height to dst, finest first, and returns them
// along with the size of a pyramid.
func levels(dst []level, width, height, stride int) ([]level, int) {
	width, height = max(width, patchSize), max(height, patchSize)
	end := 0
	for n := coarsest(width, height); n >= 0; n-- {
		pitch := (width + 2*borderSize + 15) &^ 15
		dst = append(dst, level{
			width: width, height: height,
			columns: patchesAlong(width, stride), rows: patchesAlong(height, stride), stride: stride,
			origin: end + borderSize*pitch + borderSize, pitch: pitch,
		})
		end += pitch * (height + 2*borderSize)
		width, height = (width+1)/2, (height+1)/2
	}
	return dst, end
}

// coarsest returns the number of the coarsest level.
func coarsest(width, height int) int {
	long, short := int64(max(width, height)), min(width, height)
	n := 0
	for 2*long*long >= (4*patchSize*4*patchSize)<<(2*n+2) && short>>(n+1) >= patchSize {
		n++
	}
	return n
}

func patchesAlong(size, stride int) int { return (size-patchSize+stride-1)/stride + 1 }

// patchOrigin returns where the j-th patch begins on a side of size samples.
func patchOrigin(j, stride, size int) int { return min(stride*j, size-patchSize) }

// row returns row y of the level in a pyramid, border included: sample x has index
// x+borderSize.
func (l *level) row(pyramid []uint8, y int) []uint8 {
	start := l.origin + y*l.pitch - borderSize
	return pyramid[start : start+l.width+2*borderSize]
}

// fill copies row y of the picture to level 0.
func (l *level) fill(pyramid []uint8, m frame.Image[uint8], y int) {
	row := l.row(pyramid, y)
	n := copy(row[borderSize:], m.Row(min(y, m.Height-1)))
	extend(row, n)
}

// extend repeats the first and the last of the n samples in the middle of row.
func extend(row []uint8, n int) {
	first, last := row[borderSize], row[borderSize+n-1]
	for x := range borderSize {
		row[x] = first
	}
	for x := borderSize + n; x < len(row); x++ {
		row[x] = last
	}
}

// enclose repeats the first and the last row of the level.
func (l *level) enclose(pyramid []uint8) {
	first, last := l.row(pyramid, 0), l.row(pyramid, l.height-1)
	for y := 1; y <= borderSize; y++ {
		copy(l.row(pyramid, -y), first)
		copy(l.row(pyramid, l.height-1+y), last)
	}
}

// halve computes row y of the level by filtering the next finer one, whose border must be complete.
func (l *level) halve(pyramid []uint8, finer *level, y int) {
	n := 2*l.width + 2
	above := finer.row(pyramid, 2*y-1)[borderSize-1:][:n]
	upper := finer.row(pyramid, 2*y)[borderSize-1:][:n]
	lower := finer.row(pyramid, 2*y+1)[borderSize-1:][:n]
	below := finer.row(pyramid, 2*y+2)[borderSize-1:][:n]
	column := func(x int) int { return int(above[x]) + 3*(int(upper[x])+int(lower[x])) + int(below[x]) }
	row := l.row(pyramid, y)
	c0, c1 := column(0), column(1)
	for x := range l.width {
		c2, c3 := column(2*x+2), column(2*x+3)
		row[borderSize+x] = uint8((c0 + 3*(c1+c2) + c3 + 32) >> 6)
		c0, c1 = c2, c3
	}
	extend(row, l.width)
}
