package parts

import (
	"image"

	"retime/frame"
	"retime/pipeline/restore/swar"
)

// grid is the number of cells of a picture.
func grid(m frame.Image[uint8]) (columns, rows int) {
	return (m.Width + cellWidth - 1) / cellWidth, (m.Height + cellHeight - 1) / cellHeight
}

// step is by how many grey levels a pixel must lie outside its neighbours' range to count, and leastWeight the sum of such steps of a speck.
const (
	step        = 16
	leastWeight = 140
)

// suspicious is how many pixels of a cell must lie outside for a second look.
const suspicious = 3

// mostAreas is how many areas of a picture are looked at; a picture with more of them, or in which more than mostMarked
// of the pixels count, shows something else.
const (
	mostAreas  = 200
	mostMarked = 0.15
)

// judge returns what is seen in c, between a and b.
func (d *Detector) judge(a, c, b *picture) (s sight) {
	columns, rows := grid(c.Image)
	if d.vectors == nil {
		d.vectors = make([]vector, columns*rows)
		d.marks = frame.NewImage[int8](c.Width, c.Height)
		d.marked = make([]int, rows)
	}
	c, s.spots = lit(a, c, b)
	s.number = d.count - 2
	s.stir = make([]uint16, columns*rows)
	d.now = s.stir
	strays := make([]int, columns*rows)
	d.workers.Rows(rows, func(r0, r1 int) {
		for r := r0; r < r1; r++ {
			counts := strays[r*columns : (r+1)*columns]
			y1 := min((r+1)*cellHeight, c.Height)
			for y := r * cellHeight; y < y1; y++ {
				if d.marked[r] > 0 {
					clear(d.marks.Row(y))
				}
				countOutside(counts, a.Row(y), c.Row(y), b.Row(y))
			}
			d.marked[r] = 0
			vectors := d.vectors[r*columns : (r+1)*columns]
			left := vector{}
			for i, n := range counts {
				if n < suspicious {
					vectors[i] = vector{known: true}
					continue
				}
				v := search(a.Image, b.Image, i*cellWidth, r*cellHeight, left, vectors[i])
				vectors[i], left = v, v
				n, sum := d.mark(a, c, b, i*cellWidth, r*cellHeight, v)
				d.marked[r] += n
				s.stir[r*columns+i] = uint16(sum)
			}
		}
	})
	total := 0
	for _, n := range d.marked {
		total += n
	}
	shifted := d.jitter(a, c, b, strays)
	if shifted != nil {
		s.areas = append(s.areas, *shifted)
	}
	if total == 0 || float64(total) > mostMarked*float64(c.Width*c.Height) {
		return s
	}
	s.areas = append(s.areas, d.lines(a, c, b)...)
	s.areas = append(s.areas, d.blocks(a, c, b)...)
	s.areas = append(s.areas, d.specks(a, c, b)...)
	return s
}

// specks returns the groups of marks that are left.
func (d *Detector) specks(a, c, b *picture) []candidate {
	list := d.components()
	if len(list) > mostAreas {
		return nil
	}
	var areas []candidate
	for i := range list {
		p := &list[i]
		if d.compare(a, c, b, p); p.off > loosely || p.unlike > loosely || d.enters(p.box, false) {
			continue
		}
		if k := classify(p, c.Width); k.kind != "" {
			d.settle(a, c, b, &k, 4)
			areas = append(areas, k)
		}
	}
	return areas
}

// edge is how near, in pixels, the picture's sides are to what may just have entered it.
const edge = 8

// enters reports whether an area may be content that enters the picture or leaves it. A line does not at its ends.
func (d *Detector) enters(box image.Rectangle, line bool) bool {
	mid := box.Min.Add(box.Max).Div(2)
	v := d.at(mid.X, mid.Y)
	if v.x == 0 && v.y == 0 {
		return false
	}
	if !line && (box.Min.X < edge || box.Max.X > d.marks.Width-edge) {
		return true
	}
	return v.y != 0 && (box.Min.Y < edge || box.Max.Y > d.marks.Height-edge)
}

// countOutside adds to each cell's count the pixels of a row that lie outside the range of those before and after by
// more than step.
func countOutside(counts []int, a, c, b []uint8) {
	for i := range counts {
		x0, x1 := i*cellWidth, min((i+1)*cellWidth, len(c))
		counts[i] += swar.Outside(c[x0:x1], a[x0:x1], b[x0:x1], step)
	}
}

// mark marks the pixels of a cell that lie outside along v, and returns their number and the sum of their steps. A mark is by how
// much, at most 127, above or below.
func (d *Detector) mark(a, c, b *picture, x0, y0 int, v vector) (n, sum int) {
	left, right := max(x0, v.x, -v.x), min(x0+cellWidth, c.Width-max(v.x, -v.x))
	top, bottom := max(y0, v.y, -v.y), min(y0+cellHeight, c.Height-max(v.y, -v.y))
	if left >= right {
		return 0, 0
	}
	for y := top; y < bottom; y++ {
		to, row := d.marks.Row(y)[left:right], c.Row(y)[left:right]
		before, after := a.Row(y - v.y)[left-v.x:right-v.x], b.Row(y + v.y)[left+v.x:right+v.x]
		for i := 0; i < len(row) && i < len(before) && i < len(after) && i < len(to); i++ {
			w, p, q := int(row[i]), int(before[i]), int(after[i])
			if w-max(p, q) <= step && min(p, q)-w <= step {
				continue
			}
			if out := outside(a, c, b, left+i, y, v); out != 0 {
				to[i] = int8(min(max(out, -127), 127))
				n++
				sum += max(out, -out)
			}
		}
	}
	return n, sum
}

// outside returns by how much a pixel of c, whose neighbours along v lie in the pictures, is outside the range of those around it, 0 if by
// less than the step. What both pictures shown between them have as well is content that moves.
func outside(a, c, b *picture, x, y int, v vector) int {
	w := int(c.Row(y)[x])
	la, ha := surround(a.Image, x-v.x, y-v.y)
	lb, hb := surround(b.Image, x+v.x, y+v.y)
	low, high := min(la, lb), max(ha, hb)
	if w-high <= step && low-w <= step {
		return 0
	}
	if others := othersOf(c, b); others != nil {
		low, high = widen(low, high, others, x, y, v)
	}
	if out := w - high; out > step {
		return out
	}
	if out := w - low; out < -step {
		return out
	}
	return 0
}

// surround returns the range of the pixels at and next to x, y.
func surround(m frame.Image[uint8], x, y int) (low, high int) {
	low, high = 255, 0
	for j := max(y-1, 0); j <= min(y+1, m.Height-1); j++ {
		for _, v := range m.Row(j)[max(x-1, 0):min(x+2, m.Width)] {
			low, high = min(low, int(v)), max(high, int(v))
		}
	}
	return low, high
}

// component is a group of marked pixels that lie close to each other.
type component struct {
	box    image.Rectangle
	pixels int
	weight int
	// unlike is how much the neighbours differ from each other there, off how far the pixels around lie outside, both as
	// shares of how far the area lies outside.
	unlike, off float64
}

// Pixels belong together if they are at most joinX columns and joinY rows apart.
const (
	joinX = 4
	joinY = 2
)

// components returns the groups of marked pixels that weigh enough, and clears the marks.
func (d *Detector) components() (list []component) {
	m := d.marks
	for y := range m.Height {
		if d.marked[y/cellHeight] == 0 {
			continue
		}
		for x, v := range m.Row(y) {
			if v != 0 {
				if p := d.fill(x, y); p.weight >= leastWeight {
					list = append(list, p)
				}
			}
		}
	}
	return list
}

// fill takes the group at x, y out of the marks.
func (d *Detector) fill(x, y int) (p component) {
	m := d.marks
	take := func(x, y int) {
		p.box = p.box.Union(image.Rect(x, y, x+1, y+1))
		p.pixels++
		v := int(m.Row(y)[x])
		p.weight += max(v, -v)
		m.Row(y)[x] = 0
		d.stack = append(d.stack, image.Pt(x, y))
	}
	d.stack = d.stack[:0]
	take(x, y)
	for next := 0; next < len(d.stack); next++ {
		at := d.stack[next]
		for v := max(at.Y-joinY, 0); v <= min(at.Y+joinY, m.Height-1); v++ {
			row := m.Row(v)
			for u := max(at.X-joinX, 0); u <= min(at.X+joinX, m.Width-1); u++ {
				if row[u] != 0 {
					take(u, v)
				}
			}
		}
	}
	return p
}

// ring is how many pixels around an area are looked at, and loosely the limit of component.off and unlike from which
// motion explains nothing.
const (
	ring    = 6
	loosely = 0.3
)

// compare compares an area and those around it with the neighbours along the motion.
func (d *Detector) compare(a, c, b *picture, p *component) {
	columns, _ := grid(c.Image)
	box := p.box.Inset(-ring).Intersect(image.Rect(0, 0, c.Width, c.Height))
	inner := p.box.Inset(-1)
	var unlike, inside, off, outside, unknown int
	for y := box.Min.Y; y < box.Max.Y; y++ {
		row := c.Row(y)
		for x := box.Min.X; x < box.Max.X; x++ {
			v := d.vectors[y/cellHeight*columns+x/cellWidth]
			xa, ya, xb, yb := x-v.x, y-v.y, x+v.x, y+v.y
			if !v.known || min(xa, ya, xb, yb) < 0 || max(xa, xb) >= c.Width || max(ya, yb) >= c.Height {
				unknown++
				continue
			}
			e, f, w := int(a.Row(ya)[xa]), int(b.Row(yb)[xb]), int(row[x])
			if (image.Point{X: x, Y: y}).In(inner) {
				unlike += max(e, f) - min(e, f)
				inside++
			} else {
				off += max(w-max(e, f), min(e, f)-w, 0)
				outside++
			}
		}
	}
	if inside == 0 || outside == 0 || 3*unknown > inside+outside {
		p.unlike, p.off = 1, 1
		return
	}
	mean := float64(p.weight) / float64(p.pixels)
	p.unlike, p.off = float64(unlike)/float64(inside)/mean, float64(off)/float64(outside)/mean
}

// far is how far away, in pixels, an area is looked for before and after.
const far = 24

// elsewhere returns how little an area differs from the place most like it in a and b, as a share, at most 1, of how much it
// differs from where the motion leads. Content that moves is found elsewhere: elsewhere looks no further once that is plain.
func (d *Detector) elsewhere(a, c, b *picture, area image.Rectangle) float64 {
	columns, _ := grid(c.Image)
	mid := area.Min.Add(area.Max).Div(2)
	v := d.vectors[mid.Y/cellHeight*columns+mid.X/cellWidth]
	box := area.Inset(-2).Intersect(image.Rect(0, 0, c.Width, c.Height))
	skip := 1
	for box.Dx()*box.Dy() > 256*skip*skip {
		skip++
	}
	expected := max(min(differences(c, a, box, -v.x, -v.y, skip, 1<<29), differences(c, b, box, v.x, v.y, skip, 1<<29)), 1)
	best := expected
	for _, m := range []*picture{a, b} {
		for dy := -far; dy <= far; dy += 2 {
			for dx := -far; dx <= far; dx += 2 {
				if v := differences(c, m, box, dx, dy, skip, best); v < best {
					if best = v; float64(best)/float64(expected) < leastShare {
						return float64(best) / float64(expected)
					}
				}
			}
		}
	}
	return float64(best) / float64(expected)
}

// differences returns the sum of the differences, in every skip-th row and column, between a box of c and that box in m moved by
// dx, dy. It stops at limit, and is above every limit if a row lies outside.
func differences(c, m *picture, box image.Rectangle, dx, dy, skip, limit int) (sum int) {
	for y := box.Min.Y; y < box.Max.Y && sum < limit; y += skip {
		if y+dy < 0 || y+dy >= m.Height || box.Min.X+dx < 0 || box.Max.X+dx > m.Width {
			return 1 << 30
		}
		rc, rm := c.Row(y)[box.Min.X:box.Max.X], m.Row(y + dy)[box.Min.X+dx:box.Max.X+dx]
		switch skip {
		case 1:
			sum += swar.SumDifferences(rc, rm)
		case 2:
			sum += swar.SumEverySecond(rc, rm)
		default:
			for x := 0; x < len(rc) && x < len(rm); x += skip {
				sum += max(int(rc[x])-int(rm[x]), int(rm[x])-int(rc[x]))
			}
		}
	}
	return sum
}
