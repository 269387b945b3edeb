package frame

import (
	"math"
	"slices"
)

// FillPolygon sets the elements of m whose centres lie in a polygon, by the even-odd rule, to v.
// Corners are x and y in elements from the upper left corner of m, so that the first element's centre
// is at 0.5, 0.5; they may lie outside.
func FillPolygon[T any](m Image[T], corners [][2]float64, v T) {
	var crossings []float64
	for y := range m.Height {
		crossings = crossings[:0]
		at, last := float64(y)+0.5, corners[len(corners)-1]
		for _, c := range corners {
			if (c[1] > at) != (last[1] > at) {
				crossings = append(crossings, float64((last[0]-c[0])*(at-c[1]))/(last[1]-c[1])+c[0])
			}
			last = c
		}
		slices.Sort(crossings)
		row := m.Row(y)
		for i := 0; i+1 < len(crossings); i += 2 {
			first, end := inRow(crossings[i], m.Width), inRow(crossings[i+1], m.Width)
			for x := first; x < end; x++ {
				row[x] = v
			}
		}
	}
}

// inRow returns the first element of a row whose centre is not left of x.
func inRow(x float64, width int) int {
	return int(min(max(math.Ceil(x-0.5), 0), float64(width)))
}
