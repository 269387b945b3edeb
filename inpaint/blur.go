package inpaint

import "retime/frame"

const (
	// The local distances of Borgefors' 3-4 chamfer, in thirds of a pixel.
	chamferAxial    = 3
	chamferDiagonal = 4

	maxRadius = 4 // of the blur: 9x9
	// maxDistance is the distance at which the blur's kernel stops growing and the
	// distance map saturates.
	maxDistance = maxRadius * chamferDiagonal
)

// radius returns the radius of the blur's box at a chamfer distance, from 1 (3x3) near
// the border to 4 (9x9) inside. A quarter of the 3-4 distance is at most the chessboard
// distance, so the box reaches border pixels but none beyond them.
func radius(distance uint8) int {
	return max(1, int(distance)/chamferDiagonal)
}

// chamfer returns the distance of each hole pixel to the nearest known one, in thirds
// of a pixel and at most maxDistance, by the two raster scans of G. Borgefors,
// "Distance transformations in digital images", Computer Vision, Graphics, and Image
// Processing 34, 1986. It reuses the memory of distance.
func (r *region) chamfer(distance []uint8) []uint8 {
	distance = frame.Resize(distance, r.pixels)
	from := func(at int) uint8 {
		switch i := r.index[at]; {
		case i >= 0:
			return distance[i]
		case i == outside:
			return maxDistance
		default:
			return 0
		}
	}
	// nearest extends the distances of the four neighbours that the scan has passed.
	nearest := func(at, back int) uint8 {
		return min(maxDistance,
			from(at+back)+chamferAxial,
			from(at+back*r.stride-1)+chamferDiagonal,
			from(at+back*r.stride)+chamferAxial,
			from(at+back*r.stride+1)+chamferDiagonal)
	}
	for _, h := range r.runs {
		at := r.at(int(h.x0), int(h.y))
		for i := range int(h.x1 - h.x0) {
			distance[int(h.first)+i] = nearest(at+i, -1)
		}
	}
	for j := len(r.runs) - 1; j >= 0; j-- {
		h := r.runs[j]
		at := r.at(int(h.x0), int(h.y))
		for i := int(h.x1-h.x0) - 1; i >= 0; i-- {
			d := &distance[int(h.first)+i]
			*d = min(*d, nearest(at+i, 1))
		}
	}
	return distance
}

// blur replaces every hole pixel by the mean, rounded half up, of the part of the box around it
// that is inside the plane.
func blur[T frame.Sample](p *Inpainter, img frame.Image[T]) {
	r := &p.region
	p.blurred = frame.Resize(p.blurred, r.pixels)
	p.Workers.Rows(len(r.runs), func(i0, i1 int) {
		var columns columnSums
		for _, h := range r.runs[i0:i1] {
			x0, x1 := int(h.x0), int(h.x1)
			for x := x0; x < x1; x += blurTile {
				first := int(h.first) + x - x0
				n := min(blurTile, x1-x)
				blurRow(&columns, p.blurred[first:][:n], p.distance[first:][:n], img, x, int(h.y))
			}
		}
	})
	p.Workers.Rows(len(r.runs), func(i0, i1 int) {
		for _, h := range r.runs[i0:i1] {
			row := img.Row(int(h.y))[h.x0:h.x1]
			for i, v := range p.blurred[h.first:][:len(row)] {
				row[i] = T(v)
			}
		}
	})
}

// blurTile is the largest number of pixels that blurRow takes.
const blurTile = 256

// columnSums holds, for each k, the sums over the rows up to k above and below one row.
type columnSums [maxRadius + 1][blurTile + 2*maxRadius]uint32

// blurRow stores in dst the means of the boxes around the len(dst) pixels of img from
// (x0, y) to the right, whose distances are in distance. columns is scratch memory.
func blurRow[T frame.Sample](columns *columnSums, dst []uint16, distance []uint8, img frame.Image[T], x0, y int) {
	widest := 1
	for _, d := range distance {
		widest = max(widest, radius(d))
	}
	left, right := max(0, x0-widest), min(img.Width, x0+len(dst)+widest)
	clear(columns[0][:right-left])
	addRow(columns[0][:right-left], img.Row(y)[left:right])
	rows := [maxRadius + 1]int{1} // number of rows that columns[k] has summed
	for k := 1; k <= widest; k++ {
		column := columns[k][:right-left]
		copy(column, columns[k-1][:right-left])
		rows[k] = rows[k-1]
		if y-k >= 0 {
			addRow(column, img.Row(y - k)[left:right])
			rows[k]++
		}
		if y+k < img.Height {
			addRow(column, img.Row(y + k)[left:right])
			rows[k]++
		}
	}
	for i, d := range distance {
		k := radius(d)
		window := columns[k][max(left, x0+i-k)-left : min(right, x0+i+k+1)-left]
		var sum uint32
		for _, v := range window {
			sum += v
		}
		n := uint32(rows[k] * len(window))
		dst[i] = uint16((sum + n/2) / n)
	}
}

func addRow[T frame.Sample](sums []uint32, row []T) {
	row = row[:len(sums)]
	for i := range sums {
		sums[i] += uint32(row[i])
	}
}
