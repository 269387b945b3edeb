package frame

import (
	"math/rand/v2"
	"testing"
)

// inPolygon is the even-odd rule, point by point.
func inPolygon(corners [][2]float64, x, y float64) bool {
	odd, last := false, corners[len(corners)-1]
	for _, c := range corners {
		if (c[1] > y) != (last[1] > y) && x < (last[0]-c[0])*(y-c[1])/(last[1]-c[1])+c[0] {
			odd = !odd
		}
		last = c
	}
	return odd
}

func TestFillPolygon(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m := NewImage[uint8](1+r.IntN(20), 1+r.IntN(20))
		corners := make([][2]float64, 3+r.IntN(6))
		for i := range corners {
			corners[i] = [2]float64{float64(r.IntN(60)-10) / 2, float64(r.IntN(60)-10) / 2}
		}
		FillPolygon(m, corners, 7)
		for y := range m.Height {
			for x, v := range m.Row(y) {
				if in := inPolygon(corners, float64(x)+0.5, float64(y)+0.5); in != (v == 7) || v != 7 && v != 0 {
					t.Fatalf("%v: element %d, %d of %dx%d is %d, inside %v", corners, x, y, m.Width, m.Height, v, in)
				}
			}
		}
	}
}
