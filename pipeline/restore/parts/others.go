package parts

import (
	"image"

	"retime/frame"
)

// othersOf returns what was shown right before c and right after it, before b, or nil: the fields of the other lines. They are nearer in
// time than the pictures that c is compared with, and damage to c is in neither of them, or in that of the same frame of a film. What
// moves far is in both.
func othersOf(c, b *picture) []frame.Image[uint8] {
	if c.other.Height == 0 || b.other.Height == 0 {
		return nil
	}
	return []frame.Image[uint8]{c.other, b.other}
}

// widen returns the range from low to high with what both others have near where v leads from x, y.
func widen(low, high int, others []frame.Image[uint8], x, y int, v vector) (int, int) {
	la, ha := surround(others[0], x-v.x/2, y-v.y/2)
	lb, hb := surround(others[1], x+v.x/2, y+v.y/2)
	return min(low, max(la, lb)), max(high, min(ha, hb))
}

// stray returns how far the others are from both c and the pictures on either side, in box, the one that is further: the sum of the grey
// levels.
func (d *Detector) stray(a, c, b *picture, others []frame.Image[uint8], box image.Rectangle) (most int) {
	height := min(c.Height, others[0].Height) // which may have a line less
	box = box.Inset(-2).Intersect(image.Rect(0, 0, c.Width, height))
	var sums [2]int
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			v := d.at(x, y)
			xa, ya, xb, yb := x-v.x, y-v.y, x+v.x, y+v.y
			if min(xa, ya, xb, yb) < 0 || max(xa, xb) >= c.Width || max(ya, yb) >= height {
				continue
			}
			la, ha := surround(a.Image, xa, ya)
			lb, hb := surround(b.Image, xb, yb)
			low, high, w := min(la, lb), max(ha, hb), int(c.Row(y)[x])
			for k, e := range [2]int{int(others[0].Row(y - v.y/2)[x-v.x/2]), int(others[1].Row(y + v.y/2)[x+v.x/2])} {
				sums[k] += min(max(e-high, low-e, 0), max(e-w, w-e))
			}
		}
	}
	return max(sums[0], sums[1])
}

// alike is how much the shifts of rows may scatter that are as good as one.
const alike = 0.2

// strange returns which share of the shifted rows from first on is not shifted against the others as the rest of them are, if the shifts
// scatter by so much. Against the others, all may be shifted further by one distance, as in a hand that shakes, unless they are shifted
// alike: then they say no more than that.
func (d *Detector) strange(others []frame.Image[uint8], c *picture, first int, shifts []shift, scattered float64) float64 {
	expected := make([]int16, c.Width)
	var further []float64
	for i, s := range shifts {
		if s.is {
			d.expectOthers(others, first+i, expected)
			further = append(further, rowShift(c.Row(first+i), expected).by-s.by)
		}
	}
	distance := 0.0
	if scattered >= alike {
		distance = median(further)
	}
	return scatter(further, distance)
}

// expectOthers sets expected to what the others have about row y along half the motion, -1 where they do not agree.
func (d *Detector) expectOthers(others []frame.Image[uint8], y int, expected []int16) {
	height := others[0].Height
	at := func(m frame.Image[uint8], x, y int) int16 {
		return (int16(m.Row(max(y-1, 0))[x]) + 2*int16(m.Row(y)[x]) + int16(m.Row(min(y+1, height-1))[x])) / 4
	}
	for x := range expected {
		v := d.at(x, y)
		xa, ya, xb, yb := x-v.x/2, y-v.y/2, x+v.x/2, y+v.y/2
		expected[x] = -1
		if !v.known || min(xa, ya, xb, yb) < 0 || max(xa, xb) >= len(expected) || max(ya, yb) >= height {
			continue
		}
		if p, q := at(others[0], xa, ya), at(others[1], xb, yb); max(p, q)-min(p, q) < disagree {
			expected[x] = (p + q) / 2
		}
	}
}
