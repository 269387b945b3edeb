package bspline

import "fmt"

// Integral returns the integral of the spline over [x0, x1] x [y0, y1], in units of a
// sample's value times the area of a pixel. Over the whole picture, [-1/2, width-1/2] x
// [-1/2, height-1/2], the integral of a constant is the constant times width times
// height. Swapped bounds change the sign. Integral returns an error if a bound is
// farther from the picture than the picture's size.
//
// Every coefficient contributes the integral of its own B-spline (Ruijters, ter Haar Romeny and
// Suetens, equation 4), in float64 for every T. The time is proportional to the area.
func (s *Spline[T]) Integral(x0, y0, x1, y1 float64) (float64, error) {
	fx, wx, err := s.integralWeights(x0, x1, s.width)
	if err != nil {
		return 0, err
	}
	fy, wy, err := s.integralWeights(y0, y1, s.height)
	if err != nil {
		return 0, err
	}
	columns := make([]int, len(wx))
	for k := range wx {
		columns[k] = s.boundary.Index(fx+s.margin+k, s.coeff.Width)
	}
	var total float64
	for l, w := range wy {
		row := s.coeff.Row(s.boundary.Index(fy+s.margin+l, s.coeff.Height))
		var sum float64
		for k, v := range wx {
			sum += float64(v * float64(row[columns[k]]))
		}
		total += float64(w * sum)
	}
	gain := Normalization(s.order)
	return float64(total * float64(gain*gain)), nil
}

// integralWeights returns the integrals over [a, b] of the kernels of unit integral at first,
// first+1 and so on, up to the last that is not zero.
func (s *Spline[T]) integralWeights(a, b float64, size int) (first int, w []float64, err error) {
	limit := float64(size)
	for _, x := range []float64{a, b} {
		if !(x >= -limit-0.5 && x <= 2*limit-0.5) {
			return 0, nil, fmt.Errorf("bspline: integral to %v: want a bound within %d samples of the picture", x, size)
		}
	}
	firstA, fromA := cumulative(s.order, a)
	firstB, fromB := cumulative(s.order, b)
	first = min(firstA, firstB)
	w = make([]float64, max(firstA+len(fromA), firstB+len(fromB))-first)
	for k := range w {
		w[k] = below(fromB, first+k-firstB) - below(fromA, first+k-firstA)
	}
	return first, w, nil
}

// below returns c[k] of cumulative, or 1 for kernels entirely below and 0 for kernels entirely
// above.
func below(c []float64, k int) float64 {
	switch {
	case k < 0:
		return 1
	case k >= len(c):
		return 0
	}
	return c[k]
}

// cumulative returns the integrals from -∞ to x of the kernels of unit integral at first, first+1
// and so on. The kernels before first are entirely below x, with an integral of 1, and the kernels
// after the last are entirely above.
func cumulative(o Order, x float64) (first int, c []float64) {
	if o == CatmullRom {
		first, t := o.Locate(x)
		return first, cumulativeCatmullRom(t)
	}
	// The integrals are Σ β(x - 1/2 - k) over k >= 0, with the β of the next order.
	first, t := (o + 1).Locate(x - 0.5)
	c = make([]float64, (o + 1).Support())
	Weights(o+1, t, c)
	for k := len(c) - 2; k >= 0; k-- {
		c[k] += c[k+1]
	}
	for k := range c {
		c[k] /= factorial(o + 1)
	}
	return first, c
}

func cumulativeCatmullRom(t float64) []float64 {
	// These are the antiderivatives of catmullRomWeights, in pieces from right to left.
	pieces := func(t float64) [4]float64 {
		t2 := float64(t * t)
		t3, t4 := float64(t2*t), float64(t2*t2)
		return [4]float64{
			2*t3/3 - t2/2 - t4/4,
			float64(2*t) - 5*t3/3 + 3*t4/4,
			t2/2 + 4*t3/3 - 3*t4/4,
			-t3/3 + t4/4,
		}
	}
	part, whole := pieces(t), pieces(1)
	c := make([]float64, 4)
	var done float64
	for k := 3; k >= 0; k-- {
		c[k] = (done + part[k]) / 2
		done += whole[k]
	}
	return c
}
