package warp

import (
	"math"

	"retime/flow"
	"retime/frame"
)

// Errors returns the squared error to be expected of each pixel of a made frame on the guides' grid, in
// 1/256 of a grey level squared. made is the frame's luma there. Confidence must have been called
// with the phase. Two things tell of errors where the neighbours agree, too: the flow from A and
// the one from B show something else, or the speed changes in the interval by more than is
// known of, so that things lie beside where they are shown.
func (a *Assessor) Errors(phase Phase, made frame.Image[uint8]) frame.Image[uint32] {
	w, h := made.Width, made.Height
	out := frame.NewImage[uint32](w, h)
	sums := newSquareSums(made)
	share := uint64(phase) * uint64(PhaseOne-phase) >> 16
	share = share * share >> 16 // of the squared change of speed
	a.Workers.Rows(h, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row, p, q := out.Row(y), a.forward.motion.Row(y), a.reverse.motion.Row(y)
			above, here, below := made.Row(max(y-1, 0)), made.Row(y), made.Row(min(y+1, h-1))
			nearby := sums.around(y, varied>>a.in.Level)
			for x := range row {
				var e uint64
				if p[x] != q[x] {
					d := uint64(difference(a.reading(x, y, p[x], phase), a.reading(x, y, q[x], phase)))
					e = d * d
				}
				gx, gy := int(here[min(x+1, w-1)])-int(here[max(x-1, 0)]), int(below[x])-int(above[x])
				if steep := uint64(gx*gx + gy*gy); steep > 0 { // of twice the gradient
					m := flow.Vec{X: (p[x].X + q[x].X) >> 1, Y: (p[x].Y + q[x].Y) >> 1}
					if beside := steep * a.speeding(x, y, m, phase) >> 10 * share >> 16; beside > 0 {
						e += min(beside, nearby.variance(x))
					}
				}
				row[x] = uint32(e)
			}
		}
	})
	return out
}

// varied is half the side, in pixels of the picture, of the squares whose variance bounds what a
// thing that lies beside its place makes wrong.
const varied = 8

// reading returns what a motion shows at (x, y), as lookup does.
func (a *Assessor) reading(x, y int, m flow.Vec, phase Phase) uint32 {
	ax, ay := int32(x)<<positionBits-toward(m.X, phase), int32(y)<<positionBits-toward(m.Y, phase)
	return lookup(a.in.GuideA, ax, ay)>>1 + lookup(a.in.GuideB, ax+m.X, ay+m.Y)>>1
}

// mostSpeeding bounds changes of speed, in 1/256 pixel of the guides.
const mostSpeeding = 64 << positionBits

// speeding returns the square of the change of the speed m, before the interval or after it, whichever is
// less; 0 if neither is known.
func (a *Assessor) speeding(x, y int, m flow.Vec, phase Phase) uint64 {
	least := uint64(math.MaxUint64)
	px, py := int32(x)<<positionBits-toward(m.X, phase), int32(y)<<positionBits-toward(m.Y, phase)
	for i, o := range [2]*Outer{a.in.Before, a.in.After} {
		if i == 1 {
			px, py = px+m.X, py+m.Y
		}
		if o == nil {
			continue
		}
		f := o.Flow
		v := f.Row(nearestPixel(py, f.Height))[nearestPixel(px, f.Width)]
		if o.Span != 0 {
			v = flow.Vec{X: int32(int64(v.X) * PhaseOne / int64(o.Span)), Y: int32(int64(v.Y) * PhaseOne / int64(o.Span))}
		}
		if i == 0 {
			v = flow.Vec{X: -v.X, Y: -v.Y}
		}
		dx, dy := min(max(int64(v.X-m.X), -mostSpeeding), mostSpeeding), min(max(int64(v.Y-m.Y), -mostSpeeding), mostSpeeding)
		least = min(least, uint64(dx*dx+dy*dy))
	}
	if least == math.MaxUint64 {
		return 0
	}
	return least
}

// nearestPixel returns the pixel of n that lies nearest to a position in 1/256 pixel.
func nearestPixel(v int32, n int) int { return min(max(int(v+positionOne/2)>>positionBits, 0), n-1) }

// squareSums are the sums of samples, and of their squares, above and to the left.
type squareSums frame.Image[[2]uint64]

func newSquareSums(m frame.Image[uint8]) squareSums {
	sums := frame.NewImage[[2]uint64](m.Width+1, m.Height+1)
	for y := range m.Height {
		above, out := sums.Row(y), sums.Row(y+1)
		var line [2]uint64
		for x, v := range m.Row(y) {
			line[0], line[1] = line[0]+uint64(v), line[1]+uint64(v)*uint64(v)
			out[x+1] = [2]uint64{above[x+1][0] + line[0], above[x+1][1] + line[1]}
		}
	}
	return squareSums(sums)
}

// rowSums are those of the sums that squares around the pixels of a row are taken from.
type rowSums struct {
	top, bottom    [][2]uint64
	radius, height int
}

// around returns the sums for squares around the pixels of row y, as far as they lie inside.
func (s squareSums) around(y, radius int) rowSums {
	m := frame.Image[[2]uint64](s)
	y0, y1 := max(y-radius, 0), min(y+radius+1, m.Height-1)
	return rowSums{top: m.Row(y0), bottom: m.Row(y1), radius: radius, height: y1 - y0}
}

// variance returns the variance within the square around pixel x, in 1/256 of a grey level squared.
func (r rowSums) variance(x int) uint64 {
	x0, x1 := max(x-r.radius, 0), min(x+r.radius+1, len(r.top)-1)
	a, b, c, d := &r.top[x0], &r.top[x1], &r.bottom[x0], &r.bottom[x1]
	sum, squares := d[0]-c[0]-b[0]+a[0], d[1]-c[1]-b[1]+a[1]
	n := uint64((x1 - x0) * r.height)
	return (squares*n - sum*sum) << 8 / (n * n)
}

// windows is how many windows are as high as the picture.
const windows = 12

// WorstWindow returns the square, a twelfth of the picture high, in which a map of squared errors, in 1/256, is
// largest, the uppermost and leftmost of equal ones: its upper left corner, its side, and the root of the mean there.
func WorstWindow(errors frame.Image[uint32]) (x, y, side int, rms float64) {
	w, h := errors.Width, errors.Height
	side = min(max(h/windows, 4), w, h)
	columns := make([]int64, w) // sums of side rows
	largest := int64(-1)
	for j := range h {
		for i, v := range errors.Row(j) {
			columns[i] += int64(v)
		}
		if j >= side {
			for i, v := range errors.Row(j - side) {
				columns[i] -= int64(v)
			}
		}
		if j < side-1 {
			continue
		}
		sum := int64(0)
		for i, v := range columns {
			if sum += v; i >= side {
				sum -= columns[i-side]
			}
			if i >= side-1 && sum > largest {
				largest, x, y = sum, i-side+1, j-side+1
			}
		}
	}
	return x, y, side, math.Sqrt(float64(largest) / float64(256*side*side))
}
