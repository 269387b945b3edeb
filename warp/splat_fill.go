package warp

import (
	"bytes"

	"retime/flow"
	"retime/frame"
)

// A FlowFiller gives vectors to the holes of a flow. It takes one fast pass over the
// mask, and further time in proportion to the area of the holes. The zero value is
// ready for use. A FlowFiller keeps its scratch memory between calls. Only one
// goroutine at a time may use it.
type FlowFiller struct {
	Workers frame.Workers

	runs []holeRun
	// above and below hold, for each hole pixel, the nearest rows of its column that
	// have a vector, or -1 and the height if there are none.
	above, below []int32
	column       []int32
	envelope     []parabola
}

// holeRun is a run of hole pixels, columns [x0, x1) of row y. Hole pixels have numbers
// in raster order; first is the number of the pixel at x0.
type holeRun struct{ y, x0, x1, first int }

// Nearest replaces every vector of f with a nonzero mask in holes by the nearest vector
// with a zero mask, by Euclidean distance. Of equally near vectors it takes the one
// furthest left, and of those the uppermost. If the mask has no zero, all vectors
// become zero.
func (r *FlowFiller) Nearest(f flow.Field, holes frame.Image[uint8]) {
	r.find(holes)
	r.Workers.Rows(len(r.runs), func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			r.nearest(f, i)
		}
	})
}

// find lists the runs of hole pixels and the nearest rows of the pixels.
func (r *FlowFiller) find(holes frame.Image[uint8]) {
	r.runs = r.runs[:0]
	count := 0
	for y := range holes.Height {
		mask := holes.Row(y)
		for x := 0; ; {
			x += frame.LeadingZeros(mask[x:])
			if x == len(mask) {
				break
			}
			n := bytes.IndexByte(mask[x:], 0)
			if n < 0 {
				n = len(mask) - x
			}
			r.runs = append(r.runs, holeRun{y, x, x + n, count})
			count += n
			x += n
		}
	}
	r.above, r.below = frame.Resize(r.above, count), frame.Resize(r.below, count)
	r.column = frame.Resize(r.column, holes.Width)
	for _, h := range r.runs {
		for x := h.x0; x < h.x1; x++ {
			if h.y == 0 {
				r.column[x] = -1
			} else if holes.Pix[(h.y-1)*holes.Stride+x] == 0 {
				r.column[x] = int32(h.y - 1)
			}
			r.above[h.first+x-h.x0] = r.column[x]
		}
	}
	for i := len(r.runs) - 1; i >= 0; i-- {
		h := r.runs[i]
		for x := h.x0; x < h.x1; x++ {
			if h.y == holes.Height-1 {
				r.column[x] = int32(holes.Height)
			} else if holes.Pix[(h.y+1)*holes.Stride+x] == 0 {
				r.column[x] = int32(h.y + 1)
			}
			r.below[h.first+x-h.x0] = r.column[x]
		}
	}
	// A run needs a parabola for each of its columns and for the two columns beside it.
	r.envelope = frame.Resize(r.envelope, count+2*len(r.runs))
}

// parabola is the squared distance from pixel x of a row to the vector at (column,
// row): (x-column)^2 + height^2. It belongs to the lower envelope from x = from on.
type parabola struct{ from, column, row, height int32 }

func (p *parabola) at(x int32) int32 { return (x-p.column)*(x-p.column) + p.height*p.height }

// nearest fills a run by the lower envelope of the parabolas of its columns, after A.
// Meijster, J. Roerdink and W. Hesselink, "A general algorithm for computing distance
// transforms in linear time", Mathematical Morphology and its Applications to Image and
// Signal Processing, 2000. The vectors at the run's ends are nearer than any beyond the
// ends.
func (r *FlowFiller) nearest(f flow.Field, i int) {
	h := r.runs[i]
	e := r.envelope[h.first+2*i:][:h.x1-h.x0+2]
	n := 0
	add := func(column, row, height int) {
		p := parabola{int32(h.x0), int32(column), int32(row), int32(height)}
		for n > 0 && e[n-1].at(e[n-1].from) > p.at(e[n-1].from) {
			n--
		}
		if n > 0 {
			// p begins beyond the last place at which the parabola on its left is not
			// further.
			q := &e[n-1]
			p.from = 1 + (p.at(0)-q.at(0))/(2*(p.column-q.column))
		}
		if int(p.from) < h.x1 {
			e[n] = p
			n++
		}
	}
	if h.x0 > 0 {
		add(h.x0-1, h.y, 0)
	}
	for x := h.x0; x < h.x1; x++ {
		above, below := int(r.above[h.first+x-h.x0]), int(r.below[h.first+x-h.x0])
		switch {
		case above >= 0 && (below == f.Height || h.y-above <= below-h.y):
			add(x, above, h.y-above)
		case below < f.Height:
			add(x, below, below-h.y)
		}
	}
	if h.x1 < f.Width {
		add(h.x1, h.y, 0)
	}
	row := f.Row(h.y)
	if n == 0 {
		clear(row[h.x0:h.x1])
		return
	}
	for x := h.x1 - 1; x >= h.x0; x-- {
		for int(e[n-1].from) > x {
			n--
		}
		p := &e[n-1]
		row[x] = f.Pix[int(p.row)*f.Stride+int(p.column)]
	}
}
