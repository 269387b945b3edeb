package gpu

import (
	"fmt"
	"math"

	"retime/cuda"
	"retime/warp/bspline"
)

// Spline is a picture on a device as a function of continuous coordinates, with the
// values of package bspline's Spline. Only one stream at a time may use it.
type Spline[T bspline.Float] struct {
	order         bspline.Order
	boundary      bspline.Boundary
	width, height int
	// coeff extends beyond the picture by margin samples on each side.
	coeff                cuda.Image[T]
	margin               int
	separable, scattered *cuda.Kernel
}

// NewSpline returns the spline with the un-normalised coefficients coeff from a Prefilter of the
// same order, boundary and margin. The spline keeps coeff without copying it.
func NewSpline[T bspline.Float](d *cuda.Device, coeff cuda.Image[T], order bspline.Order, boundary bspline.Boundary, margin int) (*Spline[T], error) {
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
	return s, d.Kernels("evaluate", map[string]**cuda.Kernel{
		"separable_" + name + "_" + suffix[T](): &s.separable,
		"scattered_" + name + "_" + suffix[T](): &s.scattered,
	})
}

// Flow is a dense backward flow on a device: the output at (x, y) is the input at (x +
// U(x, y), y + V(x, y)), in samples. Beyond the field, its border vectors apply.
type Flow struct{ U, V cuda.Image[float32] }

// Warp queues dst(x, y) = the value at tr's position for (x, y), as bspline's Warp
// computes it. dst may have any size and must not be the coefficients.
func (s *Spline[T]) Warp(on *cuda.Stream, dst cuda.Image[T], tr bspline.Projective) error {
	return s.WarpWithin(on, dst, tr, bspline.Outside[T]{Value: T(math.NaN())})
}

// WarpWithin does the work of Warp and gives outside's value to positions off the
// picture.
func (s *Spline[T]) WarpWithin(on *cuda.Stream, dst cuda.Image[T], tr bspline.Projective, outside bspline.Outside[T]) error {
	if tr.Separable() {
		return s.launch(on, s.separable, cuda.Cover(dst.Width, dst.Height, separableTile), separableBlock, dst, tr.Inverse(), Flow{}, outside)
	}
	return s.launch(on, s.scattered, cuda.Cover(dst.Width, dst.Height, scatteredTile), scatteredBlock, dst, tr.Inverse(), Flow{}, outside)
}

// WarpFlowWithin does the work of WarpWithin for a flow, which must not be empty.
func (s *Spline[T]) WarpFlowWithin(on *cuda.Stream, dst cuda.Image[T], f Flow, outside bspline.Outside[T]) error {
	if f.U.Width != f.V.Width || f.U.Height != f.V.Height || f.U.Width*f.U.Height == 0 {
		return fmt.Errorf("flow of %dx%d and %dx%d vectors: want two fields of one size", f.U.Width, f.U.Height, f.V.Width, f.V.Height)
	}
	return s.launch(on, s.scattered, cuda.Cover(dst.Width, dst.Height, scatteredTile), scatteredBlock, dst, [3][3]float64{}, f, outside)
}

// The blocks of evaluate.cu, and the samples that each block makes: a thread takes several samples
// of a column.
var (
	separableBlock, separableTile = cuda.Dim{X: 128, Y: 1, Z: 1}, cuda.Dim{X: 128, Y: 64, Z: 1}
	scatteredBlock, scatteredTile = cuda.Dim{X: 32, Y: 8, Z: 1}, cuda.Dim{X: 32, Y: 32, Z: 1}
)

// suffix returns the suffix of kernel names for T.
func suffix[T bspline.Float]() string {
	if _, double := any(T(0)).(float64); double {
		return "f64"
	}
	return "f32"
}

// value returns v as an argument of type float or double.
func value[T bspline.Float](v T) cuda.Arg {
	if double, ok := any(v).(float64); ok {
		return cuda.Double(double)
	}
	return cuda.Float(float32(v))
}

func (s *Spline[T]) launch(on *cuda.Stream, k *cuda.Kernel, grid, block cuda.Dim, dst cuda.Image[T], m [3][3]float64, f Flow, outside bspline.Outside[T]) error {
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
		s.coeff.Arg(), cuda.Int(s.coeff.Stride), cuda.Int(s.coeff.Width), cuda.Int(s.coeff.Height), cuda.Int(s.margin), cuda.Int(int(s.boundary)), value(T(gain*gain)),
		dst.Arg(), cuda.Int(dst.Stride), cuda.Int(dst.Width), cuda.Int(dst.Height),
		cuda.Double(m[0][0]), cuda.Double(m[0][1]), cuda.Double(m[0][2]), cuda.Double(m[1][0]), cuda.Double(m[1][1]), cuda.Double(m[1][2]),
		cuda.Double(m[2][0]), cuda.Double(m[2][1]), cuda.Double(m[2][2]),
		f.U.Arg(), cuda.Int(f.U.Stride), f.V.Arg(), cuda.Int(f.V.Stride), cuda.Int(f.U.Width), cuda.Int(f.U.Height),
		cuda.Double(limitX), cuda.Double(limitY), value(outside.Value))
}
