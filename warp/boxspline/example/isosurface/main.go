// Command isosurface draws a surface of equal value in a volume:
//
//	go run ./warp/boxspline/example/isosurface -obj out.obj -png out.png volume.npy
//
// The volume is a three-dimensional .npy array. Its values, at the points of the element's
// lattice, become a spline, and marching cubes walk through the spline.
package main

import (
	"flag"
	"fmt"
	"image/png"
	"io"
	"os"
	"strings"
	"time"

	"retime/warp/boxspline"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/generic"
	"retime/warp/boxspline/lattice"
	"retime/warp/boxspline/prefilter"
)

type options struct {
	element, obj, png string
	iso, step         float64
	size              int
	generic, plain    bool
}

func main() {
	var o options
	flag.StringVar(&o.element, "element", "tricubic", "`NAME` of an element on the cube, bcc or fcc lattice")
	flag.StringVar(&o.obj, "obj", "", "write the surface to `FILE`")
	flag.StringVar(&o.png, "png", "", "draw it into `FILE`")
	flag.Float64Var(&o.iso, "iso", 0.25, "the `VALUE` of the surface")
	flag.Float64Var(&o.step, "step", 0.5, "the `LENGTH` of the side of a cube, in samples")
	flag.IntVar(&o.size, "size", 600, "the side of the picture in `PIXELS`")
	flag.BoolVar(&o.plain, "plain", false, "take the samples as coefficients")
	flag.BoolVar(&o.generic, "generic", false, "evaluate by the generic sum, which is slow")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "isosurface: want one volume; see isosurface -help")
		os.Exit(2)
	}
	if err := run(o, flag.Arg(0), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "isosurface:", err)
		os.Exit(1)
	}
}

func run(o options, input string, stdout io.Writer) error {
	if !(o.step > 0) || o.size < 1 {
		return fmt.Errorf("-step %v, -size %d: want positive numbers", o.step, o.size)
	}
	e, err := boxspline.Find(o.element)
	if err != nil {
		return err
	}
	if e.Dim() != 3 {
		return fmt.Errorf("element %s is two-dimensional; a volume needs a three-dimensional one", e.Name)
	}
	v, err := readNPY(input)
	if err != nil {
		return err
	}
	s, err := samples(e, v, o.plain)
	if err != nil {
		return err
	}
	begun := time.Now()
	m, err := surface(o, e, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d triangles in %.2f s\n", e.Name, len(m.triangles), time.Since(begun).Seconds())
	if err := create(o.obj, func(w io.Writer) error { return writeOBJ(w, m) }); err != nil {
		return err
	}
	return create(o.png, func(w io.Writer) error { return png.Encode(w, render(m, o.size)) })
}

// create writes a file, unless name is empty.
func create(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("write %q: %w", name, err)
	}
	return f.Close()
}

// samples returns the coefficients of the element's spline through the volume's values on its
// lattice, of a quasi-interpolant if no such spline exists, or the values themselves if plain is
// set.
func samples(e *boxspline.Element, v volume, plain bool) (*lattice.Samples, error) {
	var size lattice.Point
	for i, n := range v.size {
		size[i] = n / e.Lattice.Step
	}
	s, err := lattice.NewSamples(e.Lattice, lattice.WholeSymmetric, size)
	if err != nil {
		return nil, err
	}
	s.Each(func(p lattice.Point) { s.Set(p, v.values[(p[2]*v.size[1]+p[1])*v.size[0]+p[0]]) })
	degree := map[string]int{"trilinear": 1, "triquadratic": 2, "tricubic": 3}[e.Name]
	switch {
	case plain:
	case degree > 0:
		prefilter.Tensor(s, degree, 1e-6)
	default:
		series, err := prefilter.Interpolating(e, 1e-6)
		if err != nil {
			series = prefilter.Quasi(e, 2)
		}
		series.Apply(s)
	}
	return s, nil
}

// surface marches through the spline.
func surface(o options, e *boxspline.Element, s *lattice.Samples) (mesh, error) {
	var n [3]int
	for i := range n {
		n[i] = int(float64(s.Size[i]*e.Lattice.Step-1)/o.step) + 1
		if n[i] < 2 {
			return mesh{}, fmt.Errorf("steps of %v leave no cube in the volume", o.step)
		}
	}
	xs, ys, zs := make([]float64, n[0]), make([]float64, n[0]), make([]float64, n[0])
	for i := range xs {
		xs[i] = float64(i) * o.step
	}
	place := func(y, z int) {
		for i := range ys {
			ys[i], zs[i] = float64(y)*o.step, float64(z)*o.step
		}
	}
	if o.generic {
		b := generic.New(e)
		return march(n, o.step, o.iso, func(z int, dst []float64) {
			for i := range dst {
				dst[i] = generic.Evaluate(s, b, []float64{xs[i%n[0]], float64(i/n[0]) * o.step, float64(z) * o.step})
			}
		}), nil
	}
	f, err := fast.Find(e.Name)
	if err != nil {
		var names []string
		for _, f := range fast.Functions {
			names = append(names, f.Element)
		}
		return mesh{}, fmt.Errorf("%s has no generated code: give -generic, or one of %s", e.Name, strings.Join(names, ", "))
	}
	g := fast.NewGrid[float64](s, f.Along)
	return march(n, o.step, o.iso, func(z int, dst []float64) {
		for y := range n[1] {
			place(y, z)
			f.Volume(g, dst[y*n[0]:][:n[0]], xs, ys, zs)
		}
	}), nil
}
