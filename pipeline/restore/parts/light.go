package parts

import (
	"slices"

	"retime/frame"
)

// Light has changed if the median gain of the cells is more than changed off 1; every sparse-th pixel of every sparse-th row is asked.
const (
	changed = 0.015
	sparse  = 4
	dark    = 24 // grey levels
)

// A region of regionSide by regionSide cells is lit unlike the neighbours if more than half of its cells are brighter than in both of them
// by a share of spot, or darker; a picture is lit so in part if a share of anew of its regions is.
const (
	spot       = 0.08
	regionSide = 5
	anew       = 0.25
)

// lit returns c in the light of a and b, or c if that is the same: a lamp or a projector that flickers is no damage. It also reports
// whether light has changed in some of the picture only, as on a stage.
func lit(a, c, b *picture) (*picture, bool) {
	var gains []float64
	columns, rows := grid(c.Image)
	sums := make([][3]int, columns*rows) // of a, c and b
	for r := range rows {
		row := sums[r*columns : (r+1)*columns]
		for y := r * cellHeight; y < min((r+1)*cellHeight, c.Height); y += sparse {
			ra, rc, rb := a.Row(y), c.Row(y), b.Row(y)
			for x := 0; x < len(rc); x += sparse {
				s := &row[x/cellWidth]
				s[0] += int(ra[x])
				s[1] += int(rc[x])
				s[2] += int(rb[x])
			}
		}
		for k := range row {
			if s := &row[k]; s[1] > dark*cellWidth*cellHeight/sparse/sparse {
				gains = append(gains, float64(s[0]+s[2])/float64(2*s[1]))
			} else {
				s[1] = 0
			}
		}
	}
	if len(gains) < columns*rows/4 {
		return c, false
	}
	slices.Sort(gains)
	gain := gains[len(gains)/2]
	spots := spotted(sums, columns, rows, gain)
	if gain > 1-changed && gain < 1+changed {
		return c, spots
	}
	var level [256]uint8
	for v := range level {
		level[v] = uint8(min(gain*float64(v)+0.5, 255))
	}
	p := &picture{frame.NewImage[uint8](c.Width, c.Height), c.rough, c.other}
	for y := range c.Height {
		to := p.Row(y)
		for x, v := range c.Row(y) {
			to[x] = level[v]
		}
	}
	return p, spots
}

// spotted reports whether light has changed in some of the picture, of whose cells sums are the levels before, now and after.
func spotted(sums [][3]int, columns, rows int, gain float64) bool {
	regions, spots := 0, 0
	for y := 0; y < rows; y += regionSide {
		for x := 0; x < columns; x += regionSide {
			known, brighter, darker := 0, 0, 0
			for r := y; r < min(y+regionSide, rows); r++ {
				for _, s := range sums[r*columns+x : r*columns+min(x+regionSide, columns)] {
					now := gain * float64(s[1])
					if now == 0 {
						continue
					}
					known++
					if now > (1+spot)*float64(max(s[0], s[2])) {
						brighter++
					} else if now < (1-spot)*float64(min(s[0], s[2])) {
						darker++
					}
				}
			}
			regions++
			if 2*max(brighter, darker) > known {
				spots++
			}
		}
	}
	return float64(spots) >= anew*float64(regions)
}
