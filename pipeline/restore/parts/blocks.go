package parts

import (
	"image"
	"math"
)

// tile is the side of the squares that damaged blocks are made of, in pixels: codecs have blocks of 8 or 16. A tile is bad if
// its marks come to badTile grey levels in the mean.
const (
	tile    = 8
	badTile = 4
)

// A block has fewTiles or more, but not more than a third of the picture's. What is marked in the strips beyond its sides is at most
// beyondSides of what is in the strips within, of which at least withinSides of the pixels are. The pictures before and after differ
// in it at most by unlikeSides of its weight.
const (
	fewTiles    = 2
	strip       = 2 // pixels
	beyondSides = 0.2
	withinSides = 1.0 / 12
	unlikeSides = 0.5
)

// tiling is the marks of a picture in tiles.
type tiling struct {
	columns, rows int
	sums          []int // of the marks, by tile
	bad, taken    []bool
}

// blocks returns areas of tiles that are marked up to their sides and not beyond, and takes their marks away.
func (d *Detector) blocks(a, c, b *picture) (areas []candidate) {
	t := d.tiles()
	for i := range t.bad {
		list := t.group(i)
		if len(list) < fewTiles || len(list) > len(t.sums)/3 {
			continue
		}
		s := d.sides(a, c, b, t, list)
		if s.pixels == 0 || float64(s.beyond) > beyondSides*float64(s.within) || float64(s.marked) < withinSides*float64(s.pixels) || float64(s.unlike) > unlikeSides*float64(s.weight) {
			continue
		}
		k := candidate{kind: Block, sort: blockSort, box: s.box, weight: s.weight, measures: []float64{
			float64(s.beyond) / float64(s.within), float64(s.marked) / float64(s.pixels), float64(s.unlike) / float64(s.weight), 1,
			math.Log(float64(s.weight) / float64(len(list)*tile*tile)),
		}}
		if d.settle(a, c, b, &k, 3); !k.hopeless {
			d.unmark(k.box)
		}
		areas = append(areas, k)
	}
	return areas
}

// unmark takes the marks in box away.
func (d *Detector) unmark(box image.Rectangle) {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		clear(d.marks.Row(y)[box.Min.X:box.Max.X])
	}
}

// tiles returns the marks in tiles.
func (d *Detector) tiles() *tiling {
	m := d.marks
	t := &tiling{columns: m.Width / tile, rows: m.Height / tile}
	t.sums, t.bad, t.taken = make([]int, t.columns*t.rows), make([]bool, t.columns*t.rows), make([]bool, t.columns*t.rows)
	for y := range t.rows * tile {
		if d.marked[y/cellHeight] == 0 {
			continue
		}
		sums := t.sums[y/tile*t.columns:]
		for x, v := range m.Row(y)[:t.columns*tile] {
			if v != 0 {
				sums[x/tile] += max(int(v), -int(v))
			}
		}
	}
	for i, v := range t.sums {
		t.bad[i] = v >= badTile*tile*tile && d.at(i%t.columns*tile, i/t.columns*tile).known
	}
	return t
}

// is reports whether a tile is bad; those outside the picture are.
func (t *tiling) is(x, y int) bool {
	return x < 0 || y < 0 || x >= t.columns || y >= t.rows || t.bad[y*t.columns+x]
}

// group returns the bad tiles that hang together with the i-th, nil if they were returned before.
func (t *tiling) group(i int) (list []int) {
	take := func(x, y int) {
		if x < 0 || y < 0 || x >= t.columns || y >= t.rows {
			return
		}
		if k := y*t.columns + x; t.bad[k] && !t.taken[k] {
			t.taken[k] = true
			list = append(list, k)
		}
	}
	take(i%t.columns, i/t.columns)
	for k := 0; k < len(list); k++ {
		x, y := list[k]%t.columns, list[k]/t.columns
		take(x-1, y)
		take(x+1, y)
		take(x, y-1)
		take(x, y+1)
	}
	return list
}

// sides is what is measured of a group of tiles.
type sides struct {
	box            image.Rectangle
	weight, unlike int
	within, beyond int // marks of the strips along the sides, within and beyond
	pixels, marked int // of the strips within
}

// sides measures the tiles of a list. Beyond their sides, it counts both the marks there and those along the motion of the tile.
func (d *Detector) sides(a, c, b *picture, t *tiling, list []int) (s sides) {
	m, others := d.marks, 0
	for _, k := range list {
		x, y := k%t.columns, k/t.columns
		r := image.Rect(x*tile, y*tile, (x+1)*tile, (y+1)*tile)
		v := d.at(r.Min.X, r.Min.Y)
		s.box = s.box.Union(r)
		s.weight += t.sums[k]
		s.unlike += unlike(a, b, r, v)
		side := func(dx, dy int) {
			if t.is(x+dx, y+dy) {
				return
			}
			in := r.Intersect(r.Add(image.Pt(dx, dy).Mul(tile - strip)))
			out := in.Add(image.Pt(dx, dy).Mul(strip))
			for y := in.Min.Y; y < in.Max.Y; y++ {
				for _, w := range m.Row(y)[in.Min.X:in.Max.X] {
					s.pixels++
					if w != 0 {
						s.marked++
						s.within += max(int(w), -int(w))
					}
				}
			}
			for y := out.Min.Y; y < out.Max.Y; y++ {
				for x := out.Min.X; x < out.Max.X; x++ {
					w, own := int(m.Row(y)[x]), excess(a, c, b, x, y, v)
					others += max(w, -w)
					s.beyond += max(own, -own)
				}
			}
		}
		side(-1, 0)
		side(1, 0)
		side(0, -1)
		side(0, 1)
	}
	s.beyond = max(s.beyond, others)
	return s
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
