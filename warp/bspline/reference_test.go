package bspline

import (
	"math"
	"math/rand/v2"

	"retime/frame"
)

// The reference computes everything the plain way: one sample at a time, in float64, with whole
// columns and rows (algorithm 6), initialisations with enough terms to push their truncation below
// rounding, and kernels from their definition.

// referenceTerms is the number of terms of an initialisation. For any order, the pole nearest to -1
// raised to that power is below 2^-60.
const referenceTerms = 400

// referencePrefilter returns normalised coefficients of a signal.
func referencePrefilter(order Order, b Boundary, f []float64) []float64 {
	n := len(f)
	margin := 0
	if b == Constant {
		// The extended domain is large enough that samples beyond it do not matter.
		margin = referenceTerms
		e := make([]float64, n+2*margin)
		for i := range e {
			e[i] = f[b.Index(i-margin, n)]
		}
		f, b, n = e, HalfSymmetric, len(e)
	}
	c := append([]float64(nil), f...)
	for _, z := range Poles(order) {
		s := make([]float64, n)
		for i := referenceTerms; i >= 0; i-- {
			s[0] = c[b.Index(-i, n)] + z*s[0]
		}
		for i := 1; i < n; i++ {
			s[i] = c[i] + z*s[i-1]
		}
		// Equations 16 and 17.
		var l float64
		for i := referenceTerms; i >= 0; i-- {
			l = c[b.Index(n-1+i, n)] + z*l
		}
		h := make([]float64, n)
		h[n-1] = z / (z*z - 1) * (s[n-1] + l - c[n-1])
		for i := n - 2; i >= 0; i-- {
			h[i] = z * (h[i+1] - s[i])
		}
		c = h
	}
	for i := range c {
		c[i] *= Normalization(order)
	}
	return c[margin : n-margin]
}

// referenceKernel returns β of definition 1, as a sum of one-sided powers.
func referenceKernel(n Order, x float64) float64 {
	x = math.Abs(x)
	half := float64(n+1) / 2
	if x >= half {
		return 0
	}
	var sum float64
	binomial := 1.0
	for j := 0; j <= int(n)+1; j++ {
		// The sum runs over the nearer side, which has fewer terms and less
		// cancellation.
		p := half - x - float64(j)
		if p <= 0 {
			break
		}
		sum += binomial * math.Pow(p, float64(n))
		binomial *= -float64(int(n)+1-j) / float64(j+1)
	}
	return sum / factorial(n)
}

// noise returns an image of random samples in [-1, 1].
func noise[T Float](rng *rand.Rand, width, height int) frame.Image[T] {
	img := frame.NewImage[T](width, height)
	for i := range img.Pix {
		img.Pix[i] = T(2*rng.Float64() - 1)
	}
	return img
}

// referenceCoefficients returns normalised coefficients of an image.
func referenceCoefficients(order Order, b Boundary, img frame.Image[float64]) frame.Image[float64] {
	out := frame.NewImage[float64](img.Width, img.Height)
	column := make([]float64, img.Height)
	for x := range img.Width {
		for y := range column {
			column[y] = img.Row(y)[x]
		}
		for y, v := range referencePrefilter(order, b, column) {
			out.Row(y)[x] = v
		}
	}
	for y := range img.Height {
		copy(out.Row(y), referencePrefilter(order, b, out.Row(y)))
	}
	return out
}
