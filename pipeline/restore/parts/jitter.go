package parts

import (
	"image"
	"math"
	"slices"
)

// Rows are looked at for jitter where they differ more from each other than in the pictures on either side, as they do where hardly any
// texture is, too, or where much of their width lies outside.
const (
	rougher  = 1.10
	muchWide = 0.4 // of the cells
)

// A row is shifted if some shift of leastShift pixels or more explains at least explains of the squared difference, and explainsThird of
// it in all but one of its thirds. Jitter is a run of at least shiftedRows of these, with at most holdsOn others between two of them.
const (
	explains      = 0.5
	explainsThird = 0.3
	leastShift    = 0.25
	furthest      = 14 // pixels
	shiftedRows   = 8
	holdsOn       = 6
	rowWeight     = 80
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
		if float64(ec) > rougher*float64(max(ea, eb)) || float64(wide) > muchWide*float64(columns) {
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
		expected := make([]int16, c.Width)
		for r := r0; r < r1; r++ {
			if !suspects[r] && (r == 0 || !suspects[r-1]) && (r == rows-1 || !suspects[r+1]) {
				continue
			}
			for y := r * cellHeight; y < min((r+1)*cellHeight, c.Height); y++ {
				d.expect(a, b, y, expected)
				shifts[y] = rowShift(c.Row(y), expected)
			}
		}
	})
	first, last, best := longest(shifts)
	if best < shiftedRows {
		return nil
	}
	box, run := image.Rect(0, first, c.Width, last+1), shifts[first:last+1]
	share, scattered, explained := measure(run)
	strange := 0.0
	if others := othersOf(c, b); others != nil {
		strange = d.strange(others, c, first, run, scattered)
	}
	return &candidate{kind: Jitter, sort: rowSort, box: box, extent: box, weight: rowWeight * best, measures: []float64{share, scattered, explained, strange}}
}

// longest returns the run with the most shifted rows, from the first to the last of these, and how many they are.
func longest(shifts []shift) (first, last, most int) {
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
		if count > most {
			first, last, most = y, end, count
		}
		y = end + 1
	}
	return first, last, most
}

// shift is by how many pixels a row is shifted, and how much of the squared difference that explains.
type shift struct {
	by, explained float64
	is            bool
}

// measure returns which share of a run of rows is shifted, how the shifts scatter, as those of a picture that moves as a whole do not, and
// how much of the difference they explain in the mean.
func measure(list []shift) (share, scattered, explained float64) {
	var all []float64
	for _, s := range list {
		if s.is {
			all = append(all, s.by)
			explained += s.explained
		}
	}
	n := float64(len(all))
	return n / float64(len(list)), scatter(all, median(all)), explained / n
}

func median(shifts []float64) float64 {
	return slices.Sorted(slices.Values(shifts))[len(shifts)/2]
}

// apart is how many pixels off one distance a row is not shifted by it.
const apart = 0.4

// scatter returns which share of the shifts is more than apart off one distance.
func scatter(shifts []float64, distance float64) float64 {
	off := 0
	for _, v := range shifts {
		if math.Abs(v-distance) > apart {
			off++
		}
	}
	return float64(off) / float64(len(shifts))
}

// thirds is how many parts of a row are asked.
const thirds = 3

// quietRow is the mean difference, in grey levels, below which nothing is shifted.
const quietRow = 1

// disagree is by how many grey levels two pictures may differ where they say what is expected.
const disagree = 24

// expect sets expected to what row y has along the motion, -1 where the pictures on either side do not agree.
func (d *Detector) expect(a, b *picture, y int, expected []int16) {
	columns, _ := grid(a.Image)
	for i := range columns {
		v := d.vectors[y/cellHeight*columns+i]
		x0, x1 := i*cellWidth, min((i+1)*cellWidth, len(expected))
		part := expected[x0:x1]
		ya, yb := y-v.y, y+v.y
		if !v.known || min(ya, yb) < 0 || max(ya, yb) >= a.Height {
			for k := range part {
				part[k] = -1
			}
			continue
		}
		ra, rb := a.Row(ya), b.Row(yb)
		for k := range part {
			xa, xb := x0+k-v.x, x0+k+v.x
			part[k] = -1
			if min(xa, xb) < 0 || max(xa, xb) >= a.Width {
				continue
			}
			if p, q := int16(ra[xa]), int16(rb[xb]); max(p, q)-min(p, q) < disagree {
				part[k] = (p + q) / 2
			}
		}
	}
}

// rowShift compares a row with what is expected of it, at each shift.
func rowShift(row []uint8, expected []int16) shift {
	by, ok := wholeShift(row, expected)
	if !ok {
		return shift{}
	}
	var of [thirds]squares
	var all squares
	for k := range of {
		of[k] = differ(row, expected, by, max(k*len(row)/thirds, furthest), min((k+1)*len(row)/thirds, len(row)-furthest))
		all.before, all.after = all.before+of[k].before, all.after+of[k].after
		all.cross, all.slope = all.cross+of[k].cross, all.slope+of[k].slope
	}
	if all.slope == 0 || all.before == 0 {
		return shift{}
	}
	rest := min(max(2*float64(all.cross)/float64(all.slope), -1), 1)
	s := shift{by: float64(by) - rest, explained: 1 - all.left(rest)/float64(all.before)}
	if math.Abs(s.by) < leastShift || s.explained < explains {
		return s
	}
	agreed := 0
	for k := range of {
		if of[k].left(rest) < (1-explainsThird)*float64(of[k].before) {
			agreed++
		}
	}
	s.is = agreed >= thirds-1
	return s
}

// wholeShift returns by how many pixels a row is shifted, if it differs from what is expected and lies within reach.
func wholeShift(row []uint8, expected []int16) (by int, ok bool) {
	still := int32(0)
	for x := furthest; x < len(row)-furthest; x += 2 {
		if e := int32(expected[x]); e >= 0 {
			still += max(int32(row[x])-e, e-int32(row[x]))
		}
	}
	if int(still) < quietRow*len(row)/2 {
		return 0, false
	}
	var sums [2*furthest + 1]int32
	for x := furthest; x < len(row)-furthest; x += 2 {
		e := int32(expected[x])
		if e < 0 {
			continue
		}
		for s, v := range row[x-furthest : x+furthest+1] {
			w := int32(v) - e
			if w < 0 {
				w = -w
			}
			sums[s] += w
		}
	}
	at := furthest
	for s := range sums {
		if sums[s] < sums[at] {
			at = s
		}
	}
	return at - furthest, at > 0 && at < 2*furthest
}

// squares are sums over the pixels of a row: of the squared difference to what is expected, as the row is and shifted back by whole
// pixels, of the latter difference times the slope, and of the squared slope, which is the difference of the pixels beside one.
type squares struct{ before, after, cross, slope int64 }

// left returns the squared difference that is left if the row is shifted back further, by rest pixels, as far as the slope tells: least
// squares for a shift below a pixel, as in B. D. Lucas, T. Kanade, "An iterative image registration technique", 1981.
func (s *squares) left(rest float64) float64 {
	return float64(s.after) - float64(rest*float64(s.cross)) + float64(rest*rest*float64(s.slope))/4
}

// differ compares the pixels of a row from x0 to x1 with what is expected.
func differ(row []uint8, expected []int16, by, x0, x1 int) (s squares) {
	for x := x0; x < x1; x++ {
		e0, e, e1 := expected[x-1], expected[x], expected[x+1]
		if min(e0, e, e1) < 0 {
			continue
		}
		slope := int64(e1) - int64(e0)
		was, now := int64(row[x])-int64(e), int64(row[x+by])-int64(e)
		s.before += was * was
		s.after += now * now
		s.cross += now * slope
		s.slope += slope * slope
	}
	return s
}
