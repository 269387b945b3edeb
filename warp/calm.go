package warp

import "retime/frame"

// calm blurs a made frame as far as its readings of the neighbours contradict each other.
//
// Where no motion is right, the readings of a pixel agree by chance alone, and their mean
// has edges and specks that nothing supports. If the errors of readings v with the shares w are
// independent, the mean m has a squared error of about 2 Σ w²(v - m)². A Wiener filter would take
// away the part of the detail that this error is of the variance of m around. calm finds both
// on cells of calmSize by calmSize pixels of the picture.
type calm struct {
	means, errors frame.Image[uint32] // of a cell's readings, in 1/differenceOne and its square
	strengths     frame.Image[uint16] // of the blur, up to calmOne
	blurred       frame.Image[uint16] // a plane's samples that change
	still         frame.Image[uint8]  // nonzero where something lies still, on the guides' grid; may be empty
	level         int                 // of the guides
}

const (
	// calmBits is log2 of calmSize, and calmRadius the radius in cells of a cell's surroundings.
	calmBits   = 3
	calmSize   = 1 << calmBits
	calmRadius = 1
	// calmNoise is the squared error that any picture may have.
	calmNoise = 36 * differenceOne * differenceOne
	// calmGain multiplies the error, because the errors of readings go together.
	calmGain = 4
	calmOne  = 256
	// calmReach is the distance in samples over which the blur reads.
	calmReach = 2
)

// calmCells returns the number of cells and their size in pixels of the guides.
func calmCells(width, height, level int) (columns, lines, size int) {
	size = calmSize >> level
	return (width + size - 1) / size, (height + size - 1) / size, size
}

// find sets the strengths from the readings in the middle of each cell.
func (c *calm) find(r *renderer, in *Interval) {
	width, height := in.GuideA.Width, in.GuideA.Height
	columns, lines, size := calmCells(width, height, in.Level)
	c.still, c.level = in.Static, in.Level
	c.means.Resize(columns, lines)
	c.errors.Resize(columns, lines)
	c.strengths.Resize(columns, lines)
	r.workers.Rows(lines, func(y0, y1 int) {
		var guesses [maxHypotheses]guess
		var readings [2 * maxHypotheses]reading
		for y := y0; y < y1; y++ {
			means, errors := c.means.Row(y), c.errors.Row(y)
			for x := range means {
				px, py := min(x*size+size/2, width-1), min(y*size+size/2, height-1)
				means[x], errors[x] = expect(r.read(&readings, r.gather(&guesses, px, py), in, px, py))
			}
		}
	})
	r.workers.Rows(lines, func(y0, y1 int) {
		down := make([]calmSums, columns)
		for y := y0; y < y1; y++ {
			c.measure(down, y)
		}
	})
}

// reading is what a neighbour shows at a place of the made frame, in 1/differenceOne grey
// level.
type reading struct{ value, weight int64 }

// read lists the readings at a pixel of the guides, weighted as render weights them.
func (r *renderer) read(list *[2 * maxHypotheses]reading, guesses []guess, in *Interval, x, y int) []reading {
	n := 0
	add := func(g frame.Image[uint8], px, py int32, share uint64) {
		weight := int64(share>>8) * outsideFactor
		if inside(g, px, py) {
			weight = int64(share>>8) * insideFactor
		}
		list[n] = reading{int64(lookup(g, px, py) >> 12), weight}
		n++
	}
	for i := range guesses {
		g := &guesses[i]
		a, b := g.parts(r.phase)
		ax := int32(x)<<positionBits - g.bend.X - toward(g.x, r.phase)
		ay := int32(y)<<positionBits - g.bend.Y - toward(g.y, r.phase)
		add(in.GuideA, ax, ay, a)
		add(in.GuideB, ax+g.x, ay+g.y, b)
	}
	return list[:n]
}

// expect returns the mean of the readings and the squared error that they let expect of it.
func expect(readings []reading) (mean, square uint32) {
	var total, sum, e int64
	for _, r := range readings {
		total, sum = total+r.weight, sum+r.weight*r.value
	}
	m := sum / total
	for _, r := range readings {
		share, d := r.weight*256/total, r.value-m
		e += share * share * d * d
	}
	return uint32(m), uint32(e >> 15)
}

// calmSums are over the surroundings of a cell.
type calmSums struct{ error, mean, square int64 }

// measure sets the strengths of row y of cells. down is scratch memory.
func (c *calm) measure(down []calmSums, y int) {
	columns, lines := c.means.Width, c.means.Height
	top, bottom := max(y-calmRadius, 0), min(y+calmRadius, lines-1)
	clear(down)
	for j := top; j <= bottom; j++ {
		errors := c.errors.Row(j)
		for x, m := range c.means.Row(j) {
			s := &down[x]
			s.error, s.mean, s.square = s.error+int64(errors[x]), s.mean+int64(m), s.square+int64(m)*int64(m)
		}
	}
	out := c.strengths.Row(y)
	for x := range out {
		var s calmSums
		left, right := max(x-calmRadius, 0), min(x+calmRadius, columns-1)
		for i := left; i <= right; i++ {
			s.error, s.mean, s.square = s.error+down[i].error, s.mean+down[i].mean, s.square+down[i].square
		}
		out[x] = 0
		n := int64((bottom - top + 1) * (right - left + 1))
		if excess := s.error/n - calmNoise; excess > 0 {
			detail := (n*s.square - s.mean*s.mean) / (n * n)
			out[x] = uint16(min(calmOne*calmGain*excess/(detail+calmNoise), calmOne))
		}
	}
}

// soften blurs a plane by the strengths. What lies still stays, and the blur of other samples
// reads none of it.
func soften[T frame.Sample](c *calm, workers frame.Workers, dst frame.Image[T], sx, sy int) {
	blurred := &c.blurred
	blurred.Resize(dst.Width, dst.Height)
	workers.Rows(dst.Height, func(y0, y1 int) {
		down := make([]uint32, dst.Width)
		for y := y0; y < y1; y++ {
			softenRow(c, blurred.Row(y), down, dst, y, sx, sy)
		}
	})
	workers.Rows(dst.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, from := dst.Row(y), blurred.Row(y)
			c.runs(y, len(row), sx, sy, func(x0, x1 int, _, _ int) {
				for x := x0; x < x1; x++ {
					row[x] = T(from[x])
				}
			})
		}
	})
}

// softenRow sets the samples of out in the runs of row y. down is scratch memory.
func softenRow[T frame.Sample](c *calm, out []uint16, down []uint32, dst frame.Image[T], y, sx, sy int) {
	last, end := dst.Height-1, len(out)-1
	rows := [5][]T{dst.Row(max(y-2, 0)), dst.Row(max(y-1, 0)), dst.Row(y), dst.Row(min(y+1, last)), dst.Row(min(y+2, last))}
	made := 0 // columns of down
	across := calmBits - sx
	c.runs(y, len(out), sx, sy, func(x0, x1, left, right int) {
		for made = max(made, x0-calmReach); made < min(x1+calmReach, len(out)); made++ {
			i := made
			down[i] = uint32(rows[0][i]) + uint32(rows[4][i]) + 4*(uint32(rows[1][i])+uint32(rows[3][i])) + 6*uint32(rows[2][i])
		}
		// The sums of a run, and the strength, which changes by a step from sample to sample.
		_, part := cellBefore(x0, 1<<across)
		strength, step := left*(2<<across-part)+right*part, 2*(right-left)
		near := c.lying(x0-calmReach, x1+calmReach, y, dst.Width, dst.Height, sx, sy)
		for x := x0; x < x1; x++ {
			var sum uint32
			switch {
			case near:
				sum = sparing(c, dst, x, y, sx, sy)
			case x < calmReach || x+calmReach > end:
				sum = down[max(x-2, 0)] + down[min(x+2, end)] + 4*(down[max(x-1, 0)]+down[min(x+1, end)]) + 6*down[x]
			default:
				d := down[x-calmReach : x+calmReach+1 : x+calmReach+1]
				sum = d[0] + d[4] + 4*(d[1]+d[3]) + 6*d[2]
			}
			k := uint32(strength) >> (1 + across)
			out[x] = uint16((uint32(rows[2][x])*(calmOne-k) + (sum+128)>>8*k + calmOne/2) / calmOne)
			strength += step
		}
	})
}

// lying says whether anything lies still within calmReach rows of row y, in the columns from x0 to
// x1.
func (c *calm) lying(x0, x1, y, width, height, sx, sy int) bool {
	if c.still.Height == 0 {
		return false
	}
	left, right := max(x0, 0)<<sx>>c.level, (min(x1, width)-1)<<sx>>c.level
	top, bottom := max(y-calmReach, 0)<<sy>>c.level, min(y+calmReach, height-1)<<sy>>c.level
	for j := top; j <= bottom; j++ {
		for _, v := range c.still.Row(j)[left : right+1] {
			if v != 0 {
				return true
			}
		}
	}
	return false
}

// sparing returns 256 times the blurred sample at (x, y), which counts in place of samples
// that lie still. Such a sample itself stays.
func sparing[T frame.Sample](c *calm, dst frame.Image[T], x, y, sx, sy int) (sum uint32) {
	lies := func(x, y int) bool { return c.still.Row(y << sy >> c.level)[x<<sx>>c.level] != 0 }
	own := uint32(dst.Row(y)[x])
	if lies(x, y) {
		return own << 8
	}
	taps := [5]uint32{1, 4, 6, 4, 1}
	for j, down := range taps {
		py := min(max(y+j-2, 0), dst.Height-1)
		for i, across := range taps {
			px := min(max(x+i-2, 0), dst.Width-1)
			v := own
			if !lies(px, py) {
				v = uint32(dst.Row(py)[px])
			}
			sum += down * across * v
		}
	}
	return sum
}

// runs calls f for the runs of samples in row y of a plane that lie between two cells of which one
// has a strength, with the strengths of both at that row.
func (c *calm) runs(y, width, sx, sy int, f func(x0, x1, left, right int)) {
	w, h := calmSize>>sx, calmSize>>sy
	columns, lines := c.strengths.Width, c.strengths.Height
	cy, part := cellBefore(y, h)
	upper, lower := c.strengths.Row(max(cy, 0)), c.strengths.Row(min(cy+1, lines-1))
	at := func(cx int) int {
		return (int(upper[cx])*(2*h-part) + int(lower[cx])*part) / (2 * h)
	}
	left := at(0)
	for cx := -1; cx < columns; cx++ {
		right := at(min(cx+1, columns-1))
		x0, x1 := max(cx*w+w/2, 0), min((cx+1)*w+w/2, width)
		if left|right != 0 && x0 < x1 {
			f(x0, x1, left, right)
		}
		left = right
	}
}
