package parts

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
