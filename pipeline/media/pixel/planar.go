// Package pixel handles the samples of pictures: pixel formats and memory layouts,
// colour, conversion, and the memory of frames.
package pixel

import (
	"fmt"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
)

// Source describes a decoder's pictures and the frames that present them. Width and
// Height are in pixels.
type Source struct {
	Width, Height int
	Format        astiav.PixelFormat // of the decoded pictures
	Planar        astiav.PixelFormat // of the frames: the planar twin of Format
	Colour        Colour
}

// Carried returns Format, or Planar if a frame cannot be converted back to Format.
func (s Source) Carried() astiav.PixelFormat {
	if restores(s.Format, s.Planar) {
		return s.Format
	}
	return s.Planar
}

// linear reports whether the decoder's samples are floating point and the frames' samples
// PQ signals for them.
func (s Source) linear() bool { return isLinear(s.Format) }

// Light says how the frames' samples stand for light.
func (s Source) Light() frame.Light {
	if s.linear() {
		return frame.Light{Transfer: frame.PQ, FullRange: true, Floats: true}
	}
	l := frame.Light{Transfer: s.Colour.transfer(), Gamma: s.Colour.gamma(s.Format), FullRange: s.planarLayout().full}
	switch s.Colour.coefficients(s.Height) {
	case av.MatrixBT2020:
		l.Red, l.Blue = 2627, 593
	case av.MatrixBT709:
		l.Red, l.Blue = 2126, 722
	case av.MatrixSMPTE170M:
		l.Red, l.Blue = 2990, 1140
	}
	return l
}

// planarLayout returns the frames' layout.
func (s Source) planarLayout() layout {
	l := s.Colour.layout(s.Width, s.Height, s.Planar)
	l.full = s.Colour.full(s.Format)
	return l
}

// Planar presents decoded pictures of any format and size as frames of one planar format
// and size.
type Planar struct {
	source  Source
	format  frame.Format
	convert converter
}

// NewPlanar returns a Planar for pictures like first with the given colour. lossless is
// false if it rounds samples; ok is false if the format has no planar form. Call Close
// after use.
func NewPlanar(first *astiav.Frame, colour Colour) (p *Planar, lossless, ok bool) {
	source := first.PixelFormat()
	twin, lossless, ok := PlanarTwin(source)
	if !ok {
		return nil, false, false
	}
	format, _ := PlanarFormat(twin)
	p = &Planar{
		format: format,
		source: Source{Width: first.Width(), Height: first.Height(), Format: source, Planar: twin, Colour: colour},
	}
	p.convert = converter{to: p.source.planarLayout(), twin: true}
	return p, lossless, true
}

// Source returns the description of the pictures and frames.
func (p *Planar) Source() Source { return p.source }

// Format returns the frames' format.
func (p *Planar) Format() frame.Format { return p.format }

// Frame turns f into a frame with the given PTS and duration, both in the stream's time
// base. It takes over f. The frame shares f's samples if f's layout allows.
func (p *Planar) Frame(f *astiav.Frame, pts, duration int64) (*frame.Frame, error) {
	to := p.convert.to
	view := f
	views, ok := []frame.Plane(nil), false
	if f.PixelFormat() == to.format && f.Width() == to.width && f.Height() == to.height {
		views, ok = Planes(f, p.format)
	}
	if !ok {
		var err error
		if view, err = p.convert.convert(f, p.source.Colour.layout(f.Width(), f.Height(), f.PixelFormat())); err != nil {
			f.Free()
			return nil, err
		}
		if views, ok = Planes(view, p.format); !ok {
			view.Free()
			f.Free()
			return nil, fmt.Errorf("unexpected plane layout of %s", to.format)
		}
	}
	out := frame.Wrap(p.format, to.width, to.height, views, func(*frame.Frame) {
		f.Free()
		if view != f {
			view.Free()
		}
	})
	out.PTS, out.Duration, out.Native = pts, duration, f
	light := p.source.Light()
	out.Transfer, out.FullRange, out.Floats = light.Transfer, light.FullRange, light.Floats
	if p.source.Carried() != p.source.Format {
		out.Native = view
	}
	return out, nil
}

// Separate returns f, which has a semi-planar format, in the format's planar twin, with all
// its properties. It takes over f.
func Separate(f *astiav.Frame, twin astiav.PixelFormat, colour Colour) (*astiav.Frame, error) {
	defer f.Free()
	from := colour.layout(f.Width(), f.Height(), f.PixelFormat())
	to := colour.layout(f.Width(), f.Height(), twin)
	to.full = from.full
	c := converter{to: to, twin: true}
	defer c.close()
	return c.convert(f, from)
}

// Close frees the converter. Frames that Frame has returned stay valid.
func (p *Planar) Close() { p.convert.close() }

// Planes returns views of f's planes. ok is false if format cannot describe f's layout:
// rows run from the bottom up, or 16-bit samples are at odd addresses.
func Planes(f *astiav.Frame, format frame.Format) (planes []frame.Plane, ok bool) {
	planes = make([]frame.Plane, format.Planes)
	size := format.Bytes()
	for i := range planes {
		w, h := format.PlaneSize(i, f.Width(), f.Height())
		stride, data := av.PlaneStride(f, i), av.PlaneData(f, i)
		if data == nil || stride < w*size || stride%size != 0 || uintptr(data)%uintptr(size) != 0 {
			return nil, false
		}
		planes[i] = frame.Plane{Width: w, Height: h, Stride: stride, Pix: unsafe.Slice((*byte)(data), stride*(h-1)+w*size)}
	}
	return planes, true
}
