package dis

import (
	"math"

	"retime/flow"
)

// weights holds the weight of each absolute difference.
var weights = func() (w [maxDifference + 1]int32) {
	for d := range w {
		w[d] = Weight(d)
	}
	return w
}()

// Weight returns the weight of a patch's vector at a pixel where the pictures differ by d
// sixteenths of a sample's step, 0 to 4080.
func Weight(d int) int32 {
	d = max(d, weightFloor)
	const one = weightLimit * weightFloor * weightFloor
	return int32(max((2*one+d*d)/(2*d*d), 1))
}

func (s *search) densify(dst []vector, row int, patches []best) {
	l := s.level
	for y := cellSize * row; y < min(cellSize*(row+1), l.height); y++ {
		s.densifyRow(dst[:l.width], y, patches)
		dst = dst[l.width:]
	}
}

func (s *search) densifyRow(dst []vector, y int, patches []best) {
	l := s.level
	firstRow, lastRow := l.around(y, l.rows)
	for x := range dst {
		firstColumn, lastColumn := l.around(x, l.columns)
		var sumX, sumY, sum int64
		for row := firstRow; row <= lastRow; row++ {
			for _, v := range patches[row*l.columns:][firstColumn : lastColumn+1] {
				w := int64(s.weight(x, y, v.vector))
				sumX += w * int64(v.x)
				sumY += w * int64(v.y)
				sum += w
			}
		}
		dst[x] = vector{mean(sumX, sum), mean(sumY, sum)}
	}
}

// around returns the first and the last of n patches along a side that cover pixel x.
func (l *level) around(x, n int) (first, last int) {
	return (max(x-(patchSize-1), 0) + l.stride - 1) / l.stride, min(x/l.stride, n-1)
}

func (s *search) weight(x, y int, v vector) int32 {
	l := s.level
	px, fx := place(x, v.x, l.width, 0)
	py, fy := place(y, v.y, l.height, 0)
	at := l.origin + py*l.pitch + px
	d := interpolation{fx, fy}.difference(s.b[at:at+2], s.b[at+l.pitch:at+l.pitch+2], 0, s.a[l.origin+y*l.pitch+x])
	return weights[max(d, -d)]
}

func mean(sum, weight int64) int32 {
	return int32(math.RoundToEven(float64(float32(sum) / float32(weight))))
}

// settleHalved sets dst to the canonical form of the vectors of two rows, halved as flow.Halve
// does; upper and lower may be the same row. The limit is at most 2^28.
func settleHalved(dst []flow.Vec, upper, lower []vector, limit int32) {
	last := len(upper) - 1
	for i := range dst {
		left, right := 2*i, min(2*i+1, last)
		// The last column of an odd width counts twice, like a row given twice; the mean stays the
		// same.
		var x, y int32
		for _, v := range [4]vector{upper[left], upper[right], lower[left], lower[right]} {
			x += settled(v.x, limit)
			y += settled(v.y, limit)
		}
		dst[i] = flow.Vec{X: (x + 4) >> 3, Y: (y + 4) >> 3}
	}
}

// settle sets dst to the canonical form of the vectors of src.
func settle(dst []flow.Vec, src []vector, limit int32) {
	for i, v := range src[:len(dst)] {
		dst[i] = flow.Vec{X: settled(v.x, limit), Y: settled(v.y, limit)}
	}
}

func settled(v, limit int32) int32 {
	const bits = vectorBits - 8
	return min(max((v+1<<(bits-1))>>bits, -limit), limit)
}
