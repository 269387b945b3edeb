package warp

import (
	"fmt"
	"math"

	"retime/flow"
	"retime/frame"
)

// SplatOne is the weight that a pixel of photometric weight 1 spreads over the four
// pixels around its landing.
const SplatOne = positionOne * positionOne

// Motion holds the destination of each pixel of a picture and its weight. The images
// have the size of the picture.
type Motion struct {
	// Flow is the motion of each pixel. Phase is the part of it that is travelled, at
	// most PhaseOne, rounded to 1/256 pixel with ties up.
	Flow  flow.Field
	Phase Phase
	// Weight is the photometric weight of each pixel; pixels of weight 0 are left out.
	// The empty image means 1 everywhere.
	Weight frame.Image[uint16]
}

// A Splatter moves pixels forward: bilinear splatting with summation, section 4 of J.
// Rosner, H. Fassold, P. Schallauer and W. Bailer, "Fast GPU-based image warping and
// inpainting for frame interpolation", GravisMa workshop, 2010.
//
// A pixel that lands at a fraction (fx, fy) of 1/256 beyond another adds itself to that
// pixel and the three to the right and below, with the weights
//
//	(256-fx)(256-fy), fx(256-fy), (256-fx)fy, fx fy
//
// times its photometric weight. Parts that fall outside the picture are dropped. The
// result at a pixel is the weighted mean of the parts that it received, to the nearest
// integer with ties away from zero, exactly: sums that might exceed 64 bits are
// computed in 128. A pixel that received less than a given weight, or none, is a hole.
// The Splatter sets holes to 0 and their mask to 255; the mask is 0 elsewhere.
//
// The zero value is ready for use. A Splatter keeps its scratch memory between calls.
// Only one goroutine at a time may use it.
type Splatter struct {
	Workers frame.Workers

	targets targets
	unused  spares[band]
}

// band holds the sums of some rows of the destination. A frame of one pixel around the
// rows takes the parts that fall just outside, so that no corner of a splat needs a
// test of its own.
type band struct {
	width, y0, y1 int // columns, and rows [y0, y1)
	samples       []sampleSum
	vectors       []vectorSum
	wide          []wideSum
}

// bandRows is the height of a band. The sums of a band 1920 pixels wide take 0.8 MB.
const bandRows = 32

// bands calls f with bands that cover [0, height), from several goroutines.
func (s *Splatter) bands(width, height int, f func(b *band)) {
	s.Workers.Rows(height, func(y0, y1 int) {
		b := s.unused.take()
		if b == nil {
			b = new(band)
		}
		for ; y0 < y1; y0 += bandRows {
			b.width, b.y0, b.y1 = width, y0, min(y0+bandRows, y1)
			f(b)
		}
		s.unused.give(b)
	})
}

// stride returns the distance between rows of sums.
func (b *band) stride() int { return b.width + 2 }
func (b *band) size() int   { return b.stride() * (b.y1 - b.y0 + 2) }

// row returns the sums of row y without the frame around them.
func row[E any](b *band, sums []E, y int) []E {
	o := (y-b.y0+1)*b.stride() + 1
	return sums[o : o+b.width]
}

// flight maps the pixels of a row to the sums of a band.
type flight struct {
	left, top      int64 // start of the first pixel, in 1/256 pixel of the sums
	columns, lines uint64
	stride         int
	phase          Phase
}

func (b *band) flight(x, y int, phase Phase) flight {
	return flight{
		int64(x+1) << positionBits, int64(y-b.y0+1) << positionBits,
		uint64(b.width), uint64(b.y1 - b.y0), b.stride(), phase,
	}
}

// land returns the landing of pixel i of the row with vector v: the index of the upper
// left one of four sums and the fractions beyond it in 1/256. It returns false if the
// landing is outside the band.
func (f *flight) land(i int, v flow.Vec) (at int, fx, fy uint64, ok bool) {
	px := f.left + int64(i)<<positionBits + int64(toward(v.X, f.phase))
	py := f.top + int64(toward(v.Y, f.phase))
	column, line := uint64(px>>positionBits), uint64(py>>positionBits)
	return int(line)*f.stride + int(column), uint64(px) % positionOne, uint64(py) % positionOne,
		column <= f.columns && line <= f.lines
}

// spread divides weight between two pixels by the fraction f/256.
func spread(weight, f uint64) (near, far uint64) {
	far = weight * f
	return weight*positionOne - far, far
}

// weightRow returns the weights of columns [x0, x1) of row y.
func (m *Motion) weightRow(y, x0, x1 int) []uint16 {
	if m.Weight.Pix == nil {
		return ones[:x1-x0]
	}
	return m.Weight.Row(y)[x0:x1]
}

var ones = func() (w [runWidth]uint16) {
	for i := range w {
		w[i] = 1
	}
	return w
}()

// check panics unless all images have one size.
func (m *Motion) check(src, dst, holes [2]int) {
	size := [2]int{m.Flow.Width, m.Flow.Height}
	weight := size
	if m.Weight.Pix != nil {
		weight = [2]int{m.Weight.Width, m.Weight.Height}
	}
	if src != size || dst != size || holes != size || weight != size {
		panic(fmt.Sprintf("warp: splat: flow %v, weights %v, source %v, destination %v, holes %v differ in size",
			size, weight, src, dst, holes))
	}
	if m.Phase > PhaseOne {
		panic(fmt.Sprintf("warp: splat: phase %d of %d", m.Phase, PhaseOne))
	}
}

// cellWidth is the number of neighbouring pixels of a row that form a cell.
const cellWidth = 64

// runWidth is the largest number of neighbouring pixels that are added at once.
const runWidth = 16 * cellWidth

// targets records the rows to which each cell of a picture may add, so that a band
// reads few other cells. It depends on the motion alone.
type targets struct {
	width, height, columns int
	rows                   []span
	cells                  []span // columns for each row
}

// span is the range of rows from first to last, inclusive.
type span struct{ first, last int32 }

func (s span) meets(y0, y1 int) bool { return int(s.first) < y1 && int(s.last) >= y0 }

// find sets r to the rows that pixels reach by m.
func (r *targets) find(workers frame.Workers, m *Motion) {
	r.width, r.height = m.Flow.Width, m.Flow.Height
	r.columns = (r.width + cellWidth - 1) / cellWidth
	r.rows = frame.Resize(r.rows, r.height)
	r.cells = frame.Resize(r.cells, r.height*r.columns)
	workers.Rows(r.height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			cells := r.cells[y*r.columns:][:r.columns]
			loops.extents(cells, m.Flow.Row(y))
			all := span{math.MaxInt32, math.MinInt32}
			for c, v := range cells {
				// toward grows with the vector, so the extremes of the vectors give the
				// extremes of the cell.
				s := span{
					r.clampRow(int64(y) + int64(toward(v.first, m.Phase)>>positionBits)),
					r.clampRow(int64(y) + int64(toward(v.last, m.Phase)>>positionBits) + 1),
				}
				cells[c] = s
				all.first, all.last = min(all.first, s.first), max(all.last, s.last)
			}
			r.rows[y] = all
		}
	})
}

// extents sets cells to the least and the largest vertical components of a row of vectors.
func extents(cells []span, vectors []flow.Vec) {
	for c := range cells {
		s := span{math.MaxInt32, math.MinInt32}
		for _, v := range vectors[c*cellWidth : min(len(vectors), (c+1)*cellWidth)] {
			s.first, s.last = min(s.first, v.Y), max(s.last, v.Y)
		}
		cells[c] = s
	}
}

func (r *targets) clampRow(y int64) int32 { return int32(min(max(y, -1), int64(r.height))) }

// visit calls f for the parts of rows, at most runWidth long, that may add to the rows of
// b.
func (r *targets) visit(b *band, f func(y, x0, x1 int)) {
	for y, s := range r.rows {
		if !s.meets(b.y0, b.y1) {
			continue
		}
		cells := r.cells[y*r.columns : (y+1)*r.columns]
		for c := 0; c < len(cells); c++ {
			first := c
			for c < len(cells) && c-first < runWidth/cellWidth && cells[c].meets(b.y0, b.y1) {
				c++
			}
			if c > first {
				f(y, first*cellWidth, min(r.width, c*cellWidth))
			}
			if c-first == runWidth/cellWidth {
				c-- // this cell begins the next run
			}
		}
	}
}
