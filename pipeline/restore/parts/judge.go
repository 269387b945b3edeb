package parts

import (
	"image"
	"slices"

	"retime/frame"
)

// grid is the number of cells of a picture.
func grid(m frame.Image[uint8]) (columns, rows int) {
	return (m.Width + cellWidth - 1) / cellWidth, (m.Height + cellHeight - 1) / cellHeight
}

// suspicious is how many pixels of a cell must lie outside for a second look.
const suspicious = 5

// mostAreas is how many areas of a picture are looked at; a picture with more of them, or in which more than mostMarked
// of the pixels count, shows something else.
const (
	mostAreas  = 48
	mostMarked = 0.1
)

// judge returns what is seen in c, between a and b.
func (d *Detector) judge(a, c, b *picture) (s sight) {
	columns, rows := grid(c.Image)
	if d.vectors == nil {
		d.vectors = make([]vector, columns*rows)
		d.marks = frame.NewImage[uint8](c.Width, c.Height)
	}
	outside := make([]int, columns*rows)
	marked := make([]int, rows)
	d.workers.Rows(rows, func(r0, r1 int) {
		for r := r0; r < r1; r++ {
			counts := outside[r*columns : (r+1)*columns]
			y1 := min((r+1)*cellHeight, c.Height)
			for y := r * cellHeight; y < y1; y++ {
				clear(d.marks.Row(y))
				countOutside(counts, a.Row(y), c.Row(y), b.Row(y), d.limits.Step)
			}
			vectors := d.vectors[r*columns : (r+1)*columns]
			left := vector{}
			for i, n := range counts {
				if n < suspicious {
					vectors[i] = vector{known: true}
					continue
				}
				v := search(a.Image, b.Image, i*cellWidth, r*cellHeight, left, vectors[i])
				if vectors[i], left = v, v; v.known {
					marked[r] += d.mark(a, c, b, i*cellWidth, r*cellHeight, v)
				}
			}
		}
	})
	total := 0
	for _, n := range marked {
		total += n
	}
	shifted := d.jitter(a, c, b, outside)
	if shifted != nil {
		s.areas = append(s.areas, *shifted)
	}
	if total == 0 {
		return s
	}
	if float64(total) > mostMarked*float64(c.Width*c.Height) {
		s.many = shifted == nil
		return s
	}
	list := d.components()
	if shifted != nil {
		list = slices.DeleteFunc(list, func(p component) bool { return p.box.Overlaps(shifted.box) })
	}
	if len(list) > mostAreas {
		s.many = shifted == nil
		return s
	}
	kept, doubts := list[:0], 0
	for _, p := range list {
		d.measure(a, c, b, &p)
		switch {
		case p.off > loosely || p.unlike > loosely:
			doubts++
		default:
			if isLine(p.box) {
				d.extend(a, c, b, &p)
			}
			kept = append(kept, p)
		}
	}
	// Where motion explains little of the picture, all the more must be sure.
	proof := usualProof
	switch {
	case doubts > 2+len(kept):
		proof = strictProof
	case d.limits.Sure:
		proof = sureProof
	}
	s.areas = append(s.areas, classify(kept, c.Width, proof)...)
	return s
}

// countOutside adds to each cell's count the pixels of a row that lie outside the range of those before and after by
// more than step.
func countOutside(counts []int, a, c, b []uint8, step int) {
	for i := range counts {
		x0, x1 := i*cellWidth, min((i+1)*cellWidth, len(c))
		ra, rc, rb := a[x0:x1], c[x0:x1], b[x0:x1]
		n := 0
		for x := 0; x < len(rc) && x < len(ra) && x < len(rb); x++ {
			p, q, v := int(ra[x]), int(rb[x]), int(rc[x])
			if v-max(p, q) > step || min(p, q)-v > step {
				n++
			}
		}
		counts[i] += n
	}
}

// mark marks the pixels of a cell that lie outside along v, and returns their number. A mark is by how much.
func (d *Detector) mark(a, c, b *picture, x0, y0 int, v vector) (n int) {
	step := d.limits.Step
	for y := y0; y < min(y0+cellHeight, c.Height); y++ {
		to, row := d.marks.Row(y), c.Row(y)
		for x := x0; x < min(x0+cellWidth, c.Width); x++ {
			xa, ya, xb, yb := x-v.x, y-v.y, x+v.x, y+v.y
			if min(xa, ya, xb, yb) < 0 || max(xa, xb) >= c.Width || max(ya, yb) >= c.Height {
				continue
			}
			w := int(row[x])
			p, q := int(a.Row(ya)[xa]), int(b.Row(yb)[xb])
			if w-max(p, q) <= step && min(p, q)-w <= step {
				continue
			}
			la, ha := surround(a.Image, xa, ya)
			lb, hb := surround(b.Image, xb, yb)
			if out := max(w-max(ha, hb), min(la, lb)-w); out > step {
				to[x] = uint8(min(out, 255))
				n++
			}
		}
	}
	return n
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
	// shares of how far the area lies outside; share is what elsewhere returns, 1 for lines across.
	unlike, off, share float64
	// straight is how much of the box's sides is marked, of the least marked one.
	straight float64
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
		row := m.Row(y)
		for x := frame.LeadingZeros(row); x < len(row); {
			if row[x] != 0 {
				if p := d.fill(x, y); p.weight >= d.limits.Weight {
					list = append(list, p)
				}
			}
			x++
			x += frame.LeadingZeros(row[x:])
		}
	}
	return list
}

// fill takes the group at x, y out of the marks.
func (d *Detector) fill(x, y int) (p component) {
	m, next := d.marks, 0
	take := func(x, y int) {
		p.box = p.box.Union(image.Rect(x, y, x+1, y+1))
		p.pixels++
		p.weight += int(m.Row(y)[x])
		m.Row(y)[x] = 0
		d.stack = append(d.stack, image.Pt(x, y))
	}
	d.stack, next = d.stack[:0], 0
	take(x, y)
	for ; next < len(d.stack); next++ {
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
	p.straight = straightness(d.stack, p.box)
	return p
}

// sideWidth is how many pixels wide the sides of a box are.
const sideWidth = 3

// straightness returns how much of the least marked side of box is marked.
func straightness(marked []image.Point, box image.Rectangle) float64 {
	w, h := box.Dx(), box.Dy()
	if w < 2*sideWidth || h < 2*sideWidth {
		return 0
	}
	sides := make([]bool, 2*(w+h))
	top, bottom, left, right := sides[:w], sides[w:2*w], sides[2*w:2*w+h], sides[2*w+h:]
	for _, q := range marked {
		x, y := q.X-box.Min.X, q.Y-box.Min.Y
		top[x] = top[x] || y < sideWidth
		bottom[x] = bottom[x] || y >= h-sideWidth
		left[y] = left[y] || x < sideWidth
		right[y] = right[y] || x >= w-sideWidth
	}
	least := 1.0
	for _, side := range [][]bool{top, bottom, left, right} {
		n := 0
		for _, is := range side {
			if is {
				n++
			}
		}
		least = min(least, float64(n)/float64(len(side)))
	}
	return least
}

// ring is how many pixels around an area are looked at, and loosely the limit of component.off and unlike from which
// motion explains nothing.
const (
	ring    = 6
	loosely = 0.5
)

// measure sets what tells damage from content of which motion is not found.
func (d *Detector) measure(a, c, b *picture, p *component) {
	d.compare(a, c, b, p)
	if p.box.Dx() <= c.Width/4 && p.off <= loosely && p.unlike <= loosely {
		p.share = d.elsewhere(a, c, b, p)
	}
}

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
	if p.share = 1; inside == 0 || outside == 0 || 3*unknown > inside+outside {
		p.unlike, p.off = 1, 1
		return
	}
	step := float64(p.weight) / float64(p.pixels)
	p.unlike, p.off = float64(unlike)/float64(inside)/step, float64(off)/float64(outside)/step
}

// far is how far away, in pixels, an area is looked for before and after.
const far = 24

// elsewhere returns how little an area differs from the place most like it in a and b, as a share of how much it
// differs from where the motion leads. Content that moves is found elsewhere.
func (d *Detector) elsewhere(a, c, b *picture, p *component) float64 {
	columns, _ := grid(c.Image)
	mid := p.box.Min.Add(p.box.Max).Div(2)
	v := d.vectors[mid.Y/cellHeight*columns+mid.X/cellWidth]
	box := p.box.Inset(-2).Intersect(image.Rect(0, 0, c.Width, c.Height))
	step := 1
	for box.Dx()*box.Dy() > 256*step*step {
		step++
	}
	at := func(m *picture, dx, dy, limit int) int {
		sum := 0
		for y := box.Min.Y; y < box.Max.Y; y += step {
			if y+dy < 0 || y+dy >= m.Height {
				return 1 << 30
			}
			if box.Min.X+dx < 0 || box.Max.X+dx > m.Width {
				return 1 << 30
			}
			rc, rm := c.Row(y)[box.Min.X:box.Max.X], m.Row(y + dy)[box.Min.X+dx:box.Max.X+dx]
			for x := 0; x < len(rc) && x < len(rm); x += step {
				w := int(rc[x]) - int(rm[x])
				if w < 0 {
					w = -w
				}
				sum += w
			}
			if sum >= limit {
				return sum
			}
		}
		return sum
	}
	expected := min(at(a, -v.x, -v.y, 1<<29), at(b, v.x, v.y, 1<<29))
	best := 1 << 29
	for _, m := range []*picture{a, b} {
		for dy := -far; dy <= far; dy += 2 {
			for dx := -far; dx <= far; dx += 2 {
				if v := at(m, dx, dy, best); v < best {
					best = v
				}
			}
		}
	}
	return float64(best) / float64(max(expected, 1))
}
