package bspline

import "retime/pipeline/frame"

// column is where a value's coefficients start in a row.
type column struct {
	first int
	// valid says that there is a value, inside that no boundary is met.
	valid, inside bool
}

// warpSeparable is Warp where columns map to columns and rows to rows. Along
// rows each coefficient row is summed once and serves every output row that
// needs it; the additions are those of Spline.sum, in its order.
func (s *Spline[T]) warpSeparable(workers frame.Workers, dst frame.Image[T], p Projective, outside Outside[T]) {
	n := s.order.Support()
	width, height := s.limits(outside)
	xs, unused := make([]float64, dst.Width), make([]float64, dst.Width)
	p.Positions(0, xs, unused)
	columns := make([]column, dst.Width)
	weights := make([]T, dst.Width*n)
	for i, x := range xs {
		if !within(x, width) {
			continue
		}
		first, t := s.order.Locate(x + float64(s.margin))
		Weights(s.order, T(t), weights[i*n:(i+1)*n])
		columns[i] = column{first, true, first >= 0 && first+n <= s.coeff.Width}
	}
	workers.Rows(dst.Height, func(y0, y1 int) {
		// rows[j mod n] holds coefficient row j, summed along x.
		rows := make([]T, n*dst.Width)
		held := make([]int, n)
		present := make([]bool, n)
		var x, y [1]float64
		var w [maxSupport]T
		for row := y0; row < y1; row++ {
			out := dst.Row(row)
			p.Positions(row, x[:], y[:])
			if !within(y[0], height) {
				for i := range out {
					out[i] = outside.Value
				}
				continue
			}
			first, t := s.order.Locate(y[0] + float64(s.margin))
			Weights(s.order, T(t), w[:n])
			for l := range n {
				// A power of two: it may as well come first.
				w[l] = T(w[l] * s.gain)
			}
			clear(out)
			for l := range n {
				j := first + l
				slot := mod(j, n)
				sums := rows[slot*dst.Width : (slot+1)*dst.Width]
				if !present[slot] || held[slot] != j {
					s.sumRow(sums, j, columns, weights)
					held[slot], present[slot] = j, true
				}
			}
			s.combine(out, rows, first, w[:n])
			for i := range columns {
				if !columns[i].valid {
					out[i] = outside.Value
				}
			}
		}
	})
}

// sumRow sets each of sums to its column's weighted sum over coefficient row j.
func (s *Spline[T]) sumRow(sums []T, j int, columns []column, weights []T) {
	n := s.order.Support()
	row := s.coeff.Row(s.boundary.Index(j, s.coeff.Height))
	columns = columns[:len(sums)]
	for i := range sums {
		c := columns[i]
		w := weights[:n]
		weights = weights[n:]
		if c.inside {
			sums[i] = dot(row[c.first:], w)
			continue
		}
		var sum T
		for k, v := range w {
			sum += T(v * row[s.boundary.Index(c.first+k, len(row))])
		}
		sums[i] = sum
	}
}

// combine adds up the weighted rows from first on into out, which is zero.
func (s *Spline[T]) combine(out, rows []T, first int, w []T) {
	n := len(w)
	row := func(l int) []T {
		slot := mod(first+l, n)
		return rows[slot*len(out) : (slot+1)*len(out)]
	}
	l := 0
	for ; l+4 <= n; l += 4 {
		add4(out, row(l), row(l+1), row(l+2), row(l+3), (*[4]T)(w[l:]))
	}
	for ; l < n; l++ {
		add1(out, row(l), w[l])
	}
}

func add1[T Float](out, a []T, w T) {
	a = a[:len(out)]
	for i := range out {
		out[i] += T(w * a[i])
	}
}

func add4[T Float](out, a, b, c, d []T, w *[4]T) {
	a, b, c, d = a[:len(out)], b[:len(out)], c[:len(out)], d[:len(out)]
	w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
	for i, v := range out {
		v += T(w0 * a[i])
		v += T(w1 * b[i])
		v += T(w2 * c[i])
		v += T(w3 * d[i])
		out[i] = v
	}
}
