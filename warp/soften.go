package warp

import "retime/frame"

// calmSpan is a part of a row of samples: from the centre of cell from, which may be -1, to that
// of cell to, or to the ends of the row. C has the same layout.
type calmSpan struct{ from, to int32 }

// findSpans sets spans[i] to those of the rows between lines i-1 and i of cells near which a cell
// has a strength.
func (c *calm) findSpans() {
	columns, lines := c.strengths.Width, c.strengths.Height
	for len(c.spans) <= lines {
		c.spans = append(c.spans, nil)
	}
	c.spans = c.spans[:lines+1]
	for i := range c.spans {
		upper, lower := c.strengths.Row(max(i-1, 0)), c.strengths.Row(min(i, lines-1))
		list := c.spans[i][:0]
		for x := range int32(columns) {
			if upper[x]|lower[x] == 0 {
				continue
			}
			if last := len(list) - 1; last >= 0 && list[last].to >= x-1 {
				list[last].to = x + 1
			} else {
				list = append(list, calmSpan{x - 1, x + 1})
			}
		}
		c.spans[i] = list
	}
}

// eachLine calls f for the rows [y0, y1) of a plane that lie between lines i-1 and i of cells,
// unless no sample changes there.
func (c *calm) eachLine(workers frame.Workers, height, sy int, f func(spans []calmSpan, y0, y1 int)) {
	size := calmSize >> sy
	workers.Rows(len(c.spans), func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			y0, y1 := max(i*size-size/2, 0), min(i*size+size/2, height)
			if len(c.spans[i]) > 0 && y0 < y1 {
				f(c.spans[i], y0, y1)
			}
		}
	})
}

// columns returns the samples [x0, x1) of a span.
func (s calmSpan) columns(width, sx int) (x0, x1 int) {
	size := calmSize >> sx
	return max(int(s.from)*size+size/2, 0), min(int(s.to)*size+size/2, width)
}

// soften blurs a plane by the strengths. What lies still stays, and the blur of other samples
// reads none of it.
func soften[T frame.Sample](c *calm, workers frame.Workers, dst frame.Image[T], sx, sy int) {
	c.blurred.Resize(dst.Width, dst.Height)
	c.eachLine(workers, dst.Height, sy, func(spans []calmSpan, y0, y1 int) {
		switch dst := any(dst).(type) {
		case frame.Image[uint8]:
			loops.soften8(c, dst, spans, sx, sy, y0, y1)
		case frame.Image[uint16]:
			loops.soften16(c, dst, spans, sx, sy, y0, y1)
		}
	})
	c.eachLine(workers, dst.Height, sy, func(spans []calmSpan, y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, from := dst.Row(y), c.blurred.Row(y)
			for _, s := range spans {
				x0, x1 := s.columns(len(row), sx)
				for x := x0; x < x1; x++ {
					row[x] = T(from[x])
				}
			}
		}
	})
}

// softenRows sets the spans of rows [y0, y1) of c.blurred, which lie between the same two lines
// of cells.
func softenRows[T frame.Sample](c *calm, src frame.Image[T], spans []calmSpan, sx, sy, y0, y1 int) {
	scratch := make([]uint32, 2*(src.Width+2*calmReach))
	for y := y0; y < y1; y++ {
		for _, s := range spans {
			softenSpan(c, scratch, src, s, y, sx, sy)
		}
	}
}

// binomialTaps add up to 16.
var binomialTaps = [2*calmReach + 1]uint32{1, 4, 6, 4, 1}

// softenSpan sets the samples of a span of row y.
//
// A sample that lies still counts as the sample at the centre, whose share is then the sum of the
// taps that it stands for.
func softenSpan[T frame.Sample](c *calm, scratch []uint32, src frame.Image[T], s calmSpan, y, sx, sy int) {
	width, height := src.Width, src.Height
	x0, x1 := s.columns(width, sx)
	if x0 >= x1 {
		return
	}
	// The columns that the blur reads; those beyond the ends repeat the last ones.
	n, first, end := x1-x0+2*calmReach, max(x0-calmReach, 0), min(x1+calmReach, width)
	down, own := scratch[:n], scratch[n:2*n]
	clear(down)
	clear(own)
	at := first - (x0 - calmReach)
	inner, kept := down[at:], own[at:]
	for j, tap := range binomialTaps {
		py := min(max(y+j-calmReach, 0), height-1)
		row, lies := src.Row(py)[first:end], c.lying(py, sy)
		if lies == nil {
			for i, v := range row {
				inner[i] += tap * uint32(v)
			}
			continue
		}
		for i, v := range row {
			if lies[(first+i)<<sx>>c.level] >= calmStill {
				kept[i] += tap
			} else {
				inner[i] += tap * uint32(v)
			}
		}
	}
	for i := range calmReach {
		if x := x0 - calmReach + i; x < 0 {
			down[i], own[i] = inner[0], kept[0]
		}
		if x := x1 + i; x >= width {
			down[n-calmReach+i], own[n-calmReach+i] = inner[end-first-1], kept[end-first-1]
		}
	}
	row, out, lies := src.Row(y), c.blurred.Row(y), c.lying(y, sy)
	size := calmSize >> sx
	right := c.strengthAt(int(s.from), y, sy)
	for cell := int(s.from); cell < int(s.to); cell++ {
		left := right
		right = c.strengthAt(cell+1, y, sy)
		for x := max(cell*size+size/2, 0); x < min((cell+1)*size+size/2, width); x++ {
			v := uint32(row[x])
			if lies != nil && lies[x<<sx>>c.level] >= calmStill {
				out[x] = uint16(v)
				continue
			}
			var sum, share uint32
			for i, tap := range binomialTaps {
				sum += tap * down[x-x0+i]
				share += tap * own[x-x0+i]
			}
			part := 2*x + 1 - size - cell*2*size
			k := uint32(left*(2*size-part)+right*part) / uint32(2*size)
			out[x] = uint16((v*(calmOne-k) + (sum+share*v+128)>>8*k + calmOne/2) / calmOne)
		}
	}
}

// strengthAt returns the strength at the centre of a column of cells, which repeat beyond the
// ends, in row y.
func (c *calm) strengthAt(column, y, sy int) int {
	size := calmSize >> sy
	upper, part := cellBefore(y, size)
	column = min(max(column, 0), c.strengths.Width-1)
	a, b := c.strengths.Row(max(upper, 0))[column], c.strengths.Row(min(upper+1, c.strengths.Height-1))[column]
	return (int(a)*(2*size-part) + int(b)*part) / (2 * size)
}

// lying returns the row of the certainties that row y of a plane has, or nil.
func (c *calm) lying(y, sy int) []uint8 {
	if c.still.Height == 0 {
		return nil
	}
	return c.still.Row(y << sy >> c.level)
}
