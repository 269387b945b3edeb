package bspline

import (
	"slices"

	"retime/frame"
)

// columns holds the x positions of an output row's values, which are the same in every row.
type columns[T Float] struct {
	first   []int // index of the first coefficient of each column
	weights []T   // weights of each column in turn
	valid   []bool
	// Columns [inside, outside) have all their coefficients in the image.
	inside, outside int
}

// columns locates the columns of an output of the given width. The positions ascend or descend, so
// the columns that do not meet a boundary are contiguous.
func (s *Spline[T]) columns(width int, p Projective, limit float64) columns[T] {
	n := s.order.Support()
	xs, ys := make([]float64, width), make([]float64, width)
	p.Positions(0, 0, xs, ys)
	c := columns[T]{first: make([]int, width), weights: make([]T, width*n), valid: make([]bool, width)}
	for i, x := range xs {
		if !within(x, limit) {
			continue
		}
		first, t := s.order.Locate(x + float64(s.margin))
		Weights(s.order, T(t), c.weights[i*n:(i+1)*n])
		c.first[i], c.valid[i] = first, true
		if first >= 0 && first+n <= s.coeff.Width {
			if c.outside == 0 {
				c.inside = i
			}
			c.outside = i + 1
		}
	}
	return c
}

// warpSeparable does the work of Warp if columns map to columns and rows to rows. It sums each row
// of coefficients along x once, for all output rows that need it. It adds in the same order as
// Spline.sum.
func (s *Spline[T]) warpSeparable(workers frame.Workers, dst frame.Image[T], p Projective, outside Outside[T]) {
	n := s.order.Support()
	width, height := s.limits(outside)
	cols := s.columns(dst.Width, p, width)
	anyOutside := slices.Contains(cols.valid, false)
	workers.Rows(dst.Height, func(y0, y1 int) {
		// Slot j mod n holds row j of the coefficients, summed along x.
		sums := frame.NewImage[T](dst.Width, n)
		held := make([]int, n)
		present := make([]bool, n)
		var x, y [1]float64
		var w [maxSupport]T
		for row := y0; row < y1; row++ {
			out := dst.Row(row)
			p.Positions(0, row, x[:], y[:])
			if !within(y[0], height) {
				for i := range out {
					out[i] = outside.Value
				}
				continue
			}
			first, t := s.order.Locate(y[0] + float64(s.margin))
			Weights(s.order, T(t), w[:n])
			for l := range n {
				// The gain is a power of two, so multiplying by it early changes no bits.
				w[l] = T(w[l] * s.gain)
				slot := mod(first+l, n)
				if !present[slot] || held[slot] != first+l {
					s.sumRow(sums.Row(slot), first+l, cols)
					held[slot], present[slot] = first+l, true
				}
			}
			combine(out, sums, mod(first, n), w[:n])
			for i := 0; anyOutside && i < len(out); i++ {
				if !cols.valid[i] {
					out[i] = outside.Value
				}
			}
		}
	})
}

// sumRow sets each of sums to its column's weighted sum over row j of the coefficients.
func (s *Spline[T]) sumRow(sums []T, j int, c columns[T]) {
	n := s.order.Support()
	row := s.coeff.Row(s.boundary.Index(j, s.coeff.Height))
	for i := range c.inside {
		sums[i] = s.sumColumn(row, c.first[i], c.weights[i*n:(i+1)*n])
	}
	for i := c.outside; i < len(sums); i++ {
		sums[i] = s.sumColumn(row, c.first[i], c.weights[i*n:(i+1)*n])
	}
	sums, first, weights := sums[c.inside:c.outside], c.first[c.inside:c.outside], c.weights[c.inside*n:c.outside*n]
	if sums, ok := any(sums).([]float32); ok {
		loops.across(sums, any(row).([]float32), first, any(weights).([]float32), n)
		return
	}
	across(sums, row, first, weights, n)
}

// across sets each of sums to the sum of n weighted coefficients of row.
func across[T Float](sums, row []T, first []int, weights []T, n int) {
	switch n {
	case 1:
		for i, f := range first {
			sums[i] = T(weights[i] * row[f])
		}
	case 2:
		for i, f := range first {
			a, w := (*[2]T)(row[f:f+2:f+2]), (*[2]T)(weights[2*i:2*i+2:2*i+2])
			sums[i] = T(w[0]*a[0]) + T(w[1]*a[1])
		}
	case 4:
		for i, f := range first {
			a, w := (*[4]T)(row[f:f+4:f+4]), (*[4]T)(weights[4*i:4*i+4:4*i+4])
			sums[i] = T(w[0]*a[0]) + T(w[1]*a[1]) + T(w[2]*a[2]) + T(w[3]*a[3])
		}
	default:
		for i, f := range first {
			sums[i] = dot(row[f:], weights[i*n:(i+1)*n])
		}
	}
}

// sumColumn sums along x if some coefficients may be beyond the edges.
func (s *Spline[T]) sumColumn(row []T, first int, w []T) T {
	var sum T
	for k, v := range w {
		sum += T(v * row[s.boundary.Index(first+k, len(row))])
	}
	return sum
}

// combine sets out to the weighted sums of the rows of sums, which form a ring that starts with row
// first.
func combine[T Float](out []T, sums frame.Image[T], first int, w []T) {
	if out, ok := any(out).([]float32); ok {
		loops.down(out, any(sums).(frame.Image[float32]), first, any(w).([]float32))
		return
	}
	down(out, sums, first, w)
}

// down does the work of combine.
func down[T Float](out []T, sums frame.Image[T], first int, w []T) {
	n := len(w)
	row := func(l int) []T { return sums.Row((first + l) % n) }
	clear(out)
	l := 0
	for ; l+4 <= n; l += 4 {
		add4(out, row(l), row(l+1), row(l+2), row(l+3), (*[4]T)(w[l:]))
	}
	if l+2 <= n {
		add2(out, row(l), row(l+1), w[l], w[l+1])
		l += 2
	}
	if l < n {
		add1(out, row(l), w[l])
	}
}

func add1[T Float](out, a []T, w T) {
	a = a[:len(out)]
	for i := range out {
		out[i] += T(w * a[i])
	}
}

func add2[T Float](out, a, b []T, w0, w1 T) {
	a, b = a[:len(out)], b[:len(out)]
	for i, v := range out {
		out[i] = v + T(w0*a[i]) + T(w1*b[i])
	}
}

func add4[T Float](out, a, b, c, d []T, w *[4]T) {
	a, b, c, d = a[:len(out)], b[:len(out)], c[:len(out)], d[:len(out)]
	w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
	for i, v := range out {
		out[i] = v + T(w0*a[i]) + T(w1*b[i]) + T(w2*c[i]) + T(w3*d[i])
	}
}
