package parts

import (
	"image"
	"math"

	"retime/frame"
)

// tile is the side of the squares that damaged blocks are made of, in pixels: codecs have blocks of 8 or 16. A tile is bad if
// its pixels lie outside the range of the two to which the motion leads by badTile grey levels in the mean, and a share of the
// texture there.
const (
	tile    = 8
	badTile = 6
)

// A block has fewTiles or more, but not more than a third of the picture's. The pictures before and after differ in it at most by its weight.
const fewTiles = 2

// someBreaks is at which share of a block's sides the picture breaks, at least, for its weight to be compared with the fields of the other
// lines, which takes time.
const someBreaks = 0.3

// breakLeast is by how many grey levels in the mean the pixels on both sides of a break differ more than they do from the next ones.
const breakLeast = 6

// tiling is a picture in tiles.
type tiling struct {
	picture       *picture
	columns, rows int
	sums          []int // by how much the pixels lie outside, by tile
	bad, taken    []bool
}

// blocks returns areas of tiles along whose sides the picture breaks, as it does around what a codec decoded wrongly.
func (d *Detector) blocks(a, c, b *picture) (areas []candidate) {
	t := d.tiles(a, c, b)
	for i := range t.bad {
		list := t.group(i)
		if len(list) < fewTiles || len(list) > len(t.sums)/3 {
			continue
		}
		k := candidate{kind: Block, sort: blockSort}
		between := 0
		for _, n := range list {
			r := t.square(n)
			k.box = k.box.Union(r)
			k.weight += t.sums[n]
			between += unlike(a, b, r, d.at(r.Min.X, r.Min.Y))
		}
		if between > k.weight {
			continue
		}
		broken := t.broken(list)
		if others := othersOf(c, b); others != nil && broken >= someBreaks {
			if k.weight = d.straysFromAll(a, c, b, others, t, list); k.weight == 0 {
				continue
			}
		}
		weight := float64(k.weight)
		k.measures = []float64{min(float64(between)/weight, 1), 1, math.Log(weight / float64(len(list)*tile*tile)), broken}
		d.settle(a, c, b, &k, 1)
		areas = append(areas, k)
	}
	return areas
}

// tiles returns c in tiles.
func (d *Detector) tiles(a, c, b *picture) *tiling {
	columns, _ := grid(c.Image)
	t := &tiling{picture: c, columns: c.Width / tile, rows: c.Height / tile}
	t.sums, t.bad, t.taken = make([]int, t.columns*t.rows), make([]bool, t.columns*t.rows), make([]bool, t.columns*t.rows)
	d.workers.Rows(t.rows, func(y0, y1 int) {
		for i := y0 * t.columns; i < y1*t.columns; i++ {
			r := t.square(i)
			if d.now[r.Min.Y/cellHeight*columns+r.Min.X/cellWidth] == 0 {
				continue
			}
			v := d.at(r.Min.X, r.Min.Y)
			if t.sums[i] = strays(a, c, b, r, v); t.sums[i] < badTile*tile*tile {
				continue
			}
			t.bad[i] = t.sums[i] >= badTile*tile*tile+roughness(a, r, v)/3
		}
	})
	return t
}

// square returns the i-th tile.
func (t *tiling) square(i int) image.Rectangle {
	return image.Rect(0, 0, tile, tile).Add(image.Pt(i%t.columns, i/t.columns).Mul(tile))
}

// strays returns by how much the pixels of r lie outside the range of the two to which v leads, in all.
func strays(a, c, b *picture, r image.Rectangle, v vector) (sum int) {
	r = reached(a, r, v)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.Row(y)[r.Min.X:r.Max.X]
		before, after := a.Row(y - v.y)[r.Min.X-v.x:r.Max.X-v.x], b.Row(y + v.y)[r.Min.X+v.x:r.Max.X+v.x]
		for i := 0; i < len(row) && i < len(before) && i < len(after); i++ {
			p, q, w := int(before[i]), int(after[i]), int(row[i])
			sum += max(w-max(p, q), min(p, q)-w, 0)
		}
	}
	return sum
}

// straysFromAll returns the same sum over tiles, less what both others have as well.
func (d *Detector) straysFromAll(a, c, b *picture, others []frame.Image[uint8], t *tiling, list []int) (sum int) {
	for _, n := range list {
		r := t.square(n)
		v := d.at(r.Min.X, r.Min.Y)
		r = reached(a, r, v)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				p, q, w := int(a.Row(y - v.y)[x-v.x]), int(b.Row(y + v.y)[x+v.x]), int(c.Row(y)[x])
				low, high := min(p, q), max(p, q)
				if w < low || w > high {
					low, high = widen(low, high, others, x, y, v)
					sum += max(w-high, low-w, 0)
				}
			}
		}
	}
	return sum
}

// roughness returns how much the pixels of a picture before to which v leads differ from the next ones, in all.
func roughness(m *picture, r image.Rectangle, v vector) (sum int) {
	r = reached(m, r, v)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := m.Row(y - v.y)[r.Min.X-v.x : r.Max.X-v.x+1]
		for i, next := range row[1:] {
			sum += max(int(next)-int(row[i]), int(row[i])-int(next))
		}
	}
	return sum
}

// reached returns the part of r from which v leads to pixels that have a next one.
func reached(m *picture, r image.Rectangle, v vector) image.Rectangle {
	dx, dy := max(v.x, -v.x), max(v.y, -v.y)
	return r.Intersect(image.Rect(dx, dy, m.Width-dx-1, m.Height-dy))
}

// towards are the sides of a tile.
var towards = [...]image.Point{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}

// beside returns the tile beyond a side of the i-th, -1 if it lies outside the picture.
func (t *tiling) beside(i int, side image.Point) int {
	at := image.Pt(i%t.columns, i/t.columns).Add(side)
	if !at.In(image.Rect(0, 0, t.columns, t.rows)) {
		return -1
	}
	return at.Y*t.columns + at.X
}

// group returns the bad tiles that hang together with the i-th without a break, nil if they were returned before.
func (t *tiling) group(i int) (list []int) {
	take := func(i int) {
		if t.bad[i] && !t.taken[i] {
			t.taken[i] = true
			list = append(list, i)
		}
	}
	take(i)
	for k := 0; k < len(list); k++ {
		for _, side := range towards {
			if n := t.beside(list[k], side); n >= 0 && t.bad[n] && !t.breaks(list[k], side) {
				take(n)
			}
		}
	}
	return list
}

// broken returns at which share of the sides of a group the picture breaks. The picture's own sides do not count.
func (t *tiling) broken(list []int) float64 {
	in := map[int]bool{}
	for _, i := range list {
		in[i] = true
	}
	sides, breaks := 0, 0
	for _, i := range list {
		for _, side := range towards {
			if n := t.beside(i, side); n >= 0 && !in[n] {
				sides++
				if t.breaks(i, side) {
					breaks++
				}
			}
		}
	}
	return float64(breaks) / float64(max(sides, 1))
}

// breaks reports whether the picture breaks between the i-th tile and the one beyond a side.
func (t *tiling) breaks(i int, side image.Point) bool {
	at := t.square(i).Min
	if side.X+side.Y > 0 {
		at = at.Add(side.Mul(tile - 1))
	}
	across, beside := 0, 0
	for range tile {
		level := func(n int) int {
			p := at.Add(side.Mul(n))
			return int(t.picture.Row(p.Y)[p.X])
		}
		inner, in, out, outer := level(-1), level(0), level(1), level(2)
		across += max(in-out, out-in)
		beside += max(in-inner, inner-in) + max(out-outer, outer-out)
		at = at.Add(image.Pt(side.Y&1, side.X&1))
	}
	return across > beside+breakLeast*tile
}

// at returns the vector of the cell that x, y is in.
func (d *Detector) at(x, y int) vector {
	columns := (d.marks.Width + cellWidth - 1) / cellWidth
	return d.vectors[y/cellHeight*columns+x/cellWidth]
}

// unlike returns the sum of the differences of a and b along v in r.
func unlike(a, b *picture, r image.Rectangle, v vector) (sum int) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			xa, ya, xb, yb := x-v.x, y-v.y, x+v.x, y+v.y
			if min(xa, ya, xb, yb) < 0 || max(xa, xb) >= a.Width || max(ya, yb) >= a.Height {
				continue
			}
			w := int(a.Row(ya)[xa]) - int(b.Row(yb)[xb])
			sum += max(w, -w)
		}
	}
	return sum
}
