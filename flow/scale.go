package flow

// Halve returns the flow between the same pictures halved (rounding up). Each vector is half the
// mean of the known vectors of up to 2x2 pixels, rounded to the nearest, ties up, or Unknown if
// none is known.
func Halve(f Field) Field {
	out := NewField((f.Width+1)/2, (f.Height+1)/2)
	for y := range out.Height {
		row := out.Row(y)
		for x := range row {
			var sx, sy, n int64
			for r := 2 * y; r < min(2*y+2, f.Height); r++ {
				for _, v := range f.Row(r)[2*x : min(2*x+2, f.Width)] {
					if v.Known() {
						sx, sy, n = sx+int64(v.X), sy+int64(v.Y), n+1
					}
				}
			}
			if n == 0 {
				row[x] = Unknown
				continue
			}
			row[x] = Vec{X: halfMean(sx, n), Y: halfMean(sy, n)}
		}
	}
	return out
}

// halfMean returns half of sum/n, rounded to the nearest integer, ties up.
func halfMean(sum, n int64) int32 {
	q := (sum + n) / (2 * n)
	if (sum+n)%(2*n) < 0 { // Go rounds towards zero
		q--
	}
	return int32(q)
}

// Double returns flow between pictures of width by height pixels of which Halve gives f back, whose
// size is theirs halved, rounding up. Each vector becomes up to 2x2, whose mean is twice the vector:
// they go on with the slope to the neighbours, the lesser one of both sides, or none if the sides
// differ in sign. So edges of motion stay as sharp as they were. A vector that is beyond the limit of
// the result, which is twice the picture's longer side, is cut to it.
func Double(f Field, width, height int) Field {
	out := NewField(width, height)
	limit := out.Limit()
	clamp := func(v int32) int32 { return min(max(v, -limit), limit) }
	for y := range f.Height {
		for x := range f.Width {
			v := f.Row(y)[x]
			right, down := f.slopes(x, y)
			for dy := range min(2, height-2*y) {
				row := out.Row(2*y + dy)[2*x : min(2*x+2, width)]
				for dx := range row {
					if !v.Known() {
						row[dx] = Unknown
						continue
					}
					sx, sy := int32(2*dx-1), int32(2*dy-1)
					row[dx] = Vec{clamp(2*v.X + sx*right.X + sy*down.X), clamp(2*v.Y + sx*right.Y + sy*down.Y)}
				}
			}
		}
	}
	return out
}

// Enlarge doubles f up to the size of pictures of width by height pixels, of which f's own were halved, and returns how often.
func Enlarge(f Field, width, height int) (larger Field, times int) {
	if width <= f.Width && height <= f.Height {
		return f, 0
	}
	half, times := Enlarge(f, (width+1)/2, (height+1)/2)
	return Double(half, width, height), times + 1
}

// slopes returns half the change of the flow from pixel x, y to the right and down. At the edges it is
// zero, since there a vector may have one child alone.
func (f Field) slopes(x, y int) (right, down Vec) {
	v := f.Row(y)[x]
	if x > 0 && x+1 < f.Width {
		right = slope(f.Row(y)[x-1], v, f.Row(y)[x+1])
	}
	if y > 0 && y+1 < f.Height {
		down = slope(f.Row(y - 1)[x], v, f.Row(y + 1)[x])
	}
	return right, down
}

func slope(a, b, c Vec) Vec {
	if !a.Known() || !b.Known() || !c.Known() {
		return Vec{}
	}
	return Vec{minmod(b.X-a.X, c.X-b.X) / 2, minmod(b.Y-a.Y, c.Y-b.Y) / 2}
}

// minmod returns the one of a and b that is nearer to zero, or zero if their signs differ.
func minmod(a, b int32) int32 {
	switch {
	case a > 0 && b > 0:
		return min(a, b)
	case a < 0 && b < 0:
		return max(a, b)
	}
	return 0
}
