package parts

import "math"

// A candidate's score is a logistic function of what is measured of it. The weights were fitted to damage drawn into frames and fields of 13
// clips, and to what else is seen there and in the same clips sound, in light that changes, shaken, in snow and in grain.

// sort is a sort of candidate.
type sort int

const (
	rowSort sort = iota // shifted rows
	lineSort
	blockSort
	speckSort
)

// aroundMeasures is how many measures compare a candidate with what is around it; see Detector.decide. Those of its own come after them.
const aroundMeasures = 5

// The fifth measure, what stirs right before and after, helps with specks alone. The last of each is what the fields of the other lines
// show, 0 in frames. Its weight for blocks was set so that slow lamps do not count, and the others were fitted to it.
var weights = [...][]float64{
	rowSort:   {-0.04, -0.82, 0.07, -1.3, 0, -3.72, 8.03, 10.85, -3.5, -10.6},
	lineSort:  {0.11, -0.96, 0.26, -0.54, 0, 2.51, 3.3, -0.34, -4.7, 10.02, -10.1, -2.04, -4.28, -18.2},
	blockSort: {0.29, -2.38, -1.01, -0.43, 0, -2.57, 6.26, 0.76, 15.77, -8, -20.6},
	speckSort: {0.77, -1.98, -0.58, -0.55, 0.52, 0.68, -1.02, -4.54, -6.35, 14.2, 1.21, -8.13, -15.6},
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
