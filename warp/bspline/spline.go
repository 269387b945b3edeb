package bspline

import (
	"fmt"
	"math"

	"retime/pipeline/frame"
)

// Spline is a picture as a function of continuous coordinates (Briand and Davy,
// equation 25). It is read-only, and safe for concurrent use.
type Spline[T Float] struct {
	order         Order
	boundary      Boundary
	width, height int
	// coeff extends beyond the picture by margin samples on each side.
	coeff  frame.Image[T]
	margin int
	gain   T // Gain(order)²
}

// New returns the spline of the given order that interpolates img under the
// given boundary; see [NewPrefilter] for precision. img is copied. A sample
// that is not finite is an error, as is an empty image.
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

// FromCoefficients returns the spline with the un-normalised coefficients coeff
// that a [Prefilter] of the same order, boundary and margin has made. coeff is
// kept, not copied.
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

// Extend returns a copy of img with margin more samples on each side, as the
// Constant boundary has them.
func Extend[T Float](workers frame.Workers, img frame.Image[T], margin int) frame.Image[T] {
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

// checkFinite returns an error naming the first sample that is NaN or infinite.
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

// Order returns the spline's order.
func (s *Spline[T]) Order() Order { return s.order }

// Boundary returns the spline's boundary.
func (s *Spline[T]) Boundary() Boundary { return s.boundary }

// Size returns the size of the picture in samples.
func (s *Spline[T]) Size() (width, height int) { return s.width, s.height }

// Coefficients returns the un-normalised coefficients and the margin that they
// have around the picture. They must not be changed.
func (s *Spline[T]) Coefficients() (coeff frame.Image[T], margin int) { return s.coeff, s.margin }

// At returns the value at (x, y), by algorithm 8. Positions outside the picture
// follow the boundary; the value at a position that is not finite, or too far
// for a fraction to be left, is NaN.
func (s *Spline[T]) At(x, y float64) T {
	if !inRange(x) || !inRange(y) {
		return T(math.NaN())
	}
	x0, tx := s.order.Locate(x + float64(s.margin))
	y0, ty := s.order.Locate(y + float64(s.margin))
	var wx, wy [maxSupport]T
	Weights(s.order, T(tx), wx[:])
	Weights(s.order, T(ty), wy[:])
	return s.sum(x0, y0, &wx, &wy)
}

// Row sets dst[i] to the value at (xs[i], ys[i]), which At would return too. xs
// and ys must be at least as long as dst.
func (s *Spline[T]) Row(dst []T, xs, ys []float64) {
	for i := range dst {
		dst[i] = s.At(xs[i], ys[i])
	}
}

// inRange says whether x is finite and has a fraction.
func inRange(x float64) bool { return math.Abs(x) < 1<<51 }

// sum adds up weighted coefficients from (x0, y0) on: along rows first, then
// the rows, from small indices to large.
func (s *Spline[T]) sum(x0, y0 int, wx, wy *[maxSupport]T) T {
	n := s.order.Support()
	var value T
	if x0 >= 0 && y0 >= 0 && x0+n <= s.coeff.Width && y0+n <= s.coeff.Height {
		for l, w := range wy[:n] {
			o := (y0+l)*s.coeff.Stride + x0
			value += T(w * dot(s.coeff.Pix[o:o+n], wx[:n]))
		}
		return T(value * s.gain)
	}
	var columns [maxSupport]int
	for k := range n {
		columns[k] = s.boundary.Index(x0+k, s.coeff.Width)
	}
	for l, w := range wy[:n] {
		row := s.coeff.Row(s.boundary.Index(y0+l, s.coeff.Height))
		var sum T
		for k, c := range columns[:n] {
			sum += T(wx[k] * row[c])
		}
		value += T(w * sum)
	}
	return T(value * s.gain)
}

// dot returns the sum of products, from the first on; c and w are of one
// length.
func dot[T Float](c, w []T) T {
	var sum T
	for k, v := range c {
		sum += T(w[k] * v)
	}
	return sum
}
