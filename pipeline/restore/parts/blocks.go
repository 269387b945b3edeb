package parts

import (
	"image"
	"math"
)

// tile is the side of the squares that damaged blocks are made of: codecs have blocks of 8 or 16 pixels.
const tile = 8

// A tile is bad if its marks are dense enough, in grey levels in the mean over the tile.
const badTile = 4

// blocks returns areas of tiles that are marked up to their sides, and not beyond, and takes their marks away.
func (d *Detector) blocks(a, c, b *picture) (areas []candidate) {
	m := d.marks
	columns, rows := m.Width/tile, m.Height/tile
	sums := make([]int, columns*rows)
	for y := range rows * tile {
		if d.marked[y/cellHeight] == 0 {
			continue
		}
		row, to := m.Row(y), sums[y/tile*columns:(y/tile+1)*columns]
		for x := range columns * tile {
			if v := int(row[x]); v != 0 {
				to[x/tile] += max(v, -v)
			}
		}
	}
	bad := make([]bool, len(sums))
	for i, v := range sums {
		bad[i] = v >= badTile*tile*tile && d.at(i%columns*tile, i/columns*tile).known
	}
	taken := make([]bool, len(sums))
	for i := range bad {
		if !bad[i] || taken[i] {
			continue
		}
		list := []int{i}
		taken[i] = true
		for k := 0; k < len(list); k++ {
			x, y := list[k]%columns, list[k]/columns
			for _, q := range [4][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
				if q[0] < 0 || q[1] < 0 || q[0] >= columns || q[1] >= rows {
					continue
				}
				if j := q[1]*columns + q[0]; bad[j] && !taken[j] {
					taken[j] = true
					list = append(list, j)
				}
			}
		}
		if len(list) < 2 || len(list) > columns*rows/3 {
			continue
		}
		var inner, outer, outerOwn, sides, marked, weight, unlike int
		box := image.Rectangle{}
		for _, k := range list {
			x, y := k%columns, k/columns
			r := image.Rect(x*tile, y*tile, (x+1)*tile, (y+1)*tile)
			box = box.Union(r)
			weight += sums[k]
			v := d.at(r.Min.X, r.Min.Y)
			unlike += d.unlike(a, b, r, v)
			strip := func(in, out image.Rectangle, beyond bool) {
				if beyond {
					return
				}
				for y := in.Min.Y; y < in.Max.Y; y++ {
					for x := in.Min.X; x < in.Max.X; x++ {
						w := int(m.Row(y)[x])
						inner += max(w, -w)
						sides++
						if w != 0 {
							marked++
						}
					}
				}
				for y := out.Min.Y; y < out.Max.Y; y++ {
					for x := out.Min.X; x < out.Max.X; x++ {
						w := int(m.Row(y)[x])
						outerOwn += max(w, -w)
						w = d.excess(a, c, b, x, y, v)
						outer += max(w, -w)
					}
				}
			}
			is := func(x, y int) bool { return x < 0 || y < 0 || x >= columns || y >= rows || bad[y*columns+x] }
			const s = 2
			strip(image.Rect(r.Min.X, r.Min.Y, r.Min.X+s, r.Max.Y), image.Rect(r.Min.X-s, r.Min.Y, r.Min.X, r.Max.Y), is(x-1, y))
			strip(image.Rect(r.Max.X-s, r.Min.Y, r.Max.X, r.Max.Y), image.Rect(r.Max.X, r.Min.Y, r.Max.X+s, r.Max.Y), is(x+1, y))
			strip(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+s), image.Rect(r.Min.X, r.Min.Y-s, r.Max.X, r.Min.Y), is(x, y-1))
			strip(image.Rect(r.Min.X, r.Max.Y-s, r.Max.X, r.Max.Y), image.Rect(r.Min.X, r.Max.Y, r.Max.X, r.Max.Y+s), is(x, y+1))
		}
		if sides == 0 {
			continue
		}
		if 5*max(outer, outerOwn) > inner || 12*marked < sides || 2*unlike > weight {
			continue
		}
		k := candidate{kind: Block, box: box, weight: weight, sort: blockSort}
		k.measures = []float64{float64(max(outer, outerOwn)) / float64(inner), float64(marked) / float64(sides), min(float64(unlike)/float64(weight), 1), 1, math.Log(float64(weight) / float64(len(list)*tile*tile))}
		d.settle(a, c, b, &k, 3, &component{box: box})
		areas = append(areas, k)
		if k.hopeless {
			continue
		}
		for y := box.Min.Y; y < box.Max.Y; y++ {
			clear(m.Row(y)[box.Min.X:box.Max.X])
		}
	}
	return areas
}

// at returns the vector of the cell that x, y is in.
func (d *Detector) at(x, y int) vector {
	columns := (d.marks.Width + cellWidth - 1) / cellWidth
	return d.vectors[y/cellHeight*columns+x/cellWidth]
}

// unlike returns the sum of the differences of a and b along v in r.
func (d *Detector) unlike(a, b *picture, r image.Rectangle, v vector) (sum int) {
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
