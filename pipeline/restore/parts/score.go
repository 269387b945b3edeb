package parts

import "math"

// A candidate's score is a logistic function of what is measured of it, with weights that were fitted to damage drawn into ten clips, or
// 13 for rows and blocks, and to what else is seen there and in the same clips sound, in light that changes, shaken, in snow and in
// grain.

// sort is a sort of candidate.
type sort int

const (
	rowSort sort = iota // shifted rows
	lineSort
	blockSort
	speckSort
)

// aroundMeasures is how many measures compare a candidate with what is around it; see Detector.decide. Those of its own come after them.
const aroundMeasures = 4

// The last measure of each is what the fields of the other lines show, 0 in frames; its weight was fitted to fields of the 13 clips, with
// the others kept (blocks: it was set so that slow lamps do not count, at the price of 0.03 of the recall in fields).
var weights = [...][]float64{
	rowSort:   {-0.04, -0.64, 0.07, -1.31, -4.73, 8.14, 10.76, -2.5, -9.71},
	lineSort:  {0.51, -0.74, -0.8, -0.84, 2.11, 4.84, 0.67, -2.67, 9.37, -0.67, -1.07, -3.5, -23.3},
	blockSort: {0.4, -0.49, -0.31, -0.27, -2.59, 3.31, 0.54, 13.81, -8, -11.82},
	speckSort: {1.03, -1.95, -0.7, 0.23, 0.37, -1.08, 0.38, -2.29, 13.34, -0.62, -7.7, -10},
}

// score returns how sure it is that a candidate is damage, from 0 to 1.
func score(s sort, around [aroundMeasures]float64, own []float64) float64 {
	w := weights[s]
	sum := w[len(w)-1]
	for i, v := range around {
		sum += w[i] * v
	}
	for i, v := range own {
		sum += w[aroundMeasures+i] * v
	}
	return 1 / (1 + math.Exp(-sum))
}
