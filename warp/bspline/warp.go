package bspline

import (
	"math"

	"retime/frame"
)

// Outside gives positions off the picture a value; without it they follow the boundary.
type Outside[T Float] struct {
	// X and Y select the coordinates that count: a position is off the picture if a
	// selected one is less than -1/2 or greater than the size less 1/2.
	X, Y bool
	// Value replaces the values at positions off the picture, and at positions that are
	// not finite.
	Value T
}

// Warp fills dst with the picture transformed by tr: dst(x, y) is exactly the value of
// At at tr's position for (x, y). dst may have any size and must not be the spline's
// own memory. Warp returns an error if dst's shape does not match its samples.
func (s *Spline[T]) Warp(workers frame.Workers, dst frame.Image[T], tr Transform) error {
	return s.WarpWithin(workers, dst, tr, Outside[T]{Value: T(math.NaN())})
}

// WarpWithin does the work of Warp and gives outside's value to positions off the
// picture.
func (s *Spline[T]) WarpWithin(workers frame.Workers, dst frame.Image[T], tr Transform, outside Outside[T]) error {
	if err := checkImage(dst); err != nil {
		return err
	}
	if dst.Width == 0 || dst.Height == 0 {
		return nil
	}
	if p, ok := tr.(Projective); ok && p.Separable() {
		s.warpSeparable(workers, dst, p, outside)
		return nil
	}
	replace := outside.X || outside.Y || outside.Value == outside.Value
	workers.Rows(dst.Height, func(y0, y1 int) {
		var xs, ys [blockWidth]float64
		for top := y0; top < y1; top += blockHeight {
			for left := 0; left < dst.Width; left += blockWidth {
				n := min(blockWidth, dst.Width-left)
				for y := top; y < min(y1, top+blockHeight); y++ {
					tr.Positions(left, y, xs[:n], ys[:n])
					row := dst.Row(y)[left : left+n]
					s.Row(row, xs[:n], ys[:n])
					if replace {
						s.replace(row, xs[:n], ys[:n], outside)
					}
				}
			}
		}
	})
	return nil
}

// Warp works on blocks of this size, so that the coefficients under a block stay in the
// cache however the picture is turned.
const (
	blockWidth  = 64
	blockHeight = 64
)

// replace overwrites the samples of row that are off the picture.
func (s *Spline[T]) replace(row []T, xs, ys []float64, outside Outside[T]) {
	width, height := s.limits(outside)
	ys, xs = ys[:len(row)], xs[:len(row)]
	for i := range row {
		if !within(xs[i], width) || !within(ys[i], height) {
			row[i] = outside.Value
		}
	}
}

// limits returns the sizes for within, which are infinite for coordinates that do not
// count.
func (s *Spline[T]) limits(outside Outside[T]) (width, height float64) {
	width, height = math.Inf(1), math.Inf(1)
	if outside.X {
		width = float64(s.width)
	}
	if outside.Y {
		height = float64(s.height)
	}
	return width, height
}

// within reports whether coordinate x is in range and on a picture of the given size.
func within(x, size float64) bool {
	return inRange(x) && (x >= -0.5 || math.IsInf(size, 1)) && x <= size-0.5
}
