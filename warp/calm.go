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
	blurred       frame.Image[uint16] // the blurred samples of a plane, within the spans
	spans         [][]calmSpan        // the parts that change of the rows between lines i-1 and i of cells
	still         frame.Image[uint8]  // the certainty that a pixel of the guides lies still, up to calmStill; may be empty
	guides        [2]frame.Image[uint8]
	level         int // of the guides
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
	// calmStill is the certainty from which on a pixel lies still. Less than that is the soft edge
	// of what lies still, or something that moves before a still background.
	calmStill = 255
	// calmReach is the distance in samples over which the blur reads.
	calmReach = 2
)

// calmCells returns the number of cells for guides of a size.
func calmCells(width, height, level int) (columns, lines int) {
	size := calmSize >> level
	return (width + size - 1) / size, (height + size - 1) / size
}

// begin prepares for the rendering of a frame, which calls expectRow.
func (c *calm) begin(in *Interval) {
	columns, lines := calmCells(in.GuideA.Width, in.GuideA.Height, in.Level)
	c.guides, c.still, c.level = [2]frame.Image[uint8]{in.GuideA, in.GuideB}, in.Static, in.Level
	c.means.Resize(columns, lines)
	c.errors.Resize(columns, lines)
	c.strengths.Resize(columns, lines)
}

// find sets the strengths from the means and the errors, and the spans.
func (c *calm) find(workers frame.Workers) {
	workers.Rows(c.means.Height, func(y0, y1 int) {
		down := make([]calmSums, c.means.Width)
		for y := y0; y < y1; y++ {
			c.measure(down, y)
		}
	})
	c.findSpans()
}

// expectRow sets the means and the errors of the cells whose middle row is y of the guides' grid.
// The guesses of pixel x end at ends[x].
func (c *calm) expectRow(r *renderer, guesses []guess, ends []int, y int) {
	width, height := c.guides[0].Width, c.guides[0].Height
	size := calmSize >> c.level
	line := y / size
	if y != min(line*size+size/2, height-1) {
		return
	}
	var readings [2 * maxHypotheses]reading
	means, errors := c.means.Row(line), c.errors.Row(line)
	for x := range means {
		px, first := min(x*size+size/2, width-1), 0
		if px > 0 {
			first = ends[px-1]
		}
		means[x], errors[x] = expect(c.read(&readings, guesses[first:ends[px]], r.phase, px, y))
	}
}

// reading is what a neighbour shows at a place of the made frame, in 1/differenceOne grey
// level.
type reading struct{ value, weight int64 }

// read lists the readings at a pixel of the guides, weighted as render weights them.
func (c *calm) read(list *[2 * maxHypotheses]reading, guesses []guess, phase Phase, x, y int) []reading {
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
		a, b := g.parts(phase)
		ax := int32(x)<<positionBits - g.bend.X - toward(g.x, phase)
		ay := int32(y)<<positionBits - g.bend.Y - toward(g.y, phase)
		add(c.guides[0], ax, ay, a)
		add(c.guides[1], ax+g.x, ay+g.y, b)
	}
	return list[:n]
}

// expect returns the mean of the readings and the squared error that they let expect of it.
func expect(readings []reading) (mean, square uint32) {
	var total, sum, e int64
	for _, r := range readings {
		total, sum = total+r.weight, sum+r.weight*r.value
	}
	if total == 0 {
		return 0, 0
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
		left, right := max(x-calmRadius, 0), min(x+calmRadius, columns-1)
		n := int64((bottom - top + 1) * (right - left + 1))
		out[x] = 0
		var s calmSums
		for i := left; i <= right; i++ {
			s.error += down[i].error
		}
		if s.error < n*(calmNoise+1) { // as in most cells
			continue
		}
		for i := left; i <= right; i++ {
			s.mean, s.square = s.mean+down[i].mean, s.square+down[i].square
		}
		excess, detail := s.error/n-calmNoise, (n*s.square-s.mean*s.mean)/(n*n)
		out[x] = uint16(min(calmOne*calmGain*excess/(detail+calmNoise), calmOne))
	}
}
