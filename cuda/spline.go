package cuda

import (
	"fmt"
	"math"

	"retime/warp/bspline"
)

// Spline is a picture on a device as a function of continuous coordinates, with
// the values of package bspline's. It serves one stream at a time.
type Spline[T bspline.Float] struct {
	order         bspline.Order
	boundary      bspline.Boundary
	width, height int
	// coeff extends beyond the picture by margin samples on each side.
	coeff                Image[T]
	margin               int
	separable, scattered *Kernel
}

// NewSpline returns the spline with the un-normalised coefficients coeff that a
// Prefilter of the same order, boundary and margin has made. coeff is kept, not
// copied.
func NewSpline[T bspline.Float](d *Device, coeff Image[T], order bspline.Order, boundary bspline.Boundary, margin int) (*Spline[T], error) {
	if err := order.Check(); err != nil {
		return nil, err
	}
	if err := boundary.Check(); err != nil {
		return nil, err
	}
	s := &Spline[T]{
		order: order, boundary: boundary, coeff: coeff, margin: margin,
		width: coeff.Width - 2*margin, height: coeff.Height - 2*margin,
	}
	if margin < 0 || margin > 0 && boundary != bspline.Constant || s.width <= 0 || s.height <= 0 {
		return nil, fmt.Errorf("coefficients of %dx%d with a margin of %d do not fit the %v boundary", coeff.Width, coeff.Height, margin, boundary)
	}
	name := order.String()
	if order == bspline.CatmullRom {
		name = "catmull_rom"
	}
	return s, d.Kernels("evaluate", map[string]**Kernel{
		"separable_" + name + "_" + suffix[T](): &s.separable,
		"scattered_" + name + "_" + suffix[T](): &s.scattered,
	})
}

// Flow is a dense backward flow on a device: the output at (x, y) is the input at
// (x + U(x, y), y + V(x, y)), in samples. Positions beyond it follow it constantly.
type Flow struct{ U, V Image[float32] }

// Warp queues dst(x, y) = the value at tr's position for (x, y), as bspline's Warp
// fills it. dst may have any size and must not be the coefficients.
func (s *Spline[T]) Warp(on *Stream, dst Image[T], tr bspline.Projective) error {
	return s.WarpWithin(on, dst, tr, bspline.Outside[T]{Value: T(math.NaN())})
}

// WarpWithin is Warp with outside for positions off the picture.
func (s *Spline[T]) WarpWithin(on *Stream, dst Image[T], tr bspline.Projective, outside bspline.Outside[T]) error {
	if tr.Separable() {
		return s.launch(on, s.separable, separableGrid(dst.Width, dst.Height), separableBlock, dst, tr.Inverse(), Flow{}, outside)
	}
	return s.launch(on, s.scattered, scatteredGrid(dst.Width, dst.Height), scatteredBlock, dst, tr.Inverse(), Flow{}, outside)
}

// WarpFlowWithin is WarpWithin by a flow, which must not be empty.
func (s *Spline[T]) WarpFlowWithin(on *Stream, dst Image[T], f Flow, outside bspline.Outside[T]) error {
	if f.U.Width != f.V.Width || f.U.Height != f.V.Height || f.U.Width*f.U.Height == 0 {
		return fmt.Errorf("flow of %dx%d and %dx%d vectors: want two fields of one size", f.U.Width, f.U.Height, f.V.Width, f.V.Height)
	}
	return s.launch(on, s.scattered, scatteredGrid(dst.Width, dst.Height), scatteredBlock, dst, [3][3]float64{}, f, outside)
}

// The blocks of evaluate.cu. A thread takes several samples of a column.
var (
	separableBlock = Dim{128, 1, 1}
	scatteredBlock = Dim{32, 8, 1}
)

func separableGrid(width, height int) Dim {
	return Dim{ceilDiv(width, separableBlock.X), ceilDiv(height, 64), 1}
}

func scatteredGrid(width, height int) Dim {
	return Dim{ceilDiv(width, scatteredBlock.X), ceilDiv(height, 32), 1}
}

func (s *Spline[T]) launch(on *Stream, k *Kernel, grid, block Dim, dst Image[T], m [3][3]float64, f Flow, outside bspline.Outside[T]) error {
	if dst.Width*dst.Height == 0 {
		return nil
	}
	limitX, limitY := math.Inf(1), math.Inf(1)
	if outside.X {
		limitX = float64(s.width)
	}
	if outside.Y {
		limitY = float64(s.height)
	}
	gain := bspline.Gain(s.order)
	return on.Launch(k, grid, block, 0,
		s.coeff.Arg(), Int(s.coeff.Stride), Int(s.coeff.Width), Int(s.coeff.Height), Int(s.margin), Int(int(s.boundary)), value(T(gain*gain)),
		dst.Arg(), Int(dst.Stride), Int(dst.Width), Int(dst.Height),
		Double(m[0][0]), Double(m[0][1]), Double(m[0][2]), Double(m[1][0]), Double(m[1][1]), Double(m[1][2]),
		Double(m[2][0]), Double(m[2][1]), Double(m[2][2]),
		f.U.Arg(), Int(f.U.Stride), f.V.Arg(), Int(f.V.Stride), Int(f.U.Width), Int(f.U.Height),
		Double(limitX), Double(limitY), value(outside.Value))
}
