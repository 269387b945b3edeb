package cuda

import (
	"fmt"

	"retime/frame"
)

// planes holds the planes of a frame in device memory, as bytes.
type planes struct {
	format        frame.Format
	width, height int
	images        [4]Image[byte]
}

// resize makes p hold the planes of a picture of width by height. No stream may still
// use p.
func (p *planes) resize(d *Device, format frame.Format, width, height int) error {
	p.format, p.width, p.height = format, width, height
	for i := range format.Planes {
		w, h := format.PlaneSize(i, width, height)
		if err := p.images[i].Resize(d, w*format.Bytes(), h); err != nil {
			return err
		}
	}
	return nil
}

func (p *planes) free() {
	for i := range p.images {
		p.images[i].Free()
	}
}

// upload queues copies of f's planes to the device.
func (p *planes) upload(s *Stream, f *frame.Frame) error {
	for i := range f.Planes {
		if err := p.images[i].Upload(s, planeBytes(f, i)); err != nil {
			return err
		}
	}
	return nil
}

// bring queues copies of f's planes to the device, from the device's own copy if it has one,
// otherwise from the host.
func (p *planes) bring(s *Stream, f *frame.Frame) error {
	if m, ok := f.Memory.(*Mirror); ok {
		if done, err := m.copyTo(s, p, f); done || err != nil {
			return err
		}
	}
	return p.upload(s, f)
}

// download queues copies of the planes to f.
func (p *planes) download(s *Stream, f *frame.Frame) error {
	for i := range f.Planes {
		if err := p.images[i].Download(s, planeBytes(f, i)); err != nil {
			return err
		}
	}
	return nil
}

// planeBytes returns a plane of f as bytes.
func planeBytes(f *frame.Frame, i int) frame.Image[byte] {
	p := &f.Planes[i]
	return frame.Image[byte]{Width: p.Width * f.Format.Bytes(), Height: p.Height, Stride: p.Stride, Pix: p.Pix}
}

// stride returns the stride of plane i in samples.
func (p *planes) stride(i int) int { return p.images[i].Stride / p.format.Bytes() }

// args appends the addresses of planes first to end-1 to the arguments, and zeros up to
// four.
func (p *planes) args(to []Arg, first, end int) []Arg { return addresses(to, p.images[first:end]) }

// addresses appends the addresses of up to four images, and zeros in place of those that are missing.
func addresses[T any](to []Arg, images []Image[T]) []Arg {
	for _, m := range images {
		to = append(to, m.Arg())
	}
	return append(to, make([]Arg, 4-len(images))...)
}

// samples returns bytes as samples of T. In images of whole rows, the samples are always aligned.
func samples[T frame.Sample](m Image[byte]) Image[T] {
	n := sizeOf[T]()
	b := Buffer[T]{m.buffer.N / n, m.buffer.address, m.buffer.room / n, m.buffer.device}
	return Image[T]{m.Width / n, m.Height, m.Stride / n, b, m.offset / n}
}

// group is a set of adjacent planes with the same subsampling, which share their holes.
type group struct {
	first, end    int
	sx, sy        int
	width, height int
}

// String returns the names of the planes.
func (g group) String() string {
	if g.end == g.first+1 {
		return fmt.Sprintf("plane %d", g.first)
	}
	return fmt.Sprintf("planes %d to %d", g.first, g.end-1)
}

// samples returns the number of the planes' samples; bytes returns their size.
func (g group) samples() int                  { return (g.end - g.first) * g.width * g.height }
func (g group) bytes(format frame.Format) int { return g.samples() * format.Bytes() }

// groups divides a frame's planes into groups.
func groups(format frame.Format, width, height int) []group {
	var list []group
	for i := range format.Planes {
		sx, sy := format.Subsampling(i)
		if n := len(list); n > 0 && list[n-1].sx == sx && list[n-1].sy == sy {
			list[n-1].end++
			continue
		}
		w, h := format.PlaneSize(i, width, height)
		list = append(list, group{i, i + 1, sx, sy, w, h})
	}
	return list
}

// maxGroups is the largest number of groups of a frame: luma, chroma and alpha.
const maxGroups = 3
