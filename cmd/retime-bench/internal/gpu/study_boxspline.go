package gpu

import (
	"fmt"
	"math"

	"retime/cuda"
	"retime/warp/boxspline"
	"retime/warp/boxspline/fast"
	"retime/warp/boxspline/lattice"
)

// The sizes of the study: a 4K picture, and a volume.
const (
	boxWidth, boxHeight = 3840, 2160
	boxSide             = 512
)

// boxSplines times the generated code of every element at coherent and at random positions.
func boxSplines(b *Bench) error { return boxSplineTable(b, boxWidth, boxHeight, boxSide) }

// HasBranching reports whether an element has more than one subregion and therefore a
// variant that branches.
func HasBranching(element string) bool {
	switch element {
	case "courant", "zp", "seven", "bcc-linear", "bcc-quintic", "fcc-cubic":
		return true
	}
	return false
}

// boxSplineTable prints a table for pictures of width by height, and one for volumes of
// about side³ coefficients.
func boxSplineTable(b *Bench, width, height, side int) error {
	for _, dim := range []int{2, 3} {
		count := width * height
		title := fmt.Sprintf("box splines on %dx%d coefficients, as many values in float32", width, height)
		if dim == 3 {
			count = side * side * side
			title = fmt.Sprintf("box splines on %d³ coefficients, as many values in float32", side)
		}
		t := b.NewTable(title, 44, "Gvalues/s")
		row := func(label string, seconds float64) {
			// The coefficients are read once and the values written once.
			t.Row(label, seconds, int64(8*count), fmt.Sprintf("%.2f", float64(count)/seconds/1e9))
		}
		if err := boxCopy(b, count, row); err != nil {
			return err
		}
		for _, f := range fast.Functions {
			e, err := boxspline.Find(f.Element)
			if err != nil {
				return err
			}
			if e.Dim() != dim {
				continue
			}
			shape := lattice.Point{width, height, 1}
			if dim == 3 {
				shape = lattice.Point{side, side, side}
			}
			if err := boxRows(b, f, e, shape, count, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// boxCopy times a copy of the coefficients.
func boxCopy(b *Bench, count int, row func(string, float64)) error {
	k, err := b.Device.Kernel("boxspline", "boxspline_copy")
	if err != nil {
		return err
	}
	var from, to cuda.Buffer[float32]
	defer from.Free()
	defer to.Free()
	if err := from.Resize(b.Device.Device, count); err != nil {
		return err
	}
	if err := from.Clear(b.Stream); err != nil {
		return err
	}
	if err := to.Resize(b.Device.Device, count); err != nil {
		return err
	}
	block := cuda.Dim{X: 256, Y: 1, Z: 1}
	seconds, err := b.Time(func() error {
		return b.Stream.Launch(k, cuda.Cover(count, 1, block), block, 0, to.Arg(), from.Arg(), cuda.Long(int64(count)))
	})
	if err == nil {
		row("copy", seconds)
	}
	return err
}

// boxRows times an element on arrays that together hold about as many coefficients as the shape.
// Positions are as dense as the coefficients.
func boxRows(b *Bench, f fast.Function, e *boxspline.Element, shape lattice.Point, count int, row func(string, float64)) error {
	cosets := len(e.Lattice.Offsets)
	if f.Along {
		cosets = 1
	}
	arrays, base, pitch := boxLayout(f, e, shape)
	spline, err := NewBoxSpline[float32](b.Device, f.Element, e.Dim(), cosets, arrays, base)
	if err != nil {
		return err
	}
	defer spline.Free()
	if err := spline.arrays.Clear(b.Stream); err != nil {
		return err
	}
	var out cuda.Buffer[float32]
	defer out.Free()
	if err := out.Resize(b.Device.Device, count); err != nil {
		return err
	}
	texels := make([][]float32, cosets)
	for i := range texels {
		texels[i] = make([]float32, arrays[0]*arrays[1]*arrays[2])
	}
	textures, err := NewBoxTextures(b.Device, f.Element, e.Dim(), texels, arrays, base)
	if err != nil {
		return err
	}
	defer textures.Close()
	for _, where := range []string{"coherent", "random"} {
		p := Positions{Width: shape[0], Height: shape[1], Depth: shape[2], Random: where == "random", Extent: [3]float64{pitch, pitch, pitch}}
		if p.Random {
			for k := range shape {
				p.Extent[k] *= float64(shape[k] - 1)
			}
		}
		measure := func(variant string, queue func() error) error {
			seconds, err := b.Time(queue)
			if err == nil {
				row(fmt.Sprintf("%s, %s, %s", f.Element, where, variant), seconds)
			}
			return err
		}
		if err := measure("exact", func() error { return spline.Evaluate(b.Stream, out, "f32", p) }); err != nil {
			return err
		}
		if HasBranching(f.Element) {
			if err := measure("branching", func() error { return spline.Evaluate(b.Stream, out, "branching", p) }); err != nil {
				return err
			}
		}
		if err := measure("linear", func() error { return textures.Evaluate(b.Stream, out, p) }); err != nil {
			return err
		}
	}
	return nil
}

// boxLayout returns the shape of an element's arrays, the index of their first coefficient
// and the distance between positions.
func boxLayout(f fast.Function, e *boxspline.Element, shape lattice.Point) (arrays, base lattice.Point, pitch float64) {
	const margin = 8
	pitch = math.Pow(float64(e.Lattice.Volume()), 1/float64(e.Dim()))
	if f.Along {
		// Along its basis, a plane's lattice is turned by 45 degrees.
		half := func(n int) int { return int(float64(n)*pitch/2) + 2*margin }
		side := half(shape[0]+shape[1]) + 2*margin
		return lattice.Point{side, side, 1}, lattice.Point{-margin, -half(shape[0]), 0}, pitch
	}
	arrays = lattice.Point{1, 1, 1}
	for k := range e.Dim() {
		arrays[k] = int(float64(shape[k])*pitch/float64(e.Lattice.Step)) + 2*margin
		base[k] = -margin
	}
	return arrays, base, pitch
}
