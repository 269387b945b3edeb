package bspline

import (
	"math"
	"math/big"
	"sync"
)

// Poles returns the ⌊o/2⌋ poles of the B-spline of order o in ascending order, -1 < z1
// < z2 < ... < 0 (Briand and Davy, equation 6), each the float64 nearest to the exact
// value. Orders below 2, which need no prefilter, have none, nor do orders out of
// range.
func Poles(o Order) []float64 {
	if o < 2 || o > MaxOrder {
		return nil
	}
	return append([]float64(nil), allPoles()[o]...)
}

// allPoles returns the poles of every order. The poles of order n are the roots in (-1,
// 0) of the polynomial whose coefficients are the samples of the B-spline. All are real
// and simple, and the poles of order n-2 separate them, which brackets each one.
var allPoles = sync.OnceValue(func() (poles [MaxOrder + 1][]float64) {
	for o := Order(2); o <= MaxOrder; o++ {
		p := samplePolynomial(o)
		lo := -1.0
		for _, hi := range append(poles[o-2][:len(poles[o-2]):len(poles[o-2])], 0) {
			poles[o] = append(poles[o], bisect(p, lo, hi))
			lo = hi
		}
	}
	return poles
})

// samplePolynomial returns 2^n n! β(k) for the integers k inside the support of the
// B-spline of order n, which are all integers: Σ_j (-1)^j C(n+1, j) max(0,
// 2k+n+1-2j)^n.
func samplePolynomial(n Order) []*big.Float {
	half := int(n) / 2
	p := make([]*big.Float, 2*half+1)
	for i := range p {
		sum := new(big.Int)
		for j := 0; ; j++ {
			x := 2*(i-half) + int(n) + 1 - 2*j
			if x <= 0 {
				break
			}
			t := new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(int64(n)), nil)
			t.Mul(t, new(big.Int).Binomial(int64(n)+1, int64(j)))
			if j%2 == 1 {
				t.Neg(t)
			}
			sum.Add(sum, t)
		}
		p[i] = new(big.Float).SetPrec(exact).SetInt(sum)
	}
	return p
}

// exact is a precision, in bits, at which a polynomial of degree MaxOrder with these coefficients
// is exact at every number of 54 bits above 2^-52. All poles are larger than that.
const exact = 2048

// sign returns the sign of the polynomial p at x.
func sign(p []*big.Float, x *big.Float) int {
	v := new(big.Float).SetPrec(exact)
	for i := len(p) - 1; i >= 0; i-- {
		v.Mul(v, x)
		v.Add(v, p[i])
	}
	return v.Sign()
}

// bisect returns the float64 nearest to the only root of p in (lo, hi).
func bisect(p []*big.Float, lo, hi float64) float64 {
	above := sign(p, big.NewFloat(hi))
	for {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			break
		}
		if sign(p, big.NewFloat(mid)) == above {
			hi = mid
		} else {
			lo = mid
		}
	}
	mid := new(big.Float).SetPrec(64).SetFloat64(lo)
	mid.Add(mid, big.NewFloat(hi))
	mid.Quo(mid, big.NewFloat(2))
	if sign(p, mid) == above {
		return lo
	}
	return hi
}

// truncation returns, for each pole, the truncation index with which the prefilter reaches the
// given precision, relative to the largest absolute sample of the picture (Briand and Davy,
// equations 21 to 23, at the ε' = ερ/2 of theorem 2).
func truncation(poles []float64, precision float64) []int {
	// mu is the μ of equation 21; the sum runs over the poles before the k-th.
	mu := make([]float64, len(poles))
	var sum float64
	for k, z := range poles {
		l := math.Log(-z)
		if k > 0 {
			mu[k] = 1 / (1 + 1/(l*sum))
		}
		sum += 1 / l
	}
	rho := stability(poles)
	n := make([]int, len(poles))
	for i, z := range poles {
		// Logarithms keep small precisions from underflowing.
		l := math.Log(precision) + math.Log(rho/2) + math.Log(rho*(1-z)*(1-mu[i]))
		for _, m := range mu[i+1:] {
			l += math.Log(m)
		}
		n[i] = max(1, int(math.Ceil(l/math.Log(-z)))+1)
	}
	return n
}

// stability returns ρ of equation 23: the prefilter multiplies the largest absolute
// sample of a signal by at most 1/ρ.
func stability(poles []float64) float64 {
	rho := 1.0
	for _, z := range poles {
		rho *= (1 + z) / (1 - z)
	}
	return rho * rho
}
