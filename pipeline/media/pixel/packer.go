package pixel

import (
	"errors"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
)

// Packer converts a source's frames, and frames made like them, to an encoder's pixel
// format.
type Packer struct {
	source Source
	colour Colour    // of the pictures that Pack returns
	native converter // from the frames' planar format to the source's own
	pack   converter // to the encoder's format
}

// NewPacker returns a Packer from a source's frames to format. Call Close after use.
func NewPacker(source Source, format astiav.PixelFormat) *Packer {
	p := &Packer{source: source, colour: source.Colour.in(format, source.Carried(), source.Height)}
	p.pack.to = p.colour.layout(source.Width, source.Height, format)
	p.native = converter{to: source.Colour.layout(source.Width, source.Height, source.Carried()), twin: true}
	return p
}

// Colour returns the colour properties of the pictures that Pack returns.
func (p *Packer) Colour() Colour { return p.colour }

// Format returns the pixel format of the pictures that Pack returns.
func (p *Packer) Format() astiav.PixelFormat { return p.pack.to.format }

// Pack returns f's picture in the encoder's format as a new reference, which the caller
// frees. f must come from the source's Planar or from NewFrame.
func (p *Packer) Pack(f *frame.Frame) (*astiav.Frame, error) {
	picture, ok := f.Native.(*astiav.Frame)
	if !ok {
		return nil, errors.New("frame does not come from this writer or its source")
	}
	want := p.pack.to
	made := p.source.linear() && picture.PixelFormat() == p.source.Planar
	if !made && picture.PixelFormat() == want.format && picture.Width() == want.width && picture.Height() == want.height {
		if c := picture.Clone(); c != nil {
			Colour(av.FrameColour(c).Or(av.Colour(p.colour))).tag(c)
			return c, nil
		}
		return nil, errors.New("out of memory")
	}
	from := p.source.Colour.layout(picture.Width(), picture.Height(), picture.PixelFormat())
	if from.format != p.source.Planar {
		return p.packed(picture, from)
	}
	// Convert synthesized frames along the same path as the source's.
	from.full = p.native.to.full
	if !made && (from.format == p.native.to.format || p.pack.moves(from) && p.pack.moves(p.native.to)) {
		return p.packed(picture, from)
	}
	native, err := p.native.convert(picture, from)
	if err != nil {
		return nil, err
	}
	if made && p.native.to.format == want.format {
		p.colour.tag(native)
		return native, nil
	}
	defer native.Free()
	return p.packed(native, p.native.to)
}

func (p *Packer) packed(picture *astiav.Frame, from layout) (*astiav.Frame, error) {
	out, err := p.pack.convert(picture, from)
	if err == nil {
		p.colour.tag(out)
	}
	return out, err
}

// Close frees the converters.
func (p *Packer) Close() {
	p.native.close()
	p.pack.close()
}

// moments are the kinds of side data that belong to one frame only. A frame synthesized
// next to it must not repeat them.
var moments = []av.FrameSideKind{
	av.FrameCaptions, av.FrameTimecode, av.FrameGOPTimecode, av.FrameUserSEI, av.FrameMotionVectors, av.FrameEncodingParams,
}

// describeAs copies src's properties (colour, aspect ratio, side data) to dst, except for
// the side data that belongs to src alone.
func describeAs(dst, src *astiav.Frame) error {
	if err := av.CopyFrameProps(dst, src); err != nil {
		return err
	}
	for _, kind := range moments {
		av.RemoveFrameSideData(dst, kind)
	}
	av.ResetPictureType(dst)
	return nil
}
