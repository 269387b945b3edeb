package parts

import (
	"image"
	"math"
	"slices"
)

// Rows are looked at for jitter where they differ more from each other than in the pictures on either side, or where
// much of their width lies outside.
const (
	rougher  = 1.10
	muchWide = 0.4 // of the cells
)

// A row is shifted if, in at least two of its thirds, some shift leaves less than gains of the difference. Rows are
// damaged if at least shiftedRows in a run are, and scatter of these off their median; see scattered.
const (
	gains       = 0.75
	shiftedRows = 16
	scatter     = 0.35
	oneShift    = 1.5 // pixels
	furthest    = 14  // pixels
	holdsOn     = 6   // rows that are not, within a run
	rowWeight   = 80
)

// jitter returns the rows of c that are shifted sideways against a and b, nil for none.
func (d *Detector) jitter(a, c, b *picture, outside []int) *candidate {
	columns, rows := grid(c.Image)
	suspects := make([]bool, rows)
	some := false
	for r := range rows {
		var ec, ea, eb int32
		for y := r * cellHeight; y < min((r+1)*cellHeight, c.Height); y++ {
			ea, ec, eb = ea+a.rough[y], ec+c.rough[y], eb+b.rough[y]
		}
		wide := 0
		for _, n := range outside[r*columns : (r+1)*columns] {
			if n >= suspicious {
				wide++
			}
		}
		if float64(ec) > rougher*float64(max(ea, eb)) && wide >= columns/6 || float64(wide) > muchWide*float64(columns) {
			suspects[r] = true
			some = true
		}
	}
	if !some {
		return nil
	}
	// Rows next to these may be shifted, too.
	shifts := make([]shift, c.Height)
	d.workers.Rows(rows, func(r0, r1 int) {
		for r := r0; r < r1; r++ {
			if !suspects[r] && (r == 0 || !suspects[r-1]) && (r == rows-1 || !suspects[r+1]) {
				continue
			}
			for y := r * cellHeight; y < min((r+1)*cellHeight, c.Height); y++ {
				shifts[y] = d.rowShift(a, c, b, y)
			}
		}
	})
	first, last, best := 0, -1, 0
	for y := 0; y < len(shifts); {
		if !shifts[y].is {
			y++
			continue
		}
		end, count := y, 0
		for k := y; k < len(shifts) && k-end <= holdsOn; k++ {
			if shifts[k].is {
				end = k
				count++
			}
		}
		if count > best && 2*count > end-y {
			first, last, best = y, end, count
		}
		y = end + 1
	}
	if best < shiftedRows || scattered(shifts[first:last+1]) < scatter {
		return nil
	}
	box := image.Rect(0, first, c.Width, last+1)
	return &candidate{kind: Jitter, box: box, extent: box, weight: rowWeight * best, score: 1 - 1/(1+float64(best)/4)}
}

// shift is how far a row is shifted.
type shift struct {
	by float64
	is bool
}

// scattered returns the share of the shifted rows whose shifts are more than oneShift pixels off their median: a picture
// that moves as a whole has one shift.
func scattered(list []shift) float64 {
	var all []float64
	for _, s := range list {
		if s.is {
			all = append(all, s.by)
		}
	}
	slices.Sort(all)
	median, n := all[len(all)/2], 0
	for _, v := range all {
		if math.Abs(v-median) > oneShift {
			n++
		}
	}
	return float64(n) / float64(len(all))
}

// thirds is how many parts of a row are asked.
const thirds = 3

// rowShift compares row y of c with what a and b have along the motion, at each shift.
func (d *Detector) rowShift(a, c, b *picture, y int) shift {
	columns, _ := grid(c.Image)
	expected := make([]int16, c.Width) // -1 where the pictures on either side do not agree
	for i := range columns {
		v := d.vectors[y/cellHeight*columns+i]
		for x := i * cellWidth; x < min((i+1)*cellWidth, c.Width); x++ {
			xa, ya, xb, yb := x-v.x, y-v.y, x+v.x, y+v.y
			expected[x] = -1
			if !v.known || min(xa, ya, xb, yb) < 0 || max(xa, xb) >= c.Width || max(ya, yb) >= c.Height {
				continue
			}
			if p, q := int16(a.Row(ya)[xa]), int16(b.Row(yb)[xb]); max(p, q)-min(p, q) < 24 {
				expected[x] = (p + q) / 2
			}
		}
	}
	row := c.Row(y)
	var sums [thirds][2*furthest + 1]int32
	for k := range thirds {
		from, to := max(k*c.Width/thirds, furthest), min((k+1)*c.Width/thirds, c.Width-furthest)
		for x := from; x < to; x += 2 {
			e := expected[x]
			if e < 0 {
				continue
			}
			part := row[x-furthest : x+furthest+1]
			for s, v := range part {
				w := int32(v) - int32(e)
				if w < 0 {
					w = -w
				}
				sums[k][s] += w
			}
		}
	}
	var all [2*furthest + 1]int32
	for k := range thirds {
		for s := range all {
			all[s] += sums[k][s]
		}
	}
	at := 0
	for s := range all {
		if all[s] < all[at] {
			at = s
		}
	}
	if at == furthest || at == 0 || at == 2*furthest || float64(all[at]) > gains*float64(all[furthest]) || int(all[furthest]) < c.Width/2 {
		return shift{}
	}
	agreed := 0
	for k := range thirds {
		if float64(sums[k][at]) < (1+gains)/2*float64(sums[k][furthest]) {
			agreed++
		}
	}
	return shift{by: float64(at - furthest), is: agreed >= thirds-1}
}
