package bspline

import (
	"fmt"
	"math"

	"retime/frame"
)

// Transform is a geometric transformation φ of a picture, given by its inverse: the
// output sample at (x, y) is the value of the input at φ⁻¹(x, y).
type Transform interface {
	// Positions sets (xs[i], ys[i]) to φ⁻¹(x+i, y) for every i. xs and ys have the same length.
	// Several goroutines may call it at once.
	Positions(x, y int, xs, ys []float64)
}

// Projective is a shift, zoom, rotation, affine map or homography. The zero value has
// no finite positions; Shift, Zoom, Rotation, Affine and Homography return useful ones.
type Projective struct {
	// inverse maps homogeneous output coordinates to input coordinates.
	inverse [3][3]float64
}

// Shift returns the map that moves a picture by (dx, dy) samples, to the right and
// down.
func Shift(dx, dy float64) Projective {
	return Projective{[3][3]float64{{1, 0, -dx}, {0, 1, -dy}, {0, 0, 1}}}
}

// Zoom returns the map that magnifies a picture by scale around (cx, cy), which stays
// in place. A negative scale also turns the picture by half a turn. Zoom returns an
// error if scale or its inverse is zero or not finite.
func Zoom(scale, cx, cy float64) (Projective, error) {
	inverse := 1 / scale
	if scale == 0 || math.IsNaN(scale) || math.IsInf(scale, 0) || math.IsInf(inverse, 0) {
		return Projective{}, fmt.Errorf("bspline: zoom by %v: want a finite scale other than 0", scale)
	}
	return Projective{[3][3]float64{
		{inverse, 0, cx - float64(inverse*cx)},
		{0, inverse, cy - float64(inverse*cy)},
		{0, 0, 1},
	}}, nil
}

// Rotation returns the map that turns a picture by an angle in radians around (cx, cy),
// from the x axis to the y axis, which is clockwise on a screen.
func Rotation(angle, cx, cy float64) Projective {
	sin, cos := math.Sincos(angle)
	return Projective{[3][3]float64{
		{cos, sin, cx - float64(cos*cx) - float64(sin*cy)},
		{-sin, cos, cy + float64(sin*cx) - float64(cos*cy)},
		{0, 0, 1},
	}}
}

// Affine returns the map that moves the point (x, y) to (a x + b y + c, d x + e y + f),
// or an error if the map has no inverse.
func Affine(a, b, c, d, e, f float64) (Projective, error) {
	return Homography([9]float64{a, b, c, d, e, f, 0, 0, 1})
}

// Homography returns the map that moves the point (x, y) to (X/Z, Y/Z), where (X, Y, Z) is the
// product of the matrix with the rows h[0:3], h[3:6] and h[6:9] and the vector (x, y, 1). It
// returns an error if the matrix is singular, up to the precision of float64.
func Homography(h [9]float64) (Projective, error) {
	// The inverse is the adjugate; the scale of a homography's matrix does not matter.
	inverse := [3][3]float64{
		{minor(h, 4, 8, 5, 7), minor(h, 2, 7, 1, 8), minor(h, 1, 5, 2, 4)},
		{minor(h, 5, 6, 3, 8), minor(h, 0, 8, 2, 6), minor(h, 2, 3, 0, 5)},
		{minor(h, 3, 7, 4, 6), minor(h, 1, 6, 0, 7), minor(h, 0, 4, 1, 3)},
	}
	det := float64(h[0]*inverse[0][0]) + float64(h[1]*inverse[1][0]) + float64(h[2]*inverse[2][0])
	// bound is Hadamard's bound on the determinant. Rounding can cause errors of up to
	// 1e-14 of the bound.
	bound := 1.0
	for i := 0; i < 9; i += 3 {
		bound *= math.Hypot(math.Hypot(h[i], h[i+1]), h[i+2])
	}
	if !(math.Abs(det) > 1e-14*bound) || math.IsInf(bound, 1) {
		return Projective{}, fmt.Errorf("bspline: matrix %v is singular or out of range: no inverse", h)
	}
	scale := det
	if h[6] == 0 && h[7] == 0 {
		// The inverse of an affine map gets the last row (0, 0, 1), which saves a
		// division.
		scale = inverse[2][2]
	}
	for i := range inverse {
		for j := range inverse[i] {
			inverse[i][j] /= scale
		}
	}
	return Projective{inverse}, nil
}

// minor returns h[a] h[b] - h[c] h[d].
func minor(h [9]float64, a, b, c, d int) float64 {
	return float64(h[a]*h[b]) - float64(h[c]*h[d])
}

// Then returns the map that applies p, then q.
func (p Projective) Then(q Projective) Projective {
	var r Projective
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				r.inverse[i][j] += float64(p.inverse[i][k] * q.inverse[k][j])
			}
		}
	}
	return r
}

// Positions implements [Transform]. On a homography's horizon the positions are not
// finite.
func (p Projective) Positions(x, y int, xs, ys []float64) {
	m := &p.inverse
	fy := float64(y)
	x0 := float64(m[0][1]*fy) + m[0][2]
	y0 := float64(m[1][1]*fy) + m[1][2]
	ys = ys[:len(xs)]
	if p.affine() {
		for i := range xs {
			fx := float64(x + i)
			xs[i] = float64(m[0][0]*fx) + x0
			ys[i] = float64(m[1][0]*fx) + y0
		}
		return
	}
	z0 := float64(m[2][1]*fy) + m[2][2]
	for i := range xs {
		fx := float64(x + i)
		z := float64(m[2][0]*fx) + z0
		xs[i] = (float64(m[0][0]*fx) + x0) / z
		ys[i] = (float64(m[1][0]*fx) + y0) / z
	}
}

// Inverse returns φ⁻¹ as a matrix of homogeneous coordinates. The matrix of an affine
// map ends in the row (0, 0, 1).
func (p Projective) Inverse() [3][3]float64 { return p.inverse }

func (p Projective) affine() bool { return p.inverse[2] == [3]float64{0, 0, 1} }

// Separable reports whether the input's x depends on the output's x alone, and the
// input's y on the output's y.
func (p Projective) Separable() bool {
	return p.affine() && p.inverse[0][1] == 0 && p.inverse[1][0] == 0
}

// Flow is a dense backward flow: the output at (x, y) is the input at (x + U(x, y), y +
// V(x, y)), in samples. Beyond the field, its border vectors apply.
type Flow struct {
	U, V frame.Image[float32]
}

// NewFlow returns the flow of two fields, or an error if the sizes differ or a field is
// empty.
func NewFlow(u, v frame.Image[float32]) (Flow, error) {
	if err := checkImage(u); err != nil {
		return Flow{}, err
	}
	if err := checkImage(v); err != nil {
		return Flow{}, err
	}
	if u.Width != v.Width || u.Height != v.Height || u.Width == 0 || u.Height == 0 {
		return Flow{}, fmt.Errorf("bspline: flow of %dx%d and %dx%d vectors: want two fields of one size",
			u.Width, u.Height, v.Width, v.Height)
	}
	return Flow{u, v}, nil
}

// Positions implements [Transform].
func (f Flow) Positions(x, y int, xs, ys []float64) {
	row := Constant.Index(y, f.U.Height)
	u, v := f.U.Row(row), f.V.Row(row)
	for i := range xs {
		j := Constant.Index(x+i, len(u))
		xs[i] = float64(x+i) + float64(u[j])
		ys[i] = float64(y) + float64(v[j])
	}
}

// Func is a transform by a function that returns φ⁻¹(x, y). Several goroutines may call
// the function at once.
type Func func(x, y float64) (float64, float64)

// Positions implements [Transform].
func (f Func) Positions(x, y int, xs, ys []float64) {
	for i := range xs {
		xs[i], ys[i] = f(float64(x+i), float64(y))
	}
}
