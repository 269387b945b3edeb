package bspline

import "math"

// At returns the value at (x, y), by algorithm 8. Positions outside the picture follow
// the boundary. The value is NaN if a coordinate is not finite, or too large to have a
// fraction.
func (s *Spline[T]) At(x, y float64) T {
	var wx, wy [maxSupport]T
	n := s.order.Support()
	return s.at(x, y, wx[:n], wy[:n])
}

// at computes At, with memory for the weights.
func (s *Spline[T]) at(x, y float64, wx, wy []T) T {
	if !inRange(x) || !inRange(y) {
		return T(math.NaN())
	}
	x0, tx := s.order.Locate(x + float64(s.margin))
	y0, ty := s.order.Locate(y + float64(s.margin))
	Weights(s.order, T(tx), wx)
	Weights(s.order, T(ty), wy)
	return s.sum(x0, y0, wx, wy)
}

// inRange reports whether x is finite and has a fraction.
func inRange(x float64) bool { return math.Abs(x) < 1<<51 }

// Row sets dst[i] to the value at (xs[i], ys[i]), as At does. xs and ys must be at
// least as long as dst.
func (s *Spline[T]) Row(dst []T, xs, ys []float64) {
	switch s.order {
	case Nearest:
		s.nearestRow(dst, xs, ys)
	case Linear:
		s.linearRow(dst, xs, ys)
	case Cubic, CatmullRom:
		s.cubicRow(dst, xs, ys)
	default:
		var wx, wy [maxSupport]T
		n := s.order.Support()
		xs, ys = xs[:len(dst)], ys[:len(dst)]
		for i := range dst {
			dst[i] = s.at(xs[i], ys[i], wx[:n], wy[:n])
		}
	}
}

// sum returns the weighted sum of the coefficients from (x0, y0) on. It adds along the
// rows first, then the rows, from small indices to large.
func (s *Spline[T]) sum(x0, y0 int, wx, wy []T) T {
	if x0 < 0 || y0 < 0 || x0+len(wx) > s.coeff.Width || y0+len(wy) > s.coeff.Height {
		return s.sumAcross(x0, y0, wx, wy)
	}
	stride := s.coeff.Stride
	pix := s.coeff.Pix[y0*stride+x0:]
	var value T
	for len(wy) >= 4 {
		d0, d1, d2, d3 := dot4(pix, stride, wx)
		value += T(wy[0] * d0)
		value += T(wy[1] * d1)
		value += T(wy[2] * d2)
		value += T(wy[3] * d3)
		if wy = wy[4:]; len(wy) > 0 {
			pix = pix[4*stride:]
		}
	}
	for l, w := range wy {
		value += T(w * dot(pix[l*stride:], wx))
	}
	return T(value * s.gain)
}

// sumAcross computes sum if some coefficients are beyond the edges.
func (s *Spline[T]) sumAcross(x0, y0 int, wx, wy []T) T {
	var columns [maxSupport]int
	for k := range wx {
		columns[k] = s.boundary.Index(x0+k, s.coeff.Width)
	}
	var value T
	for l, w := range wy {
		row := s.coeff.Row(s.boundary.Index(y0+l, s.coeff.Height))
		var sum T
		for k, v := range wx {
			sum += T(v * row[columns[k]])
		}
		value += T(w * sum)
	}
	return T(value * s.gain)
}

// dot returns the sum of the products of w and the first len(w) elements of c.
func dot[T Float](c, w []T) T {
	c = c[:len(w)]
	var sum T
	for k, v := range w {
		sum += T(v * c[k])
	}
	return sum
}

// dot4 computes dot for four rows that are stride apart.
func dot4[T Float](pix []T, stride int, w []T) (d0, d1, d2, d3 T) {
	a := pix[:len(w)]
	b := pix[stride:][:len(w)]
	c := pix[2*stride:][:len(w)]
	d := pix[3*stride:][:len(w)]
	for k, v := range w {
		d0 += T(v * a[k])
		d1 += T(v * b[k])
		d2 += T(v * c[k])
		d3 += T(v * d[k])
	}
	return d0, d1, d2, d3
}

// split returns the integer part of x, rounded down, and the fraction. The result is meaningless
// unless x is inRange.
func split(x float64) (int, float64) {
	i := int(x)
	f := float64(i)
	if f > x {
		i--
		f--
	}
	return i, x - f
}

// cubicRow computes Row for orders with four coefficients along an axis.
func (s *Spline[T]) cubicRow(dst []T, xs, ys []float64) {
	xs, ys = xs[:len(dst)], ys[:len(dst)]
	pix, stride := s.coeff.Pix, s.coeff.Stride
	// x0 and y0 up to these limits have all their coefficients in the image.
	width, height := uint(max(0, s.coeff.Width-3)), uint(max(0, s.coeff.Height-3))
	margin := float64(s.margin)
	catmullRom := s.order == CatmullRom
	for i := range dst {
		x, fx := split(xs[i] + margin)
		y, fy := split(ys[i] + margin)
		x, y = x-1, y-1
		var x0, x1, x2, x3, y0, y1, y2, y3 T
		if catmullRom {
			x0, x1, x2, x3 = catmullRomWeights(T(fx))
			y0, y1, y2, y3 = catmullRomWeights(T(fy))
		} else {
			x0, x1, x2, x3 = cubicWeights(T(fx))
			y0, y1, y2, y3 = cubicWeights(T(fy))
		}
		if uint(x) >= width || uint(y) >= height {
			if !inRange(xs[i]) || !inRange(ys[i]) {
				dst[i] = T(math.NaN())
				continue
			}
			dst[i] = s.cubicAcross(x, y, &[4]T{x0, x1, x2, x3}, &[4]T{y0, y1, y2, y3})
			continue
		}
		// Slices cut to size on both sides need the fewest bounds checks.
		o := y*stride + x
		a := (*[4]T)(pix[o : o+4 : o+4])
		o += stride
		b := (*[4]T)(pix[o : o+4 : o+4])
		o += stride
		c := (*[4]T)(pix[o : o+4 : o+4])
		o += stride
		d := (*[4]T)(pix[o : o+4 : o+4])
		v := T(y0 * (T(x0*a[0]) + T(x1*a[1]) + T(x2*a[2]) + T(x3*a[3])))
		v += T(y1 * (T(x0*b[0]) + T(x1*b[1]) + T(x2*b[2]) + T(x3*b[3])))
		v += T(y2 * (T(x0*c[0]) + T(x1*c[1]) + T(x2*c[2]) + T(x3*c[3])))
		v += T(y3 * (T(x0*d[0]) + T(x1*d[1]) + T(x2*d[2]) + T(x3*d[3])))
		dst[i] = T(v * s.gain)
	}
}

// cubicAcross computes sumAcross for four coefficients along an axis.
func (s *Spline[T]) cubicAcross(x, y int, wx, wy *[4]T) T {
	c0, c1, c2, c3 := s.boundary.index4(x, s.coeff.Width)
	r0, r1, r2, r3 := s.boundary.index4(y, s.coeff.Height)
	x0, x1, x2, x3 := wx[0], wx[1], wx[2], wx[3]
	a, b, c, d := s.coeff.Row(r0), s.coeff.Row(r1), s.coeff.Row(r2), s.coeff.Row(r3)
	value := T(wy[0] * (T(x0*a[c0]) + T(x1*a[c1]) + T(x2*a[c2]) + T(x3*a[c3])))
	value += T(wy[1] * (T(x0*b[c0]) + T(x1*b[c1]) + T(x2*b[c2]) + T(x3*b[c3])))
	value += T(wy[2] * (T(x0*c[c0]) + T(x1*c[c1]) + T(x2*c[c2]) + T(x3*c[c3])))
	value += T(wy[3] * (T(x0*d[c0]) + T(x1*d[c1]) + T(x2*d[c2]) + T(x3*d[c3])))
	return T(value * s.gain)
}

// linearRow computes Row for order 1.
func (s *Spline[T]) linearRow(dst []T, xs, ys []float64) {
	xs, ys = xs[:len(dst)], ys[:len(dst)]
	pix, stride := s.coeff.Pix, s.coeff.Stride
	width, height := uint(max(0, s.coeff.Width-1)), uint(max(0, s.coeff.Height-1))
	for i := range dst {
		x, fx := split(xs[i])
		y, fy := split(ys[i])
		if uint(x) >= width || uint(y) >= height {
			dst[i] = s.At(xs[i], ys[i])
			continue
		}
		tx, ty := T(fx), T(fy)
		o := y*stride + x
		a := (*[2]T)(pix[o : o+2 : o+2])
		o += stride
		b := (*[2]T)(pix[o : o+2 : o+2])
		v := T((1 - ty) * (T((1-tx)*a[0]) + T(tx*a[1])))
		dst[i] = v + T(ty*(T((1-tx)*b[0])+T(tx*b[1])))
	}
}

// nearestRow computes Row for order 0.
func (s *Spline[T]) nearestRow(dst []T, xs, ys []float64) {
	xs, ys = xs[:len(dst)], ys[:len(dst)]
	pix, stride := s.coeff.Pix, s.coeff.Stride
	width, height := uint(s.coeff.Width), uint(s.coeff.Height)
	for i := range dst {
		x, _ := split(xs[i] + 0.5)
		y, _ := split(ys[i] + 0.5)
		if uint(x) >= width || uint(y) >= height {
			dst[i] = s.At(xs[i], ys[i])
			continue
		}
		dst[i] = pix[y*stride+x]
	}
}
