package cuda

import (
	"fmt"

	"retime/frame"
	"retime/warp/bspline"
)

// Prefilter turns samples into the B-spline coefficients that package bspline's
// prefilter makes of them, with the same bits. It serves one stream at a time.
type Prefilter[T bspline.Float] struct {
	of        *bspline.Prefilter[T]
	device    *Device
	converter *Converter

	columns, rows       axis
	columns8, columns16 *Kernel
	extend              *Kernel
	poles               Buffer[T] // as filter_line of prefilter.cu takes them
	half, scratch       Image[T]
}

// axis is what filters along one axis.
type axis struct {
	// wide and narrow filter by one pole: as many lines in a block as a warp has
	// threads, or fewer where shared memory is scarce.
	wide, narrow *Kernel
	// whole filters by all poles, lines of them in a block; it is faster from
	// several poles on.
	whole          *Kernel
	lines, several int
	// chunk is the number of samples to which lines in shared memory are aligned,
	// 0 for columns, which are side by side there.
	chunk int
}

const (
	wideLanes   = 32
	narrowLanes = 8
)

// NewPrefilter loads the kernels; see bspline.NewPrefilter for the rest.
func NewPrefilter[T bspline.Float](d *Device, order bspline.Order, boundary bspline.Boundary, precision float64) (*Prefilter[T], error) {
	of, err := bspline.NewPrefilter[T](order, boundary, precision)
	if err != nil {
		return nil, err
	}
	p := &Prefilter[T]{of: of, device: d}
	if p.converter, err = NewConverter(d); err != nil {
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

// loadPoles brings the poles to the device.
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

// suffix is how the names of kernels for T end.
func suffix[T bspline.Float]() string {
	if sizeOf[T]() == 8 {
		return "f64"
	}
	return "f32"
}

// value is v as an argument of type float or double.
func value[T bspline.Float](v T) Arg {
	if sizeOf[T]() == 8 {
		return Double(float64(v))
	}
	return Float(float32(v))
}

// Free gives p's memory back. No stream may still use p.
func (p *Prefilter[T]) Free() {
	p.poles.Free()
	p.half.Free()
	p.scratch.Free()
}

// Margin is the number of coefficients that Apply makes beyond each edge, as
// bspline's.
func (p *Prefilter[T]) Margin() int { return p.of.Margin() }

// Apply queues the coefficients of src: columns first, then rows. dst is larger
// than src by Margin on each side. It may be src where the margin is 0.
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

// Columns queues the first half of Apply: the filters along y, without the
// extension. dst has src's size and does not overlap it. There must be poles.
func (p *Prefilter[T]) Columns(s *Stream, dst, src Image[T]) error {
	return p.filter(s, p.columns, dst, src, src.Width, src.Height)
}

// Rows queues the second half of Apply, as Columns.
func (p *Prefilter[T]) Rows(s *Stream, dst, src Image[T]) error {
	return p.filter(s, p.rows, dst, src, src.Height, src.Width)
}

// filter filters count lines of the given length.
func (p *Prefilter[T]) filter(s *Stream, a axis, dst, src Image[T], count, length int) error {
	filters := p.of.Filters()
	if len(filters) >= a.several {
		regions := ceilDiv(length, bspline.Region)
		stride := length + regions
		if a.chunk > 0 {
			// Lines begin in different banks; see whole_rows of prefilter.cu.
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
		// The passes go to and fro, and end in dst.
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

const maxThreads = 1024 // of a block

// pass filters by one pole. wide is a's kernel of that name or its like.
func (p *Prefilter[T]) pass(s *Stream, a axis, wide *Kernel, dst Image[T], src Arg, stride int, q bspline.PoleFilter[T], count, length int) error {
	tile := bspline.Region + 2*q.N
	if a.chunk > 0 {
		// An odd number of chunks, the first of which may begin early.
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

// FromSamples queues the coefficients of src, which has dst's size, as Apply does
// of its samples as floats. p must have no margin.
func FromSamples[S frame.Sample](s *Stream, p *Prefilter[float32], dst Image[float32], src Image[S]) error {
	if p.Margin() > 0 || dst.Width != src.Width || dst.Height != src.Height {
		return fmt.Errorf("coefficients of %dx%d for samples of %dx%d and a margin of %d", dst.Width, dst.Height, src.Width, src.Height, p.Margin())
	}
	filters := p.of.Filters()
	if len(filters) != 1 {
		if err := ToFloat(s, p.converter, dst, src); err != nil {
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
