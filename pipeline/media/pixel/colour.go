package pixel

import (
	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
)

// Colour holds the colour properties of samples, numbered as in ITU-T H.273; see
// av.Colour.
type Colour av.Colour

// ColourOf returns f's colour properties. The first of stated, the decoder's and the container's, that has a value replaces
// each one that f leaves unspecified. Reserved values, which encoders refuse, count as unspecified.
func ColourOf(f *astiav.Frame, stated ...av.Colour) Colour {
	c := named(av.FrameColour(f))
	for _, s := range stated {
		c = c.Or(named(s))
	}
	return Colour(c)
}

// named returns c with reserved values unspecified.
func named(c av.Colour) av.Colour {
	if c.Primaries == av.ColourReserved0 || c.Primaries == av.ColourReserved {
		c.Primaries = av.PrimariesUnspecified
	}
	if c.Transfer == av.ColourReserved0 || c.Transfer == av.ColourReserved {
		c.Transfer = av.TransferUnspecified
	}
	if c.Matrix == av.ColourReserved {
		c.Matrix = av.MatrixUnspecified
	}
	return c
}

// tag sets f's colour properties to c.
func (c Colour) tag(f *astiav.Frame) { av.SetFrameColour(f, av.Colour(c)) }

// full reports whether samples in p use the full range. If the range is unspecified, RGB,
// XYZ and gray do.
func (c Colour) full(p astiav.PixelFormat) bool {
	if alwaysFull(p) || c.Range == av.RangeFull {
		return true
	}
	d := describe(p)
	return c.Range == av.RangeUnspecified && (isRGB(d) || isXYZ(d) || colours(d) == 1)
}

// IsHDR reports whether the samples are signals of PQ or HLG.
func (c Colour) IsHDR() bool { return c.transfer() == frame.PQ || c.transfer() == frame.HLG }

// transfer returns the kind of c's transfer characteristics.
func (c Colour) transfer() frame.Transfer {
	switch c.Transfer {
	case av.TransferPQ:
		return frame.PQ
	case av.TransferHLG:
		return frame.HLG
	}
	return frame.SDR
}

// gamma returns the curve of pictures in SDR: that of c's transfer characteristics or, if they are not
// stated, sRGB's for RGB and a display's for YUV.
func (c Colour) gamma(format astiav.PixelFormat) frame.Gamma {
	switch c.Transfer {
	case av.TransferSRGB:
		return frame.SRGB
	case av.TransferLinear:
		return frame.Linear
	case av.TransferGamma22:
		return frame.Gamma22
	case av.TransferGamma28:
		return frame.Gamma28
	case av.TransferLog:
		return frame.Log100
	case av.TransferLogSqrt:
		return frame.Log316
	case av.TransferUnspecified, 0:
		if IsRGB(format) {
			return frame.SRGB
		}
	}
	return frame.BT1886
}

// coefficients returns the matrix between RGB and YUV: c's own, or the usual one for c's
// primaries and the picture's height in pixels.
func (c Colour) coefficients(height int) int {
	switch {
	case c.Matrix != av.MatrixUnspecified && c.Matrix != av.MatrixRGB:
		return c.Matrix
	case c.Primaries == av.PrimariesBT2020:
		return av.MatrixBT2020
	case c.Primaries == av.PrimariesSMPTE170M || c.Primaries == av.PrimariesBT470BG || c.Primaries == av.PrimariesUnspecified && height < 720:
		return av.MatrixSMPTE170M
	}
	return av.MatrixBT709
}

// in returns the colour properties of pictures after their conversion from format p to
// format t.
func (c Colour) in(t, p astiav.PixelFormat, height int) Colour {
	from, to := describe(p), describe(t)
	switch {
	case isRGB(to) && !isRGB(from):
		c.Matrix, c.Range = av.MatrixRGB, av.RangeFull
	case !isRGB(to) && isRGB(from):
		c.Matrix, c.Range = c.coefficients(height), av.RangeLimited
	case colours(from) == 1 && colours(to) > 1 && c.full(p):
		c.Range = av.RangeFull
	}
	if alwaysFull(p) || alwaysFull(t) {
		c.Range = av.RangeFull
	}
	if to.Log2ChromaW != from.Log2ChromaW || to.Log2ChromaH != from.Log2ChromaH {
		c.Chroma = av.ChromaUnspecified
	}
	return c
}

// layout is everything that a conversion has to know of a picture.
type layout struct {
	width, height int
	format        astiav.PixelFormat
	matrix        int
	full          bool
}

func (c Colour) layout(width, height int, p astiav.PixelFormat) layout {
	return layout{width, height, p, c.coefficients(height), c.full(p)}
}

func (l layout) scaleColour() av.ScaleColour { return av.ScaleColour{Matrix: l.matrix, Full: l.full} }
