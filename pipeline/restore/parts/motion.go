package parts

import (
	"retime/frame"
	"retime/pipeline/restore/swar"
)

// Cells are the pieces of the picture that have one motion each.
const (
	cellWidth  = 16
	cellHeight = 16
)

// vector is a motion from one picture to the next, in pixels; known is set if the pictures on either side agree
// along it.
type vector struct {
	x, y  int
	known bool
}

// A motion is taken if the pixels along it differ by at most agree grey levels in the mean and a share of their
// texture, and at once if by at
// most at. margin is how many pixels around the cell are compared as well.
const (
	agree  = 7
	atOnce = 3
	margin = 4
	reach  = 24 // pixels from one picture to the next, at most
)

// search returns the motion through the cell at x0, y0 from a to b, two pictures apart. It prefers the guesses.
func search(a, b frame.Image[uint8], x0, y0 int, guesses ...vector) vector {
	best, least := vector{}, difference(a, b, x0, y0, vector{}, incomparable)
	try := func(v vector) {
		if max(v.x, -v.x, v.y, -v.y) > 2*reach {
			return
		}
		// Longer motions need better proof.
		far := (max(v.x, -v.x) + max(v.y, -v.y)) / 2
		if d := difference(a, b, x0, y0, v, least-far) + far; d < least {
			best, least = v, d
		}
	}
	const unit = 16 // of difference, for a grey level
	for _, v := range guesses {
		try(v)
	}
	if least > atOnce*unit {
		for y := -reach + 8; y <= reach-8; y += 8 {
			for x := -reach; x <= reach; x += 8 {
				try(vector{x: x, y: y})
			}
		}
	}
	for step := 4; step > 0; step /= 2 {
		if least <= atOnce*unit && step > 1 {
			continue
		}
		from := best
		for y := -step; y <= step; y += step {
			for x := -step; x <= step; x += step {
				if x != 0 || y != 0 {
					try(vector{x: from.x + x, y: from.y + y})
				}
			}
		}
	}
	best.known = least <= agree*unit+texture(a, x0, y0)
	return best
}

// texture returns how much the pixels of a cell differ from those next to them, in thirds of a grey level times 16: finely
// textured pictures differ that much along a motion of half a pixel.
func texture(m frame.Image[uint8], x0, y0 int) int {
	sum, n := 0, 0
	x1 := min(x0+cellWidth, m.Width-1)
	for y := y0; y < min(y0+cellHeight, m.Height); y += 2 {
		row := m.Row(y)
		for x := x0; x < x1; x++ {
			sum += max(int(row[x])-int(row[x+1]), int(row[x+1])-int(row[x]))
		}
		n += max(x1-x0, 0)
	}
	return 16 * sum / max(3*n, 1)
}

// incomparable is more than any difference.
const incomparable = 1 << 20

// difference returns how much a and b differ along v about a cell, in sixteenths of a grey level, or some number from limit on if
// that is limit or more; incomparable if too few pixels lie in both.
func difference(a, b frame.Image[uint8], x0, y0 int, v vector, limit int) int {
	dx, dy := max(v.x, -v.x), max(v.y, -v.y)
	left, right := max(x0-margin, dx), min(x0+cellWidth+margin, a.Width-dx)
	top, bottom := y0-margin, min(y0+cellHeight+margin, a.Height-dy)
	if top < dy {
		top += (dy - top + 1) &^ 1 // every second row is compared
	}
	n := (max(right-left, 0) + 1) / 2 * ((max(bottom-top, 0) + 1) / 2)
	if n < 24 {
		return incomparable
	}
	sum := 0
	for y := top; y < bottom && 16*sum < limit*n; y += 2 {
		sum += swar.SumEverySecond(a.Row(y - v.y)[left-v.x:right-v.x], b.Row(y + v.y)[left+v.x:right+v.x])
	}
	return 16 * sum / n
}
