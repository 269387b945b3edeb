package cuda

import (
	"fmt"

	"retime/frame"
	"retime/warp"
	"retime/warp/bspline"
)

// source is a frame of the clip in device memory, with the spline coefficients of its planes and
// their margins.
type source struct {
	resident
	planes       planes
	filtered     bool // whether the coefficients belong to the frame
	coefficients [4]Image[float32]
}

// args appends the addresses of the coefficients of planes first to end-1, margins included, padded
// with zeros to four.
func (c *source) args(to []Arg, first, end int) []Arg {
	return addresses(to, c.coefficients[first:end])
}

func (c *source) resize(d *Device, format frame.Format, width, height int, filtered bool) error {
	if err := c.planes.resize(d, format, width, height); err != nil || !filtered {
		return err
	}
	margin := warp.Constants().CoefficientMargin
	for i := range format.Planes {
		w, h := format.PlaneSize(i, width, height)
		if err := c.coefficients[i].Resize(d, w+2*margin, h+2*margin); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether c can hold f without new memory.
func (c *source) fits(f *frame.Frame) bool {
	p := &c.planes
	return p.format == f.Format && p.width == f.Width && p.height == f.Height
}

func (c *source) free() {
	c.planes.free()
	for i := range c.coefficients {
		c.coefficients[i].Free()
	}
}

// loader computes the coefficients of sources.
type loader struct {
	filter *Prefilter[float32] // for a B-spline
	quasi  []*Kernel           // for ZwartPowell, by bytes per sample
	light  lightTable          // empty until a frame is sampled in light
	margin *Kernel
}

func newLoader(d *Device, order bspline.Order, kernel warp.Kernel) (l loader, err error) {
	if l.margin, err = d.Kernel("margin", "extend_margin"); err != nil {
		return l, err
	}
	if kernel == warp.ZwartPowell {
		l.quasi = make([]*Kernel, 2)
		return l, d.Kernels("quasi", map[string]**Kernel{"quasi_u8": &l.quasi[0], "quasi_u16": &l.quasi[1]})
	}
	if l.filter, err = NewPrefilter[float32](d, order, bspline.WholeSymmetric, warp.Constants().Precision); err != nil {
		return l, fmt.Errorf("sampling: %w", err)
	}
	return l, nil
}

func (l *loader) free() {
	if l.filter != nil {
		l.filter.Free()
	}
	l.light.free()
}

// prefilter queues the kernels that compute the coefficients of c's frame.
func (l *loader) prefilter(s *Stream, c *source) error {
	margin := warp.Constants().CoefficientMargin
	lit := l.filter != nil && c.owner.Floats
	if lit {
		if err := l.light.load(s); err != nil {
			return err
		}
	}
	for i, p := range c.owner.Planes {
		inner := c.coefficients[i].Part(margin, margin, p.Width, p.Height)
		var err error
		if l.quasi != nil {
			from := c.planes.images[i]
			err = s.Launch(l.quasi[c.owner.Format.Bytes()-1], Cover(p.Width, p.Height, wideBlock), wideBlock, 0,
				inner.Arg(), Int(inner.Stride), from.Arg(), Int(c.planes.stride(i)), Int(p.Width), Int(p.Height))
		} else if lit {
			err = fromLight(s, l.filter, inner, samples[uint16](c.planes.images[i]), &l.light)
		} else if c.owner.Format.Bytes() == 1 {
			err = FromSamples(s, l.filter, inner, samples[uint8](c.planes.images[i]))
		} else {
			err = FromSamples(s, l.filter, inner, samples[uint16](c.planes.images[i]))
		}
		if err != nil {
			return err
		}
		err = s.Launch(l.margin, Cover(p.Width+2*margin, p.Height+2*margin, wideBlock), wideBlock, 0,
			inner.Arg(), Int(inner.Stride), Int(p.Width), Int(p.Height))
		if err != nil {
			return err
		}
	}
	return nil
}
