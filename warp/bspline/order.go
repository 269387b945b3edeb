package bspline

import (
	"fmt"
	"strconv"
)

// Order is the degree of a B-spline, 0 to MaxOrder, or CatmullRom.
type Order int

// Orders that have names.
const (
	// CatmullRom is the cubic Catmull-Rom kernel. It is not a B-spline, but every function accepts
	// it as an Order: it interpolates the samples without a prefilter.
	CatmullRom Order = -1

	Nearest Order = 0 // the B-spline of order 0
	Linear  Order = 1 // the B-spline of order 1
	Cubic   Order = 3 // the B-spline of order 3

	// MaxOrder is the largest order for which theorem 2 of Briand and Davy proves the
	// precision of the prefilter.
	MaxOrder Order = 16
)

// Check returns an error unless o is an order that this package can evaluate.
func (o Order) Check() error {
	if o < CatmullRom || o > MaxOrder {
		return fmt.Errorf("bspline: order %d: want 0 to %d or catmull-rom", int(o), int(MaxOrder))
	}
	return nil
}

// String returns the order's number, or "catmull-rom".
func (o Order) String() string {
	if o == CatmullRom {
		return "catmull-rom"
	}
	return strconv.Itoa(int(o))
}

// ParseOrder returns the order with the name s; see String.
func ParseOrder(s string) (Order, error) {
	if s == CatmullRom.String() {
		return CatmullRom, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > int(MaxOrder) {
		return 0, fmt.Errorf("bspline: order %q: want 0 to %d or catmull-rom", s, int(MaxOrder))
	}
	return Order(n), nil
}

// Support returns the number of coefficients along an axis that determine a value.
func (o Order) Support() int {
	if o == CatmullRom {
		return 4
	}
	return int(o) + 1
}

// Gain returns the factor per axis that both the un-normalised coefficients of a
// [Prefilter] and the un-normalised weights of [Weights] leave out: an image is
// Gain(o)² times the doubly weighted sum of its coefficients. For B-splines it is γ/n!
// (Briand and Davy, equation 29), 1 for odd orders and 2^n for even ones. It is always
// a power of two, so multiplying by it rounds nothing.
func Gain(o Order) float64 {
	switch {
	case o == CatmullRom:
		return 0.5
	case o%2 == 1:
		return 1
	default:
		return float64(int(1) << o)
	}
}

// Normalization returns γ of equation 10, the factor per axis between un-normalised
// coefficients and the coefficients of B-splines of unit integral: n! for odd orders
// and 2^n n! for even ones. It is 1 for orders without a prefilter.
func Normalization(o Order) float64 {
	if o <= Linear {
		return 1
	}
	return Gain(o) * factorial(o)
}

// factorial returns o!, the sum of the un-normalised weights.
func factorial(o Order) float64 {
	f := 1.0
	for i := Order(2); i <= o; i++ {
		f *= float64(i)
	}
	return f
}
