package parts

import (
	"image"
	"math"
	"slices"
)

// run is a piece of a line: marks to one side in a row of pixels.
type run struct {
	box    image.Rectangle
	n, sum int
	below  bool // whether the pixels are too dark
}

// Marks of a run are at most runGap apart, at least runMarks, and runShare of its pixels. A line is at most lineHeight high, at least
// lineLong times as long, and shortest pixels; next to it there is at most lineBeside of what is marked in a row of it.
const (
	runGap     = 8
	runMarks   = 6
	runShare   = 2.0 / 3
	lineHeight = 6
	lineLong   = 3
	shortest   = 10
	lineBeside = 0.5
)

// lines returns lines, and takes their marks away.
func (d *Detector) lines(a, c, b *picture) (list []candidate) {
	for _, r := range d.stacks() {
		w, h := r.box.Dx(), r.box.Dy()
		if h > lineHeight || w < lineLong*h || w < shortest || d.enters(r.box, true) {
			continue
		}
		beside := float64(max(d.weigh(r.box, r.box.Min.Y-2), d.weigh(r.box, r.box.Max.Y))*h) / float64(2*r.sum)
		if beside > lineBeside {
			continue
		}
		p := component{box: r.box, pixels: r.n, weight: r.sum}
		unknown := 0.0
		if d.compare(a, c, b, &p); p.off == 1 && p.unlike == 1 {
			p.off, unknown = 0, 1
		}
		k := candidate{kind: Dropout, sort: lineSort, box: r.box, weight: r.sum, measures: []float64{
			math.Log(float64(w)), float64(r.n) / float64(w*h), math.Log(float64(r.sum) / float64(r.n)), beside, 1, min(p.off, 1), unknown,
		}}
		if d.settle(a, c, b, &k, 4); !k.hopeless {
			d.extend(a, c, b, &p)
			k.extent = p.box
		}
		list = append(list, k)
	}
	for _, k := range list {
		if !k.hopeless {
			d.unmark(k.box)
		}
	}
	return list
}

// weigh returns the sum of the marks below or above box, in two rows from y on.
func (d *Detector) weigh(box image.Rectangle, y int) (sum int) {
	for y, end := max(y, 0), min(y+2, d.marks.Height); y < end; y++ {
		for _, v := range d.marks.Row(y)[box.Min.X:box.Max.X] {
			sum += max(int(v), -int(v))
		}
	}
	return sum
}

// stacks returns the runs of all rows, those on top of each other joined.
func (d *Detector) stacks() (done []run) {
	var open []run
	for y := range d.marks.Height {
		var next []run
		if d.marked[y/cellHeight] != 0 {
			next = runs(d.marks.Row(y), y)
		}
		for i := range next {
			r := &next[i]
			k := slices.IndexFunc(open, func(o run) bool {
				overlap := min(o.box.Max.X, r.box.Max.X) - max(o.box.Min.X, r.box.Min.X)
				return o.below == r.below && 2*overlap >= max(o.box.Dx(), r.box.Dx())
			})
			if k >= 0 {
				r.box, r.n, r.sum = r.box.Union(open[k].box), r.n+open[k].n, r.sum+open[k].sum
				open = slices.Delete(open, k, k+1)
			}
		}
		done = append(done, open...)
		open = next
	}
	return append(done, open...)
}

// runs returns the runs of a row.
func runs(row []int8, y int) (list []run) {
	var r run
	end := func() {
		if r.n >= runMarks && float64(r.n) >= runShare*float64(r.box.Dx()) {
			list = append(list, r)
		}
		r = run{}
	}
	for x, v := range row {
		if v == 0 {
			if r.n > 0 && x-r.box.Max.X >= runGap {
				end()
			}
			continue
		}
		if r.n > 0 && r.below != (v < 0) {
			end()
		}
		if r.n == 0 {
			r.below, r.box = v < 0, image.Rect(x, y, x, y+1)
		}
		r.box.Max.X = x + 1
		r.n++
		r.sum += max(int(v), -int(v))
	}
	end()
	return list
}

// A line goes on, in pieces of pieceWidth pixels, where its rows are off by more than faint grey levels in the mean and by
// faintly times as much as the rows next to them, to the same side; pieces that say nothing do not end it unless they
// are more than silent in a row.
const (
	pieceWidth = 8
	faint      = 3
	faintly    = 3
	silent     = 12
)

// extend lets a line go on to where it is seen less plainly.
func (d *Detector) extend(a, c, b *picture, p *component) {
	side := 1
	if d.offset(a, c, b, p.box.Min.X, p.box.Max.X, p.box.Min.Y, p.box.Max.Y) < 0 {
		side = -1
	}
	goesOn := func(x int) bool {
		at := func(y0, y1 int) int { return side * d.offset(a, c, b, x, x+pieceWidth, y0, y1) }
		here := at(p.box.Min.Y, p.box.Max.Y)
		beside := max(at(p.box.Min.Y-2, p.box.Min.Y-1), at(p.box.Max.Y+1, p.box.Max.Y+2), 0)
		return here > faint*unitOffset && here > faintly*beside
	}
	for x, quiet := p.box.Max.X, 0; x+pieceWidth <= c.Width && quiet <= silent; x += pieceWidth {
		if quiet++; goesOn(x) {
			quiet, p.box.Max.X = 0, x+pieceWidth
		}
	}
	for x, quiet := p.box.Min.X-pieceWidth, 0; x >= 0 && quiet <= silent; x -= pieceWidth {
		if quiet++; goesOn(x) {
			quiet, p.box.Min.X = 0, x
		}
	}
	if c.Width-p.box.Max.X < pieceWidth {
		p.box.Max.X = c.Width
	}
	if p.box.Min.X < pieceWidth {
		p.box.Min.X = 0
	}
}

// unitOffset is a grey level of offset.
const unitOffset = 16

// offset returns by how much c is above what a and b have along the motion, in sixteenths of a grey level in the mean; 0
// where the motion is not known.
func (d *Detector) offset(a, c, b *picture, x0, x1, y0, y1 int) int {
	columns, _ := grid(c.Image)
	sum, n := 0, 0
	for y := max(y0, 0); y < min(y1, c.Height); y++ {
		row := c.Row(y)
		for x := x0; x < min(x1, c.Width); x++ {
			v := d.vectors[y/cellHeight*columns+x/cellWidth]
			xa, ya, xb, yb := x-v.x, y-v.y, x+v.x, y+v.y
			if !v.known || min(xa, ya, xb, yb) < 0 || max(xa, xb) >= c.Width || max(ya, yb) >= c.Height {
				continue
			}
			e, f := int(a.Row(ya)[xa]), int(b.Row(yb)[xb])
			w := int(row[x])
			n++
			if w > max(e, f) {
				sum += w - max(e, f)
			} else if w < min(e, f) {
				sum -= min(e, f) - w
			}
		}
	}
	return unitOffset * sum / max(n, 1)
}

// unmark takes the marks in box away.
func (d *Detector) unmark(box image.Rectangle) {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		clear(d.marks.Row(y)[box.Min.X:box.Max.X])
	}
}
