package bspline

import "math"

// maxSupport is the largest Order.Support.
const maxSupport = int(MaxOrder) + 1

// Locate splits a position into the index of the first coefficient that its
// value depends on, x0 of algorithm 4, and the fraction t in [0, 1) that
// [Weights] takes. x must be finite and small enough for an int.
func (o Order) Locate(x float64) (first int, t float64) {
	switch {
	case o == CatmullRom:
		f := math.Floor(x)
		return int(f) - 1, x - f
	case o%2 == 1:
		f := math.Floor(x)
		return int(f) - int(o)/2, x - f
	default:
		x += 0.5
		f := math.Floor(x)
		return int(f) - int(o)/2, x - f
	}
}

// Weights sets w[0:o.Support()] to the un-normalised weights n! β(x - (first+k))
// of the coefficients first+k, where first and t come from o.Locate(x). They
// are polynomials in t evaluated on the fly, and sum to n!, or to 2 for
// CatmullRom; how they go with coefficients is told at [Gain].
//
// Order 0 has the single weight 1: at the tie half-way between two samples the
// one above is taken, where definition 1 would take their mean.
func Weights[T Float](o Order, t T, w []T) {
	switch o {
	case Cubic:
		cubicWeights(t, (*[4]T)(w))
	case CatmullRom:
		catmullRomWeights(t, (*[4]T)(w))
	default:
		bsplineWeights(o, t, w)
	}
}

// bsplineWeights climbs from order 0 to n by the recurrence of B-splines, in
// which nothing cancels:
// w_k(n) = (k+1-t) w_k(n-1) + (n-k+t) w_(k-1)(n-1).
func bsplineWeights[T Float](n Order, t T, w []T) {
	w = w[:n+1]
	w[0] = 1
	for m := 1; m < len(w); m++ {
		w[m] = T(t * w[m-1])
		for k := m - 1; k > 0; k-- {
			w[k] = T((T(k+1)-t)*w[k]) + T((T(m-k)+t)*w[k-1])
		}
		w[0] = T((1 - t) * w[0])
	}
}

// cubicWeights is equation 11 of Ruijters, ter Haar Romeny and Suetens,
// "Accuracy of GPU-based B-spline Evaluation" (2008), times 3!.
func cubicWeights[T Float](t T, w *[4]T) {
	u := 1 - t
	t2, u2 := T(t*t), T(u*u)
	w[0] = T(u2 * u)
	w[1] = 4 - T(3*T(t2*(2-t)))
	w[2] = 4 - T(3*T(u2*(1+t)))
	w[3] = T(t2 * t)
}

// catmullRomWeights sums to 2.
func catmullRomWeights[T Float](t T, w *[4]T) {
	u := 1 - t
	tu := T(t * u)
	w[0] = -T(tu * u)
	w[1] = 2 - T(T(t*t)*(5-T(3*t)))
	w[2] = 2 - T(T(u*u)*(5-T(3*u)))
	w[3] = -T(tu * t)
}
