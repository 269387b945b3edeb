package restore

import (
	"image"
	"math"
	"slices"

	"retime/pipeline/restore/swar"
)

// A cell is no damage if its pixels are found in a neighbour as well: nearby, since the camera shakes or something moves, or
// at the same place in another light.
const (
	foundWithin  = 24  // the share of the picture's width, as a divisor, up to which a cell is searched for
	foundLeast   = 3   // the difference, in grey levels, at which a cell is found in any case
	foundApart   = 2   // times the difference of the neighbours from each other, searched in the same way
	litLeast     = 0.3 // the gain of light, at least
	litMost      = 3
	litApart     = 3 // how many times nearer than without light a cell must be
	litTextured  = 3 // the standard deviation, in grey levels, from which a cell has texture to tell light by
	litSaturated = 235
	mostlyLit    = 2 // times as many cells are lit as broken in a flash, at least
)

// secondLook looks for all cells of f, unless f is blank, in others: the frames before and after f, and whatever else may
// show the same. It returns the share of the cells that are not found, or share if f is blank; and Flash if most of these
// are only lit differently, or else what f.kind says. If a quarter of the cells suggests less than half of limit, it looks
// no further.
func secondLook(f *signature, others []*signature, share, limit float64, rows int) (float64, Kind) {
	a, b := others[0], others[1]
	k := f.kind(a)
	if k != Garbled && k != Flash {
		return share, k
	}
	const passes = 4
	var broken, lit, missing int
	var at [cellsY][cellsX]shiftBy
	var lost [cellsY][cellsX]bool
	reach := f.small.Width / foundWithin
	for pass := range passes {
		var last shiftBy
		for y := range rows {
			for x := (pass + 2*y) % passes; x < cellsX; x += passes {
				found, v := f.foundNearby(others, x, y, reach, shiftBy{}, last, at[y][max(x-1, 0)], at[max(y-1, 0)][x])
				if at[y][x], lost[y][x] = v, !found; found {
					last = v
				} else {
					missing++
				}
			}
		}
		if expected := float64(missing*passes) / float64(cellsX*rows); pass == 0 && expected < limit/2 {
			return expected, k
		}
	}
	camera := usualShift(&at, &lost, rows)
	for y := range rows {
		for x := range cellsX {
			switch {
			case !lost[y][x] || f.enters(x, y, camera): // what comes into the picture is in neither neighbour
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

// foundNearby reports whether the pixels of a cell are in one of the pictures, of which the first two are its neighbours, at most
// reach pixels away, and where it found them, or what is nearest to them. It tries the guesses first.
func (l *signature) foundNearby(in []*signature, cx, cy, reach int, guesses ...shiftBy) (bool, shiftBy) {
	r := l.box(cx, cy)
	n := r.Dx() * r.Dy()
	limit := foundLeast * n
	best, nearest, at := 256*n, in[0], shiftBy{}
	for _, m := range in {
		for _, v := range guesses {
			if l.beyond(r, v) {
				continue
			}
			if s := l.sum(m, r, v, best); s < best {
				best, nearest, at = s, m, v
			}
		}
	}
	for _, m := range in {
		if best > limit {
			if s, v := l.search(m, cx, cy, reach, limit, best); s < best {
				best, nearest, at = s, m, v
			}
		}
	}
	if best <= limit {
		return true, at
	}
	apart, _ := in[0].search(in[1], cx, cy, reach, limit, 256*n)
	limit = max(limit, foundApart*apart, l.detail(cx, cy)/2)
	return best <= limit || l.between(nearest, cx, cy, at, limit), at
}

// detail returns the sum of the differences between the rows of a cell, half of which half a row's shift may cost.
func (l *signature) detail(cx, cy int) int {
	r, sum := l.box(cx, cy), 0
	for y := max(r.Min.Y, 1); y < r.Max.Y; y++ {
		sum += swar.SumDifferences(l.small.Row(y)[r.Min.X:r.Max.X], l.small.Row(y - 1)[r.Min.X:r.Max.X])
	}
	return sum
}

// search looks for a cell of l in m, at most reach pixels away. It returns the least sum of differences, if that is below
// most, and where it is, and stops at a sum of at most enough.
func (l *signature) search(m *signature, cx, cy, reach, enough, most int) (best int, at shiftBy) {
	best = most
	r := l.box(cx, cy)
	for y := max(-reach, -r.Min.Y); y <= min(reach, l.small.Height-r.Max.Y) && best > enough; y++ {
		for x := max(-reach, -r.Min.X); x <= min(reach, l.small.Width-r.Max.X) && best > enough; x++ {
			if s := l.sum(m, r, shiftBy{x, y}, best); s < best {
				best, at = s, shiftBy{x, y}
			}
		}
	}
	return best, at
}

// between reports whether a cell differs by at most limit from m half a pixel around v.
func (l *signature) between(m *signature, cx, cy int, v shiftBy, limit int) bool {
	r := l.box(cx, cy)
	x0, x1 := r.Min.X, r.Max.X
	for i := range 9 {
		dx, dy, sum := i%3-1, i/3-1, 0
		if l.beyond(r, shiftBy{v.x + dx, v.y + dy}) {
			continue
		}
		for y := r.Min.Y; y < r.Max.Y && sum <= limit; y++ {
			row, near, far := l.small.Row(y), m.small.Row(y + v.y)[v.x+x0:], m.small.Row(y + v.y + dy)[v.x+x0:]
			aside := m.small.Row(y + v.y)[v.x+x0+dx:]
			corner := m.small.Row(y + v.y + dy)[v.x+x0+dx:]
			for x, p := range row[x0:x1] {
				sum += abs(int(p) - (int(near[x])+int(far[x])+int(aside[x])+int(corner[x])+2)/4)
			}
		}
		if sum <= limit {
			return true
		}
	}
	return false
}

// usualShift returns the median of where the cells that are found are.
func usualShift(at *[cellsY][cellsX]shiftBy, lost *[cellsY][cellsX]bool, rows int) (v shiftBy) {
	var xs, ys []int
	for y := range rows {
		for x, s := range at[y] {
			if !lost[y][x] {
				xs, ys = append(xs, s.x), append(ys, s.y)
			}
		}
	}
	if len(xs) == 0 {
		return v
	}
	slices.Sort(xs)
	slices.Sort(ys)
	return shiftBy{xs[len(xs)/2], ys[len(ys)/2]}
}

// enters reports whether a cell may show what was beyond the picture's edge before the camera moved by v, or a pixel more.
func (l *signature) enters(cx, cy int, v shiftBy) bool {
	r := l.box(cx, cy)
	return v != shiftBy{} && (l.beyond(r, shiftBy{v.x - 1, v.y - 1}) || l.beyond(r, shiftBy{v.x + 1, v.y + 1}))
}

// beyond reports whether pixels, moved by v, lie partly outside the picture.
func (l *signature) beyond(r image.Rectangle, v shiftBy) bool {
	return r.Min.X+v.x < 0 || r.Max.X+v.x > l.small.Width || r.Min.Y+v.y < 0 || r.Max.Y+v.y > l.small.Height
}

// box returns the pixels of a cell.
func (l *signature) box(cx, cy int) image.Rectangle {
	x0, x1 := cell(cx, cellsX, l.small.Width)
	y0, y1 := cell(cy, cellsY, l.small.Height)
	return image.Rect(x0, y0, x1, y1)
}

// sum returns the sum of the differences between the pixels of l in r and those v away in m, which are there, or at least limit.
func (l *signature) sum(m *signature, r image.Rectangle, v shiftBy, limit int) int {
	width, sum := r.Dx(), 0
	at, to := r.Min.Y*l.small.Stride+r.Min.X, (r.Min.Y+v.y)*m.small.Stride+r.Min.X+v.x
	for y := r.Min.Y; y < r.Max.Y && sum < limit; y++ {
		sum += swar.SumDifferences(l.small.Pix[at:at+width], m.small.Pix[to:to+width])
		at, to = at+l.small.Stride, to+m.small.Stride
	}
	return sum
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
	r := l.box(cx, cy)
	if l.beyond(r, shiftBy{x, y}) {
		return light{}
	}
	var n, p, q, pp, pq, qq int
	for j := r.Min.Y; j < r.Max.Y; j += 2 {
		to, from := f.small.Row(j)[r.Min.X:r.Max.X], l.small.Row(j + y)[r.Min.X+x:r.Max.X+x]
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
