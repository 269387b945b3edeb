package bspline

import "math"

// DerivativeWeights sets w[0:o.Support()] to the derivatives of [Weights] with respect
// to t, or equally to the position: n! β'(x) = n ((n-1)! β(x+1/2) - (n-1)! β(x-1/2))
// with the β of order n-1 on the right (Ruijters, ter Haar Romeny and Suetens, equation
// 3). For order 0 the derivatives are zero. For order 1 at an integer position they are
// the derivatives of the piece above it.
func DerivativeWeights[T Float](o Order, t T, w []T) {
	w = w[:o.Support()]
	switch o {
	case CatmullRom:
		// In u = 1 - t the last two equal the first two except for the sign.
		u := 1 - t
		w[0] = T(u * (T(3*t) - 1))
		w[1] = T(t * (T(9*t) - 10))
		w[2] = T(u * (10 - T(9*u)))
		w[3] = T(t * (1 - T(3*u)))
	case 0:
		w[0] = 0
	default:
		n := len(w) - 1
		Weights(o-1, t, w[:n])
		degree := T(o)
		var before T
		for k := range w[:n] {
			here := w[k]
			w[k] = T(degree * (before - here))
			before = here
		}
		w[n] = T(degree * before)
	}
}

// Gradient returns the value at (x, y), as At does, and the first derivatives of the
// spline at (x, y), per sample.
func (s *Spline[T]) Gradient(x, y float64) (value, dx, dy T) {
	if !inRange(x) || !inRange(y) {
		nan := T(math.NaN())
		return nan, nan, nan
	}
	var buffer [4][maxSupport]T
	n := s.order.Support()
	wx, wy, ux, uy := buffer[0][:n], buffer[1][:n], buffer[2][:n], buffer[3][:n]
	x0, tx := s.order.Locate(x + float64(s.margin))
	y0, ty := s.order.Locate(y + float64(s.margin))
	Weights(s.order, T(tx), wx)
	Weights(s.order, T(ty), wy)
	DerivativeWeights(s.order, T(tx), ux)
	DerivativeWeights(s.order, T(ty), uy)
	return s.sum(x0, y0, wx, wy), s.sum(x0, y0, ux, wy), s.sum(x0, y0, wx, uy)
}
