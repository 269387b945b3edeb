package cuda

import (
	"fmt"

	"retime/frame"
	"retime/warp/bspline"
)

// Prefilter turns samples into B-spline coefficients, with the same bits as package bspline's
// prefilter. Only one stream at a time may use it.
type Prefilter[T bspline.Float] struct {
	of        *bspline.Prefilter[T]
	device    *Device
	converter *converter

	columns, rows       axis
	columns8, columns16 *Kernel
	extend              *Kernel
	poles               Buffer[T] // in the layout that filter_line of prefilter.cu reads
	half, scratch       Image[T]
}

// axis holds the kernels that filter along one axis.
type axis struct {
	// wide and narrow filter by one pole: wide filters as many lines in a block as a warp has
	// threads, and narrow fewer, for when shared memory is scarce.
	wide, narrow *Kernel
	// whole filters by all poles, lines lines per block. It is faster if there are several poles.
	whole          *Kernel
	lines, several int
	// chunk is the number of samples to which lines in shared memory are aligned, or 0 for columns,
	// which are side by side there.
	chunk int
}

const (
	wideLanes   = 32
	narrowLanes = 8
)

// NewPrefilter returns a prefilter with the parameters of bspline.NewPrefilter, or an
// error if they are out of range or the kernels cannot be loaded.
func NewPrefilter[T bspline.Float](d *Device, order bspline.Order, boundary bspline.Boundary, precision float64) (*Prefilter[T], error) {
	of, err := bspline.NewPrefilter[T](order, boundary, precision)
	if err != nil {
		return nil, err
	}
	p := &Prefilter[T]{of: of, device: d}
	if p.converter, err = newConverter(d); err != nil {
		return nil, err
	}
	chunk := 16 / sizeOf[T]()
	p.columns.lines, p.columns.several = 2*chunk, 3
	p.rows.lines, p.rows.several, p.rows.chunk = chunk, 2, chunk
	kernels := map[string]**Kernel{"columns_u8_f32": &p.columns8, "columns_u16_f32": &p.columns16, "extend_" + suffix[T](): &p.extend}
	for name, a := range map[string]*axis{"columns_": &p.columns, "rows_": &p.rows} {
		kernels[name+suffix[T]()] = &a.wide
		kernels[name+"narrow_"+suffix[T]()] = &a.narrow
		kernels["whole_"+name+suffix[T]()] = &a.whole
	}
	if err := d.Kernels("prefilter", kernels); err != nil {
		return nil, err
	}
	if err := p.loadPoles(); err != nil {
		p.Free()
		return nil, err
	}
	return p, nil
}

// loadPoles uploads the poles.
func (p *Prefilter[T]) loadPoles() error {
	var values []T
	for _, q := range p.of.Filters() {
		values = append(values, q.Z, q.Border, T(q.N))
	}
	if len(values) == 0 {
		return nil
	}
	if err := p.poles.Resize(p.device, len(values)); err != nil {
		return err
	}
	s, err := p.device.NewStream()
	if err != nil {
		return err
	}
	err = p.poles.Upload(s, values)
	if e := s.Synchronize(); err == nil {
		err = e
	}
	if e := s.Close(); err == nil {
		err = e
	}
	return err
}

// suffix returns the suffix of kernel names for T.
func suffix[T bspline.Float]() string {
	if sizeOf[T]() == 8 {
		return "f64"
	}
	return "f32"
}

// value returns v as an argument of type float or double.
func value[T bspline.Float](v T) Arg {
	if sizeOf[T]() == 8 {
		return Double(float64(v))
	}
	return Float(float32(v))
}

// Free releases p's memory. No stream may still use p.
func (p *Prefilter[T]) Free() {
	p.poles.Free()
	p.half.Free()
	p.scratch.Free()
}

// Margin returns the number of coefficients that Apply adds beyond each edge, like Margin of
// bspline's prefilter.
func (p *Prefilter[T]) Margin() int { return p.of.Margin() }

// Apply queues the kernels that set dst to the coefficients of src: columns first, then
// rows. dst must be larger than src by Margin on each side. It may be src if Margin is
// 0.
func (p *Prefilter[T]) Apply(s *Stream, dst, src Image[T]) error {
	m := p.Margin()
	if dst.Width != src.Width+2*m || dst.Height != src.Height+2*m {
		return fmt.Errorf("coefficients of %dx%d for an image of %dx%d and a margin of %d", dst.Width, dst.Height, src.Width, src.Height, m)
	}
	if src.Width*src.Height == 0 {
		return nil
	}
	if m > 0 {
		block := Dim{32, 8, 1}
		if err := s.Launch(p.extend, Cover(dst.Width, dst.Height, block), block, 0, src.Arg(), Int(src.Stride),
			Int(src.Width), Int(src.Height), dst.Arg(), Int(dst.Stride), Int(m)); err != nil {
			return err
		}
		src = dst
	}
	if p.poles.N == 0 {
		if src == dst {
			return nil
		}
		return dst.CopyFrom(s, src)
	}
	if err := p.half.Resize(p.device, dst.Width, dst.Height); err != nil {
		return err
	}
	if err := p.Columns(s, p.half, src); err != nil {
		return err
	}
	return p.Rows(s, dst, p.half)
}

// Columns queues the first half of Apply: the filters along y, without the extension. dst must have
// src's size and not overlap it. The order must have poles.
func (p *Prefilter[T]) Columns(s *Stream, dst, src Image[T]) error {
	return p.filter(s, p.columns, dst, src, src.Width, src.Height)
}

// Rows queues the second half of Apply, under the conditions of Columns.
func (p *Prefilter[T]) Rows(s *Stream, dst, src Image[T]) error {
	return p.filter(s, p.rows, dst, src, src.Height, src.Width)
}

// filter queues the filters of count lines of the given length.
func (p *Prefilter[T]) filter(s *Stream, a axis, dst, src Image[T], count, length int) error {
	filters := p.of.Filters()
	if len(filters) >= a.several {
		regions := ceilDiv(length, bspline.Region)
		stride := length + regions
		if a.chunk > 0 {
			// Lines begin in different banks; see whole_rows in prefilter.cu.
			banks := 8 / a.lines
			stride = a.chunk * (ceilDiv(ceilDiv(length, a.chunk)+regions-banks, 8)*8 + banks)
		}
		shared := a.lines * stride * sizeOf[T]()
		if shared <= p.device.Info().SharedMemory && a.lines*regions <= maxThreads {
			args := []Arg{src.Arg(), Int(src.Stride), dst.Arg(), Int(dst.Stride), Int(dst.Width), Int(dst.Height),
				p.poles.Arg(), Int(len(filters)), Int(int(p.of.Boundary()))}
			if a.chunk > 0 {
				args = append(args, Int(stride))
			}
			return s.Launch(a.whole, Dim{ceilDiv(count, a.lines), 1, 1}, Dim{a.lines * regions, 1, 1}, shared, args...)
		}
	}
	next, other := dst, Image[T]{}
	if len(filters) > 1 {
		// The passes alternate between two images and end in dst.
		if err := p.scratch.Resize(p.device, dst.Width, dst.Height); err != nil {
			return err
		}
		if other = p.scratch; len(filters)%2 == 0 {
			next, other = other, next
		}
	}
	for _, q := range filters {
		if err := p.pass(s, a, a.wide, next, src.Arg(), src.Stride, q, count, length); err != nil {
			return err
		}
		src, next, other = next, other, next
	}
	return nil
}

const maxThreads = 1024 // in a block

// pass queues the filters for one pole. wide is a.wide, or a kernel with the same parameters.
func (p *Prefilter[T]) pass(s *Stream, a axis, wide *Kernel, dst Image[T], src Arg, stride int, q bspline.PoleFilter[T], count, length int) error {
	tile := bspline.Region + 2*q.N
	if a.chunk > 0 {
		// A line has an odd number of chunks; the first chunk may begin before the line.
		tile = a.chunk * (ceilDiv(tile+a.chunk-1, a.chunk) | 1)
	}
	period := 0
	if p.of.Boundary() == bspline.Periodic {
		period = q.N
	}
	k, n := wide, wideLanes
	if n*(tile+period)*sizeOf[T]() > p.device.Info().SharedMemory {
		k, n = a.narrow, narrowLanes
	}
	return s.Launch(k, Dim{ceilDiv(count, n), ceilDiv(length, bspline.Region), 1}, Dim{n, 1, 1}, n*(tile+period)*sizeOf[T](),
		src, Int(stride), dst.Arg(), Int(dst.Stride), Int(dst.Width), Int(dst.Height),
		value(q.Z), value(q.Border), Int(q.N), Int(int(p.of.Boundary())), Int(n*tile))
}

// FromSamples queues the kernels that set dst to the coefficients of src as floats, as
// Apply does. dst must have src's size, and p no margin.
func FromSamples[S frame.Sample](s *Stream, p *Prefilter[float32], dst Image[float32], src Image[S]) error {
	if p.Margin() > 0 || dst.Width != src.Width || dst.Height != src.Height {
		return fmt.Errorf("coefficients of %dx%d for samples of %dx%d and a margin of %d", dst.Width, dst.Height, src.Width, src.Height, p.Margin())
	}
	filters := p.of.Filters()
	if len(filters) != 1 {
		if err := toFloat(s, p.converter, dst, src); err != nil {
			return err
		}
		return p.Apply(s, dst, dst)
	}
	if src.Width*src.Height == 0 {
		return nil
	}
	if err := p.half.Resize(p.device, dst.Width, dst.Height); err != nil {
		return err
	}
	k := p.columns8
	if sizeOf[S]() == 2 {
		k = p.columns16
	}
	if err := p.pass(s, p.columns, k, p.half, src.Arg(), src.Stride, filters[0], src.Width, src.Height); err != nil {
		return err
	}
	return p.Rows(s, dst, p.half)
}

// fromLight is FromSamples for the light of samples.
func fromLight(s *Stream, p *Prefilter[float32], dst Image[float32], src Image[uint16], light *lightTable) error {
	if err := toLight(s, p.converter, dst, src, light); err != nil {
		return err
	}
	return p.Apply(s, dst, dst)
}
