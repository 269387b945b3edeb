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

// lit returns c in the light of a and b, or c if that is the same: a lamp or a projector that flickers is no damage.
func lit(a, c, b *picture) *picture {
	var gains []float64
	columns, rows := grid(c.Image)
	for r := range rows {
		sums := make([]int, 2*columns)
		for y := r * cellHeight; y < min((r+1)*cellHeight, c.Height); y += sparse {
			ra, rc, rb := a.Row(y), c.Row(y), b.Row(y)
			for x := 0; x < len(rc); x += sparse {
				k := x / cellWidth
				sums[2*k] += int(ra[x]) + int(rb[x])
				sums[2*k+1] += 2 * int(rc[x])
			}
		}
		for k := range columns {
			if sums[2*k+1] > 2*dark*cellWidth*cellHeight/sparse/sparse {
				gains = append(gains, float64(sums[2*k])/float64(sums[2*k+1]))
			}
		}
	}
	if len(gains) < columns*rows/4 {
		return c
	}
	slices.Sort(gains)
	gain := gains[len(gains)/2]
	if gain > 1-changed && gain < 1+changed {
		return c
	}
	var level [256]uint8
	for v := range level {
		level[v] = uint8(min(gain*float64(v)+0.5, 255))
	}
	p := &picture{Image: frame.NewImage[uint8](c.Width, c.Height), rough: c.rough}
	for y := range c.Height {
		to := p.Row(y)
		for x, v := range c.Row(y) {
			to[x] = level[v]
		}
	}
	return p
}
