package parts

import "retime/frame"

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
	best, least := vector{}, difference(a, b, x0, y0, vector{})
	try := func(v vector) {
		if max(v.x, -v.x, v.y, -v.y) > 2*reach {
			return
		}
		// Longer motions need better proof.
		if d := difference(a, b, x0, y0, v) + (max(v.x, -v.x)+max(v.y, -v.y))/2; d < least {
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

// difference returns how much a and b differ along v about a cell, in sixteenths of a grey level.
func difference(a, b frame.Image[uint8], x0, y0 int, v vector) int {
	sum, n := 0, 0
	left := max(x0-margin, v.x, -v.x)
	right := min(x0+cellWidth+margin, a.Width-max(v.x, -v.x))
	for y := y0 - margin; y < y0+cellHeight+margin; y += 2 {
		if ya, yb := y-v.y, y+v.y; ya < 0 || yb < 0 || ya >= a.Height || yb >= a.Height || left >= right {
			continue
		}
		ra, rb := a.Row(y - v.y)[left-v.x:right-v.x], b.Row(y + v.y)[left+v.x:right+v.x]
		for x := 0; x < len(ra) && x < len(rb); x += 2 {
			d := int(ra[x]) - int(rb[x])
			if d < 0 {
				d = -d
			}
			sum += d
		}
		n += (len(ra) + 1) / 2
	}
	if n < 24 {
		return 1 << 20
	}
	return 16 * sum / n
}
