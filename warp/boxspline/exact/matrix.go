package exact

// Vec is a vector.
type Vec []Rat

// Ints returns the vector of the integers v.
func Ints(v ...int) Vec {
	w := make(Vec, len(v))
	for i, n := range v {
		w[i] = Int(n)
	}
	return w
}

// Add returns v + w.
func (v Vec) Add(w Vec) Vec { return v.plus(w, Int(1)) }

// Sub returns v - w.
func (v Vec) Sub(w Vec) Vec { return v.plus(w, Int(-1)) }

func (v Vec) plus(w Vec, s Rat) Vec {
	r := make(Vec, len(v))
	for i := range v {
		r[i] = v[i].Add(w[i].Mul(s))
	}
	return r
}

// Scale returns s v.
func (v Vec) Scale(s Rat) Vec {
	r := make(Vec, len(v))
	for i := range v {
		r[i] = v[i].Mul(s)
	}
	return r
}

// Dot returns the inner product of v and w.
func (v Vec) Dot(w Vec) Rat {
	var s Rat
	for i := range v {
		s = s.Add(v[i].Mul(w[i]))
	}
	return s
}

// Equal reports whether v and w are the same vector.
func (v Vec) Equal(w Vec) bool {
	for i := range v {
		if v[i].Cmp(w[i]) != 0 {
			return false
		}
	}
	return true
}

// IsZero reports whether every component is zero.
func (v Vec) IsZero() bool {
	for _, a := range v {
		if a.Sign() != 0 {
			return false
		}
	}
	return true
}

// Key returns a text that is equal only for equal vectors.
func (v Vec) Key() string {
	var b []byte
	for _, a := range v {
		b = append(append(b, a.String()...), ' ')
	}
	return string(b)
}

// Floats returns the components rounded to float64.
func (v Vec) Floats() []float64 {
	f := make([]float64, len(v))
	for i, a := range v {
		f[i] = a.Float()
	}
	return f
}

// Matrix is a matrix, stored by columns.
type Matrix []Vec

// Rows returns the matrix with these rows of integers.
func Rows(rows ...[]int) Matrix {
	m := make(Matrix, len(rows[0]))
	for j := range m {
		m[j] = make(Vec, len(rows))
		for i := range rows {
			m[j][i] = Int(rows[i][j])
		}
	}
	return m
}

// Identity returns the unit matrix of n columns.
func Identity(n int) Matrix {
	m := make(Matrix, n)
	for j := range m {
		m[j] = make(Vec, n)
		m[j][j] = Int(1)
	}
	return m
}

// Apply returns m v.
func (m Matrix) Apply(v Vec) Vec {
	r := make(Vec, len(m[0]))
	for j, c := range m {
		r = r.Add(c.Scale(v[j]))
	}
	return r
}

// Row returns row i.
func (m Matrix) Row(i int) Vec {
	r := make(Vec, len(m))
	for j := range m {
		r[j] = m[j][i]
	}
	return r
}

// Det returns the determinant of a square matrix.
func (m Matrix) Det() Rat {
	_, det := m.eliminate()
	return det
}

// Inverse returns the inverse of a square matrix and true, or false if there is none.
func (m Matrix) Inverse() (Matrix, bool) {
	inverse, det := m.eliminate()
	return inverse, det.Sign() != 0
}

// eliminate is Gauss-Jordan elimination on columns.
func (m Matrix) eliminate() (Matrix, Rat) {
	n := len(m)
	a, inverse, det := make(Matrix, n), Identity(n), Int(1)
	copy(a, m)
	for i := range n {
		p := i
		for p < n && a[p][i].Sign() == 0 {
			p++
		}
		if p == n {
			return nil, Rat{}
		}
		if p != i {
			a[i], a[p] = a[p], a[i]
			inverse[i], inverse[p] = inverse[p], inverse[i]
			det = det.Neg()
		}
		det = det.Mul(a[i][i])
		s := Int(1).Div(a[i][i])
		a[i], inverse[i] = a[i].Scale(s), inverse[i].Scale(s)
		for j := range n {
			if f := a[j][i]; j != i && f.Sign() != 0 {
				a[j], inverse[j] = a[j].plus(a[i], f.Neg()), inverse[j].plus(inverse[i], f.Neg())
			}
		}
	}
	return inverse, det
}

// Rank returns the rank of m.
func (m Matrix) Rank() int {
	rows := make([]Vec, len(m))
	copy(rows, m)
	rank := 0
	for i := 0; len(m) > 0 && i < len(m[0]); i++ {
		p := rank
		for p < len(rows) && rows[p][i].Sign() == 0 {
			p++
		}
		if p == len(rows) {
			continue
		}
		rows[rank], rows[p] = rows[p], rows[rank]
		for j := rank + 1; j < len(rows); j++ {
			rows[j] = rows[j].plus(rows[rank], rows[j][i].Div(rows[rank][i]).Neg())
		}
		rank++
	}
	return rank
}
