package bspline

import "math"

// maxSupport is the largest number of weights: the integral of a spline of order MaxOrder needs it.
const maxSupport = int(MaxOrder) + 2

// Locate returns the index of the first coefficient that the value at x depends on, x0
// of algorithm 4, and the fraction t in [0, 1) that [Weights] needs. x must be finite
// and small enough for an int.
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

// Weights sets w[0:o.Support()] to the un-normalised weights n! β(x - (first+k)) of the
// coefficients first+k, with first and t from o.Locate(x). The weights are polynomials
// in t and sum to n!, or to 2 for CatmullRom; [Gain] tells how to apply them.
//
// Order 0 has the single weight 1. Half-way between two samples it takes the upper one;
// definition 1 would take their mean.
func Weights[T Float](o Order, t T, w []T) {
	w = w[:o.Support()]
	switch o {
	case CatmullRom:
		w[0], w[1], w[2], w[3] = catmullRomWeights(t)
	case 0:
		w[0] = 1
	case 1:
		w[0], w[1] = 1-t, t
	case 2:
		u := 1 - t
		w[0], w[1], w[2] = T(u*u), 1+T(2*T(t*u)), T(t*t)
	case 3:
		w[0], w[1], w[2], w[3] = cubicWeights(t)
	case 5:
		quinticWeights(t, (*[6]T)(w))
	default:
		w[0], w[1], w[2], w[3] = cubicWeights(t)
		climb(t, w)
	}
}

// climb raises the weights of order 3 in w[:4] to order len(w)-1 by the recurrence of B-splines, in
// which nothing cancels: w_k(m) = (k+1-t) w_k(m-1) + (m-k+t) w_(k-1)(m-1).
func climb[T Float](t T, w []T) {
	// fall[k] is k+1-t and rise[k] is k+t.
	var fall, rise [maxSupport]T
	var c T
	for k := range w {
		rise[k] = c + t
		c++
		fall[k] = c - t
	}
	for m := 4; m < len(w); m++ {
		f, r, v := fall[:m+1], rise[:m+1], w[:m+1]
		below := v[0]
		v[0] = T(f[0] * below)
		for k := 1; k < m; k++ {
			here := v[k]
			v[k] = T(f[k]*here) + T(r[m-k]*below)
			below = here
		}
		v[m] = T(r[0] * below)
	}
}

// quinticWeights is climb to order 5, written out.
func quinticWeights[T Float](t T, w *[6]T) {
	c0, c1, c2, c3 := cubicWeights(t)
	f0, f1, f2, f3, f4 := 1-t, 2-t, 3-t, 4-t, 5-t
	r1, r2, r3, r4 := 1+t, 2+t, 3+t, 4+t
	q0 := T(f0 * c0)
	q1 := T(f1*c1) + T(r3*c0)
	q2 := T(f2*c2) + T(r2*c1)
	q3 := T(f3*c3) + T(r1*c2)
	q4 := T(t * c3)
	w[0] = T(f0 * q0)
	w[1] = T(f1*q1) + T(r4*q0)
	w[2] = T(f2*q2) + T(r3*q1)
	w[3] = T(f3*q3) + T(r2*q2)
	w[4] = T(f4*q4) + T(r1*q3)
	w[5] = T(t * q4)
}

// cubicWeights returns equation 11 of Ruijters, ter Haar Romeny and Suetens, "Accuracy
// of GPU-based B-spline Evaluation" (2008), times 3!.
func cubicWeights[T Float](t T) (w0, w1, w2, w3 T) {
	u := 1 - t
	t2, u2 := T(t*t), T(u*u)
	return T(u2 * u), 4 - T(3*T(t2*(2-t))), 4 - T(3*T(u2*(1+t))), T(t2 * t)
}

// catmullRomWeights returns weights that sum to 2.
func catmullRomWeights[T Float](t T) (w0, w1, w2, w3 T) {
	u := 1 - t
	tu := T(t * u)
	return -T(tu * u), 2 - T(T(t*t)*(5-T(3*t))), 2 - T(T(u*u)*(5-T(3*u))), -T(tu * t)
}
