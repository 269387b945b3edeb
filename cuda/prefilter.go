package cuda

import (
	"fmt"

	"retime/pipeline/frame"
	"retime/warp/bspline"
)

// Prefilter turns samples into the B-spline coefficients that package bspline's
// prefilter makes of them, with the same bits. It serves one stream at a time.
type Prefilter[T bspline.Float] struct {
	of            *bspline.Prefilter[T]
	device        *Device
	converter     *Converter
	columns, rows map[int]*Kernel // by lanes
	columns8      *Kernel
	columns16     *Kernel
	extend        *Kernel
	scratch       Image[T]
}

// The number of lines that a block filters: all threads of a warp, or fewer where
// shared memory is scarce.
const (
	lanes       = 32
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
	var columns, rows, narrowColumns, narrowRows *Kernel
	kernels := map[string]**Kernel{
		"columns_u8_f32": &p.columns8, "columns_u16_f32": &p.columns16,
		"columns_" + suffix[T](): &columns, "columns_narrow_" + suffix[T](): &narrowColumns,
		"rows_" + suffix[T](): &rows, "rows_narrow_" + suffix[T](): &narrowRows,
		"extend_" + suffix[T](): &p.extend,
	}
	if err := d.Kernels("prefilter", kernels); err != nil {
		return nil, err
	}
	p.columns = map[int]*Kernel{lanes: columns, narrowLanes: narrowColumns}
	p.rows = map[int]*Kernel{lanes: rows, narrowLanes: narrowRows}
	return p, nil
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

// Free gives the scratch memory back. No stream may still use p.
func (p *Prefilter[T]) Free() { p.scratch.Free() }

// Margin is the number of coefficients that Apply makes beyond each edge, as
// bspline's.
func (p *Prefilter[T]) Margin() int { return p.of.Margin() }

// Apply queues the coefficients of src: columns first, then rows. dst is larger
// than src by Margin on each side. It may be src where the margin is 0.
func (p *Prefilter[T]) Apply(s *Stream, dst, src Image[T]) error { return p.apply(s, dst, src, nil) }

// apply is Apply, which records half after the columns unless it is nil.
func (p *Prefilter[T]) apply(s *Stream, dst, src Image[T], half *Event) error {
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
	filters := p.of.Filters()
	if len(filters) == 0 {
		if src == dst {
			return nil
		}
		return dst.CopyFrom(s, src)
	}
	// The passes go to and fro between the scratch image and dst, where the last
	// one ends.
	if err := p.scratch.Resize(p.device, dst.Width, dst.Height); err != nil {
		return err
	}
	next, other := p.scratch, dst
	for _, q := range filters {
		k, n, shared, err := p.tile(p.columns, q, 0)
		if err != nil {
			return err
		}
		if err := p.pass(s, k, Dim{ceilDiv(src.Width, n), ceilDiv(src.Height, bspline.Region), 1}, n, shared,
			src.Arg(), src.Stride, next, q); err != nil {
			return err
		}
		src, next, other = next, other, next
	}
	if half != nil {
		if err := s.Record(half); err != nil {
			return err
		}
	}
	return p.alongRows(s, src, next, other)
}

// alongRows filters along x, from src to next, to other, and so on.
func (p *Prefilter[T]) alongRows(s *Stream, src, next, other Image[T]) error {
	for _, q := range p.of.Filters() {
		k, n, shared, err := p.tile(p.rows, q, sizeOf[T]())
		if err != nil {
			return err
		}
		if err := p.pass(s, k, Dim{ceilDiv(src.Height, n), ceilDiv(src.Width, bspline.Region), 1}, n, shared,
			src.Arg(), src.Stride, next, q); err != nil {
			return err
		}
		src, next, other = next, other, next
	}
	return nil
}

// tiling is the shared memory of a block: a tile, and from value spare on the room
// that a periodic line needs.
type tiling struct{ spare, bytes int }

// tile chooses the kernel for a pole by the shared memory that it needs.
// rowSample is the size of a sample where lines are rows, which have space between
// them, and 0 where they are columns.
func (p *Prefilter[T]) tile(kernels map[int]*Kernel, q bspline.PoleFilter[T], rowSample int) (*Kernel, int, tiling, error) {
	length := bspline.Region + 2*q.N
	if rowSample > 0 {
		// An odd number of chunks of 16 bytes, the first of which may begin early.
		chunk := 16 / rowSample
		length = (ceilDiv(length+chunk-1, chunk) | 1) * chunk
	}
	period := 0
	if p.of.Boundary() == bspline.Periodic {
		period = q.N
	}
	var t tiling
	for _, n := range []int{lanes, narrowLanes} {
		t = tiling{n * length, n * (length + period) * sizeOf[T]()}
		if t.bytes <= p.device.Info().SharedMemory {
			return kernels[n], n, t, nil
		}
	}
	return nil, 0, t, fmt.Errorf("prefilter of order %v: %s of shared memory wanted, a block of %s has %s",
		p.of.Order(), Bytes(t.bytes), p.device.Info().Name, Bytes(p.device.Info().SharedMemory))
}

func (p *Prefilter[T]) pass(s *Stream, k *Kernel, grid Dim, n int, shared tiling, src Arg, stride int, dst Image[T], q bspline.PoleFilter[T]) error {
	return s.Launch(k, grid, Dim{n, 1, 1}, shared.bytes, src, Int(stride), dst.Arg(), Int(dst.Stride),
		Int(dst.Width), Int(dst.Height), value(q.Z), value(q.Border), Int(q.N), Int(int(p.of.Boundary())), Int(shared.spare))
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
	if err := p.scratch.Resize(p.device, dst.Width, dst.Height); err != nil {
		return err
	}
	k := p.columns8
	if sizeOf[S]() == 2 {
		k = p.columns16
	}
	q := filters[0]
	_, n, shared, err := p.tile(map[int]*Kernel{lanes: k}, q, 0)
	if err != nil {
		return err
	}
	if err := p.pass(s, k, Dim{ceilDiv(src.Width, n), ceilDiv(src.Height, bspline.Region), 1}, n, shared,
		src.Arg(), src.Stride, p.scratch, q); err != nil {
		return err
	}
	return p.alongRows(s, p.scratch, dst, p.scratch)
}
