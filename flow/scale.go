package flow

// Double resizes dst to width by height and sets it to the flow of pictures of that
// size. f is the flow of the same pictures halved (rounding up). Double interpolates f
// bilinearly between the centres of its pixels, doubles the vectors and rounds them to
// the nearest, ties up. Beyond the outermost centres it repeats the border of f.
func Double(dst *Field, f Field, width, height int) {
	dst.Resize(width, height)
	for y := range height {
		// The centre of a pixel of the doubled field lies a quarter of a pixel of f
		// beside a centre of f.
		upper, lower, wy := beside(y, f.Height)
		a, b := f.Row(upper), f.Row(lower)
		row := dst.Row(y)
		for x := range row {
			left, right, wx := beside(x, f.Width)
			p, q, r, s := a[left], a[right], b[left], b[right]
			row[x] = Vec{
				X: doubled(p.X, q.X, r.X, s.X, wx, wy),
				Y: doubled(p.Y, q.Y, r.Y, s.Y, wx, wy),
			}
		}
	}
}

// beside returns the two pixels, on a side of n, that pixel i of the doubled side lies
// between, and the weight of the second in quarters.
func beside(i, n int) (first, second int, weight int64) {
	first = (i - 1) >> 1
	weight = 3 - 2*int64(i&1)
	return min(max(first, 0), n-1), min(first+1, n-1), weight
}

func doubled(p, q, r, s int32, wx, wy int64) int32 {
	upper := int64(p)*(4-wx) + int64(q)*wx
	lower := int64(r)*(4-wx) + int64(s)*wx
	return int32((upper*(4-wy) + lower*wy + 4) >> 3) // sixteenths, doubled
}

// Underlay replaces the zero vectors of f by the vectors of below, which must have the
// size of f.
func (f Field) Underlay(below Field) {
	for y := range f.Height {
		row, under := f.Row(y), below.Row(y)
		for x := range row {
			if row[x] == (Vec{}) {
				row[x] = under[x]
			}
		}
	}
}
