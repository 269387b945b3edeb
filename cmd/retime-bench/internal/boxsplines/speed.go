package boxsplines

import (
	"math"
	"time"

	"retime/frame"
	"retime/warp/boxspline"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/generic"
	"retime/warp/boxspline/lattice"
	"retime/warp/bspline"
)

// SpeedRow holds nanoseconds per value, on one thread: for the generated code at the positions of a
// turned picture or volume in float32 and float64, at random positions in float64, and for the
// generic sum.
type SpeedRow struct {
	Element                        string
	Float, Double, Random, Generic float64
}

// best returns the shortest time of repeat runs of f, in nanoseconds per value for n values.
func best(repeat, n int, f func()) float64 {
	least := math.Inf(1)
	for range repeat {
		begun := time.Now()
		f()
		least = min(least, float64(time.Since(begun)))
	}
	return least / float64(n)
}

// Speed measures an element's function on a box of size coefficients along each axis.
func Speed(f fast.Function, size, points, repeat int) (SpeedRow, error) {
	row := SpeedRow{Element: f.Element}
	e, err := boxspline.Find(f.Element)
	if err != nil {
		return row, err
	}
	s, err := noise(e.Lattice, lattice.Point{size, size, size})
	if err != nil {
		return row, err
	}
	g, h := fast.NewGrid[float64](s, f.Along), fast.NewGrid[float32](s, f.Along)
	dst, dst32 := make([]float64, points), make([]float32, points)
	x := turned(e.Dim(), float64(size*e.Lattice.Step-1), points)
	row.Double = best(repeat, points, func() { evaluate(f, g, dst, x) })
	row.Float = best(repeat, points, func() { evaluate(f, h, dst32, x) })
	random := positions(e, s, points)
	row.Random = best(repeat, points, func() { evaluate(f, g, dst, random) })
	b := generic.New(e)
	few := min(points, 500)
	sum := func() {
		for i := range few {
			dst[i] = generic.Evaluate(s, b, []float64{x[0][i], x[1][i], x[2][i]}[:e.Dim()])
		}
	}
	sum() // computes the pieces
	row.Generic = best(min(repeat, 3), few, sum)
	return row, nil
}

// turned returns the positions in [0, limit] of a picture, or of the planes of a volume, turned by
// 30 degrees around the middle.
func turned(dim int, limit float64, n int) (x [3][]float64) {
	for k := range x {
		x[k] = make([]float64, n)
	}
	sin, cos := math.Sincos(math.Pi / 6)
	side := int(limit / 1.5)
	for i := range n {
		u, v := float64(i%side)-limit/3, float64(i/side%side)-limit/3
		x[0][i], x[1][i] = limit/2+cos*u+sin*v, limit/2-sin*u+cos*v
		if dim == 3 {
			x[2][i] = math.Mod(float64(i/side/side)*0.9+0.01*u+limit/2, limit)
		}
	}
	for _, v := range x {
		for i := range v {
			v[i] = math.Round(v[i]*fine) / fine
		}
	}
	return x
}

// OursRow compares package bspline with the generated code of the same order, in nanoseconds per
// value in float32 and float64.
type OursRow struct {
	Order                            bspline.Order
	BSpline32, Fast32, BSpline, Fast float64
}

// Ours measures bspline's Row and the generated code on the same picture and positions.
func Ours(order bspline.Order, element string, size, points, repeat int) (OursRow, error) {
	row := OursRow{Order: order}
	f, err := fast.Find(element)
	if err != nil {
		return row, err
	}
	s, err := noise(lattice.Square, lattice.Point{size, size})
	if err != nil {
		return row, err
	}
	x := turned(2, float64(size-1), points)
	if row.BSpline, row.Fast, err = pair[float64](f, s, order, x, repeat); err != nil {
		return row, err
	}
	row.BSpline32, row.Fast32, err = pair[float32](f, s, order, x, repeat)
	return row, err
}

// pair measures both alternately.
func pair[T fast.Float](f fast.Function, s *lattice.Samples, order bspline.Order, x [3][]float64, repeat int) (ours, generated float64, err error) {
	img := frame.NewImage[T](s.Size[0], s.Size[1])
	for i, v := range s.Cosets[0] {
		img.Pix[i] = T(v)
	}
	spline, err := bspline.FromCoefficients(img, order, bspline.WholeSymmetric, 0)
	if err != nil {
		return 0, 0, err
	}
	g, dst := fast.NewGrid[T](s, f.Along), make([]T, len(x[0]))
	ours, generated = math.Inf(1), math.Inf(1)
	for range repeat {
		ours = min(ours, best(1, len(dst), func() { spline.Row(dst, x[0], x[1]) }))
		generated = min(generated, best(1, len(dst), func() { evaluate(f, g, dst, x) }))
	}
	return ours, generated, nil
}
