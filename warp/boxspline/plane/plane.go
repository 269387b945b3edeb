// Package plane samples pictures with splines of those elements of package boxspline that are on
// the square lattice, as package bspline does with its own splines.
package plane

import (
	"fmt"
	"math"
	"strings"

	"retime/frame"
	"retime/warp/boxspline"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/lattice"
	"retime/warp/boxspline/prefilter"
	"retime/warp/bspline"
)

// Kernel is an element, under its name for pictures.
type Kernel string

// The kernels. ZwartPowell does not interpolate but shows a quasi-interpolant.
const (
	Linear      Kernel = "linear"
	Quadratic   Kernel = "quadratic"
	Cubic       Kernel = "cubic"
	Courant     Kernel = "courant"
	ZwartPowell Kernel = "zp"
)

// Kernels lists all kernels.
var Kernels = []Kernel{Linear, Quadratic, Cubic, Courant, ZwartPowell}

// elements names the kernels' elements, and the degree of those that are tensor products.
var elements = map[Kernel]struct {
	name   string
	degree int
}{Linear: {"bilinear", 1}, Quadratic: {"biquadratic", 2}, Cubic: {"bicubic", 3}, Courant: {"courant", 0}, ZwartPowell: {"zp", 0}}

// ParseKernel returns the kernel with the given name, or an error that lists the names.
func ParseKernel(name string) (Kernel, error) {
	if _, ok := elements[Kernel(name)]; ok {
		return Kernel(name), nil
	}
	names := make([]string, len(Kernels))
	for i, k := range Kernels {
		names[i] = string(k)
	}
	return "", fmt.Errorf("plane: kernel %q: want %s", name, strings.Join(names, ", "))
}

// quasiPowers is the number of powers of ZwartPowell's quasi-interpolant: the smallest that
// preserves as much of a picture as Quadratic does (docs/boxspline.md has the figures).
const quasiPowers = 5

// border is the number of samples by which a picture with a constant boundary is extended on all
// sides before it is filtered; farther out it has the value at the border.
const border = 24

// Spline is a picture's spline. Several goroutines may use it at once.
type Spline[T fast.Float] struct {
	grid          *fast.Grid[T]
	row           func(g *fast.Grid[T], dst []T, xs, ys []float64)
	width, height int
	border        int
}

// New returns the spline of a picture, to within precision times its largest sample. It returns an
// error if the picture is empty or malformed, or precision is not positive.
func New[T fast.Float](workers frame.Workers, img frame.Image[T], k Kernel, b bspline.Boundary, precision float64) (*Spline[T], error) {
	e, ok := elements[k]
	if !ok {
		return nil, fmt.Errorf("plane: no kernel %q", string(k))
	}
	if img.Width < 1 || img.Height < 1 || img.Stride < img.Width || len(img.Pix) < (img.Height-1)*img.Stride+img.Width {
		return nil, fmt.Errorf("plane: an image of %dx%d, stride %d, with %d samples is empty or malformed", img.Width, img.Height, img.Stride, len(img.Pix))
	}
	if !(precision > 0) {
		return nil, fmt.Errorf("plane: precision %v: want a positive number", precision)
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	s := &Spline[T]{width: img.Width, height: img.Height}
	if b == bspline.Constant {
		s.border = border
	}
	boundary := map[bspline.Boundary]lattice.Boundary{
		bspline.HalfSymmetric: lattice.HalfSymmetric, bspline.WholeSymmetric: lattice.WholeSymmetric,
		bspline.Periodic: lattice.Periodic, bspline.Constant: lattice.HalfSymmetric,
	}[b]
	samples, err := lattice.NewSamples(lattice.Square, boundary, lattice.Point{img.Width + 2*s.border, img.Height + 2*s.border})
	if err != nil {
		return nil, err
	}
	workers.Rows(samples.Size[1], func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := img.Row(bspline.Constant.Index(y-s.border, img.Height))
			dst := samples.Cosets[0][y*samples.Size[0]:][:samples.Size[0]]
			for x := range dst {
				dst[x] = float64(row[bspline.Constant.Index(x-s.border, img.Width)])
			}
		}
	})
	if k == ZwartPowell {
		el, err := boxspline.Find(e.name)
		if err != nil {
			return nil, err
		}
		prefilter.Quasi(el, quasiPowers).Apply(samples)
	} else {
		prefilter.Tensor(samples, max(e.degree, 1), precision)
	}
	f, err := fast.Find(e.name)
	if err != nil {
		return nil, err
	}
	s.grid = fast.NewGrid[T](samples, f.Along)
	switch row := any(&s.row).(type) {
	case *func(g *fast.Grid[float64], dst, xs, ys []float64):
		*row = f.Plane
	case *func(g *fast.Grid[float32], dst []float32, xs, ys []float64):
		*row = f.Plane32
	}
	return s, nil
}

// Row sets dst[i] to the value at (xs[i], ys[i]), or NaN if a coordinate is not finite or too large
// to have a fraction. It may overwrite xs and ys.
func (s *Spline[T]) Row(dst []T, xs, ys []float64) {
	if s.border > 0 {
		within(xs[:len(dst)], s.width)
		within(ys[:len(dst)], s.height)
	}
	s.row(s.grid, dst, xs, ys)
}

// within moves positions on a line of n samples to the extended line.
func within(xs []float64, n int) {
	for i, x := range xs {
		if x == x && !math.IsInf(x, 0) {
			xs[i] = min(max(x, -border), float64(n-1+border)) + border
		}
	}
}

// WarpWithin fills dst with the picture transformed by tr, and gives outside's value to positions
// that are off the picture or not finite.
func (s *Spline[T]) WarpWithin(workers frame.Workers, dst frame.Image[T], tr bspline.Transform, outside bspline.Outside[T]) error {
	if dst.Stride < dst.Width || dst.Height > 0 && len(dst.Pix) < (dst.Height-1)*dst.Stride+dst.Width {
		return fmt.Errorf("plane: an output of %dx%d, stride %d, with %d samples is malformed", dst.Width, dst.Height, dst.Stride, len(dst.Pix))
	}
	workers.Rows(dst.Height, func(y0, y1 int) {
		xs, ys := make([]float64, dst.Width), make([]float64, dst.Width)
		off := make([]bool, dst.Width)
		for y := y0; y < y1; y++ {
			tr.Positions(0, y, xs, ys)
			for i := range xs {
				off[i] = outside.X && !(xs[i] >= -0.5 && xs[i] <= float64(s.width)-0.5) ||
					outside.Y && !(ys[i] >= -0.5 && ys[i] <= float64(s.height)-0.5)
			}
			row := dst.Row(y)
			s.Row(row, xs, ys)
			for i, v := range row {
				if off[i] || v != v {
					row[i] = outside.Value
				}
			}
		}
	})
	return nil
}
