package bspline

import (
	"fmt"

	"retime/frame"
)

// Spline is a picture as a function of continuous coordinates (Briand and Davy,
// equation 25). It is read-only, so several goroutines may use it at once.
type Spline[T Float] struct {
	order         Order
	boundary      Boundary
	width, height int
	// coeff extends beyond the picture by margin samples on each side.
	coeff  frame.Image[T]
	margin int
	gain   T // Gain(order)²
}

// New returns the spline of the given order that interpolates img under the given
// boundary; see [NewPrefilter] for precision. New copies img. It returns an error if
// img is empty or has a sample that is not finite.
func New[T Float](workers frame.Workers, img frame.Image[T], order Order, boundary Boundary, precision float64) (*Spline[T], error) {
	p, err := NewPrefilter[T](order, boundary, precision)
	if err != nil {
		return nil, err
	}
	if err := checkImage(img); err != nil {
		return nil, err
	}
	if img.Width == 0 || img.Height == 0 {
		return nil, fmt.Errorf("bspline: image of %dx%d is empty", img.Width, img.Height)
	}
	if err := checkFinite(img); err != nil {
		return nil, err
	}
	coeff := Extend(workers, img, p.Margin())
	if err := p.Apply(workers, coeff); err != nil {
		return nil, err
	}
	return FromCoefficients(coeff, order, boundary, p.Margin())
}

// FromCoefficients returns the spline with the un-normalised coefficients coeff from a [Prefilter]
// of the same order, boundary and margin. The spline keeps coeff without copying it.
func FromCoefficients[T Float](coeff frame.Image[T], order Order, boundary Boundary, margin int) (*Spline[T], error) {
	if err := order.Check(); err != nil {
		return nil, err
	}
	if err := boundary.Check(); err != nil {
		return nil, err
	}
	if err := checkImage(coeff); err != nil {
		return nil, err
	}
	s := &Spline[T]{order, boundary, coeff.Width - 2*margin, coeff.Height - 2*margin, coeff, margin, T(Gain(order) * Gain(order))}
	if margin < 0 || margin > 0 && boundary != Constant || s.width <= 0 || s.height <= 0 {
		return nil, fmt.Errorf("bspline: coefficients of %dx%d with a margin of %d do not fit the %v boundary",
			coeff.Width, coeff.Height, margin, boundary)
	}
	return s, nil
}

// Extend returns a copy of img with margin more samples on each side, filled by the Constant
// boundary.
func Extend[T Float](workers frame.Workers, img frame.Image[T], margin int) frame.Image[T] {
	margin = max(0, margin)
	out := frame.NewImage[T](img.Width+2*margin, img.Height+2*margin)
	if img.Width == 0 || img.Height == 0 {
		return out
	}
	workers.Rows(out.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			src, dst := img.Row(Constant.Index(y-margin, img.Height)), out.Row(y)
			copy(dst[margin:], src)
			for x := range margin {
				dst[x] = src[0]
				dst[len(dst)-1-x] = src[len(src)-1]
			}
		}
	})
	return out
}

// checkFinite returns an error that names the first sample that is NaN or infinite.
func checkFinite[T Float](img frame.Image[T]) error {
	for y := range img.Height {
		for x, v := range img.Row(y) {
			if v-v != 0 {
				return fmt.Errorf("bspline: sample (%d, %d) is %v: want finite samples", x, y, v)
			}
		}
	}
	return nil
}

// Order returns the order of the spline.
func (s *Spline[T]) Order() Order { return s.order }

// Boundary returns the boundary of the spline.
func (s *Spline[T]) Boundary() Boundary { return s.boundary }

// Size returns the size of the picture in samples.
func (s *Spline[T]) Size() (width, height int) { return s.width, s.height }

// Coefficients returns the un-normalised coefficients and their margin around the
// picture. The caller must not change them.
func (s *Spline[T]) Coefficients() (coeff frame.Image[T], margin int) { return s.coeff, s.margin }
