package splines

import (
	"math"

	"retime/frame"
	"retime/warp/bspline"
)

// Precisions returns the target precisions of tables 4 and 5.
func Precisions() []float64 {
	return []float64{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-12, 1e-16}
}

// AccuracyRow holds the errors of one configuration, by target precision.
type AccuracyRow struct {
	Configuration string
	// Errors holds the largest absolute errors, relative to the largest absolute sample
	// of the picture.
	Errors []float64
}

// configurations lists the rows of tables 4 and 5: everything in float32, then everything but one
// part in float64.
var configurations = []struct {
	name  string
	shift func(frame.Workers, frame.Image[float64], bspline.Order, float64) (frame.Image[float64], error)
}{
	{"all float", shift[float32, float32, float32]},
	{"float prefilter", shift[float32, float64, float64]},
	{"float interpolation kernel", shift[float64, float32, float64]},
	{"save result as float", shift[float64, float64, float32]},
	{"all double", shift[float64, float64, float64]},
}

// Accuracy makes table 4 (order 3), table 5 (order 11), or the same table for another
// order. It shifts img by (0.5, 0.5) with a half-symmetric boundary and compares the
// result with a plain implementation in float64 that aims at 1e-20. It needs memory for
// about five copies of img.
func Accuracy(workers frame.Workers, img frame.Image[float64], order bspline.Order, precisions []float64) ([]AccuracyRow, error) {
	want := shifted(workers, img, order)
	var largest float64
	for _, v := range img.Pix {
		largest = max(largest, math.Abs(v))
	}
	var rows []AccuracyRow
	for _, c := range configurations {
		row := AccuracyRow{Configuration: c.name}
		for _, precision := range precisions {
			got, err := c.shift(workers, img, order, precision)
			if err != nil {
				return nil, err
			}
			var worst float64
			for i, v := range got.Pix {
				worst = max(worst, math.Abs(v-want.Pix[i]))
			}
			row.Errors = append(row.Errors, worst/largest)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// shift returns img shifted by (0.5, 0.5). It computes coefficients in C, evaluates in E and rounds
// to R.
func shift[C, E, R bspline.Float](workers frame.Workers, img frame.Image[float64], order bspline.Order, precision float64) (frame.Image[float64], error) {
	none := frame.Image[float64]{}
	p, err := bspline.NewPrefilter[C](order, bspline.HalfSymmetric, precision)
	if err != nil {
		return none, err
	}
	c := convert[C](img)
	if err := p.Apply(workers, c); err != nil {
		return none, err
	}
	s, err := bspline.FromCoefficients(convert[E](c), order, bspline.HalfSymmetric, 0)
	if err != nil {
		return none, err
	}
	out := frame.NewImage[E](img.Width, img.Height)
	if err := s.Warp(workers, out, bspline.Shift(0.5, 0.5)); err != nil {
		return none, err
	}
	return convert[float64](convert[R](out)), nil
}
