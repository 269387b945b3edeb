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
