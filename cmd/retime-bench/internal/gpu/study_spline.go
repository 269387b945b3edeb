package gpu

import (
	"fmt"
	"math/rand/v2"
	"unsafe"

	"retime/cuda"
	"retime/frame"
	"retime/warp/bspline"
)

// The size of the picture in tables 6 to 8 of Briand and Davy.
const splineWidth, splineHeight = 4608, 3456

// splineTables times the shift of a picture by (0.5, 0.5), half-symmetric, to a
// precision of 1e-6, as tables 6 to 8 of Briand and Davy do.
func splineTables(b *Bench) error {
	if err := splineTable[float32](b, splineWidth, splineHeight); err != nil {
		return err
	}
	b.Printf("\n")
	return splineTable[float64](b, splineWidth, splineHeight)
}

// splineTable prints the rows for one type. The columns after the total are in milliseconds, except
// the last, which is the ratio of the total to the time of copying the picture three times.
func splineTable[T bspline.Float](b *Bench, width, height int) error {
	const precision, orders = 1e-6, 12
	var sample T
	t := b.NewTable(fmt.Sprintf("%T %dx%d shifted by (0.5, 0.5), half-symmetric, precision %v, of which ms;\n"+
		"scattered: instead, positions that come one by one", sample, width, height, precision),
		10, "columns", "rows", "evaluation", "scattered", "of 3 copies")
	rng := rand.New(rand.NewPCG(3, 4))
	host := frame.NewImage[T](width, height)
	for i := range host.Pix {
		host.Pix[i] = T(rng.IntN(256))
	}
	var src, half, coeff, dst cuda.Image[T]
	for _, m := range []*cuda.Image[T]{&src, &half, &coeff, &dst} {
		defer m.Free()
		if err := m.Resize(b.Device.Device, width, height); err != nil {
			return err
		}
	}
	if err := src.Upload(b.Stream, host); err != nil {
		return err
	}
	bytes := int64(len(host.Pix)) * int64(unsafe.Sizeof(sample))
	one, err := b.timeCopy(bytes)
	if err != nil {
		return err
	}
	t.Row("copy", one, 2*bytes)
	for order := range bspline.Order(orders) {
		p, err := cuda.NewPrefilter[T](b.Device.Device, order, bspline.HalfSymmetric, precision)
		if err != nil {
			return err
		}
		defer p.Free()
		var times [4]float64
		passes := int64(1)
		from := src
		if order > bspline.Linear {
			passes, from = 3, coeff
			if times[0], err = b.Time(func() error { return p.Columns(b.Stream, half, src) }); err != nil {
				return err
			}
			if times[1], err = b.Time(func() error { return p.Rows(b.Stream, coeff, half) }); err != nil {
				return err
			}
		}
		s, err := NewSpline(b.Device.Device, from, order, bspline.HalfSymmetric, 0)
		if err != nil {
			return err
		}
		if times[2], err = b.Time(func() error { return s.Warp(b.Stream, dst, bspline.Shift(0.5, 0.5)) }); err != nil {
			return err
		}
		// A map that is not quite a shift uses the general kernel.
		skew, err := bspline.Affine(1, 1e-15, 0.5, 0, 1, 0.5)
		if err != nil {
			return err
		}
		if times[3], err = b.Time(func() error { return s.Warp(b.Stream, dst, skew) }); err != nil {
			return err
		}
		total := times[0] + times[1] + times[2]
		var cells []string
		for _, v := range times {
			cells = append(cells, fmt.Sprintf("%.4f", 1e3*v))
		}
		t.Row(fmt.Sprintf("order %v", order), total, 2*passes*bytes, append(cells, fmt.Sprintf("%.2f", total/(3*one)))...)
	}
	return nil
}
