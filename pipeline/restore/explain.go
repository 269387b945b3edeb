package restore

import (
	"math"

	"retime/frame"
)

// A cell that strays is no damage if its pixels are found in a neighbour as well: nearby, since the camera shakes or
// something moves fast, or at the same place in another light.
const (
	foundWithin  = 24  // the share of the picture's width, as a divisor, up to which a cell is searched for
	foundApart   = 2.5 // how many times nearer than at its place it must be to what is found
	litLeast     = 0.3 // the gain of light, at least
	litMost      = 3
	litApart     = 3 // how many times nearer than without light a cell must be
	litTextured  = 3 // the standard deviation, in grey levels, from which a cell has texture to tell light by
	litSaturated = 235
	mostlyLit    = 2 // times as many cells are lit as broken in a flash, at least
)

// secondLook looks at the cells of f that stray, a share of all, unless f shows nothing. It returns the share of those that are
// not found elsewhere, and Flash if most of these are only lit differently, or else what f.kind says.
func secondLook(a, f, b *signature, share float64, strayed *[cellsY][cellsX]bool, rows int) (float64, Kind) {
	k := f.kind(a)
	if k != Garbled && k != Flash {
		return share, k
	}
	var broken, lit int
	var above [cellsX]shiftBy
	reach := f.small.Width / foundWithin
	for y := range rows {
		var left shiftBy
		for x := range cellsX {
			if !strayed[y][x] {
				continue
			}
			found, v := f.foundNearby(a, b, x, y, reach, left, above[x])
			left, above[x] = v, v
			switch {
			case found:
			case f.isLit(a, x, y, reach/2) || f.isLit(b, x, y, reach/2):
				lit++
			default:
				broken++
			}
		}
	}
	if lit > mostlyLit*broken {
		k = Flash
	}
	return float64(lit+broken) / float64(cellsX*rows), k
}

type shiftBy struct{ x, y int }

// foundNearby reports whether the pixels of a cell are in a or b, at most reach pixels away, and where. It tries the guesses
// first.
func (l *signature) foundNearby(a, b *signature, cx, cy, reach int, guesses ...shiftBy) (bool, shiftBy) {
	x0, x1 := cell(cx, cellsX, l.small.Width)
	y0, y1 := cell(cy, cellsY, l.small.Height)
	n := (x1 - x0) * (y1 - y0)
	off := min(cellDistance(l.small, a.small, cx, cy), cellDistance(l.small, b.small, cx, cy))
	limit := int(max(off/foundApart, odd/2) * float64(n))
	try := func(m frame.Image[uint8], v shiftBy) bool {
		if x0+v.x < 0 || x1+v.x > m.Width || y0+v.y < 0 || y1+v.y > m.Height {
			return false
		}
		sum := 0
		for y := y0; y < y1; y++ {
			if sum += rowDifference(l.small.Row(y)[x0:x1], m.Row(y + v.y)[x0+v.x:x1+v.x]); sum > limit {
				return false
			}
		}
		return true
	}
	for _, m := range []frame.Image[uint8]{a.small, b.small} {
		for _, v := range guesses {
			if try(m, v) {
				return true, v
			}
		}
	}
	for _, m := range []frame.Image[uint8]{a.small, b.small} {
		for y := -reach; y <= reach; y++ {
			for x := -reach; x <= reach; x++ {
				if v := (shiftBy{x, y}); try(m, v) {
					return true, v
				}
			}
		}
	}
	return false, shiftBy{}
}

// isLit reports whether the cell shows what a does, at its place or at most reach pixels away, in another light: levels times
// a gain, plus an offset.
func (l *signature) isLit(a *signature, cx, cy, reach int) bool {
	at := a.relit(l, cx, cy, 0, 0)
	switch {
	case at.mean > litSaturated:
		return true
	case at.otherVariance < litTextured*litTextured: // flat: in l as well
		return at.variance < 4*litTextured*litTextured && math.Abs(at.mean-at.otherMean) > odd
	case at.gain > litLeast && at.gain < litMost && litApart*litApart*at.left < at.difference:
		return true
	case at.variance < litTextured*litTextured:
		return false
	}
	for y := -reach; y <= reach; y++ {
		for x := -reach; x <= reach; x++ {
			if v := a.relit(l, cx, cy, x, y); v.gain > litLeast && v.gain < litMost && litApart*litApart*v.left < v.variance {
				return true
			}
		}
	}
	return false
}

// light is how the pixels of a cell relate to those of another picture.
type light struct {
	mean, variance, otherMean, otherVariance float64

	gain, left float64 // that fits best, and the variance that it leaves
	difference float64 // the mean square
}

// relit compares a cell of f with the pixels of l that lie x, y away. Outside the picture, no gain fits.
func (l *signature) relit(f *signature, cx, cy, x, y int) (v light) {
	x0, x1 := cell(cx, cellsX, l.small.Width)
	y0, y1 := cell(cy, cellsY, l.small.Height)
	if x0+x < 0 || x1+x > l.small.Width || y0+y < 0 || y1+y > l.small.Height {
		return light{}
	}
	var n, p, q, pp, pq, qq int
	for j := y0; j < y1; j += 2 {
		to, from := f.small.Row(j)[x0:x1], l.small.Row(j + y)[x0+x:x1+x]
		for i := 0; i < len(to) && i < len(from); i += 2 {
			g, w := int(from[i]), int(to[i])
			p, q, pp, pq, qq, n = p+g, q+w, pp+g*g, pq+g*w, qq+w*w, n+1
		}
	}
	per := 1 / float64(n)
	v.otherMean, v.mean = float64(p)*per, float64(q)*per
	v.otherVariance, v.variance = float64(pp)*per-v.otherMean*v.otherMean, float64(qq)*per-v.mean*v.mean
	shared := float64(pq)*per - v.otherMean*v.mean
	v.difference = float64(pp+qq-2*pq) * per
	if v.otherVariance > 0 {
		v.gain = shared / v.otherVariance
	}
	v.left = v.variance - v.gain*shared
	return v
}
