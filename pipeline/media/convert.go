package media

import (
	"fmt"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/frame"
)

// converter presents decoded frames in one planar format and size.
type converter struct {
	width, height int
	format        astiav.PixelFormat
	planar        frame.Format

	scale  *astiav.SoftwareScaleContext
	scaled scaleKey
}

type scaleKey struct {
	width, height int
	format        astiav.PixelFormat
}

// wrap makes a frame of f, which it takes over. The samples are f's own where
// its layout allows.
func (c *converter) wrap(f *astiav.Frame, pts, duration int64) (*frame.Frame, error) {
	view := f
	planes, ok := []frame.Plane(nil), false
	if f.PixelFormat() == c.format && f.Width() == c.width && f.Height() == c.height {
		planes, ok = framePlanes(f, c.planar)
	}
	if !ok {
		var err error
		if view, err = c.converted(f); err != nil {
			f.Free()
			return nil, err
		}
		if planes, ok = framePlanes(view, c.planar); !ok {
			view.Free()
			f.Free()
			return nil, fmt.Errorf("unexpected plane layout of %s", c.format)
		}
	}
	out := frame.Wrap(c.planar, c.width, c.height, planes, func(*frame.Frame) {
		f.Free()
		if view != f {
			view.Free()
		}
	})
	out.PTS, out.Duration, out.Native = pts, duration, f
	return out, nil
}

func (c *converter) converted(f *astiav.Frame) (*astiav.Frame, error) {
	key := scaleKey{f.Width(), f.Height(), f.PixelFormat()}
	if c.scale == nil || c.scaled != key {
		if c.scale != nil {
			c.scale.Free()
			c.scale = nil
		}
		s, err := newScaler(key, scaleKey{c.width, c.height, c.format})
		if err != nil {
			return nil, err
		}
		c.scale, c.scaled = s, key
	}
	return scaleFrame(c.scale, f, c.width, c.height, c.format)
}

func (c *converter) close() {
	if c.scale != nil {
		c.scale.Free()
		c.scale = nil
	}
}

// newScaler converts between layouts exactly where both hold the same samples,
// and resizes with a bicubic filter where the sizes differ.
func newScaler(from, to scaleKey) (*astiav.SoftwareScaleContext, error) {
	flags := astiav.NewSoftwareScaleContextFlags(astiav.SoftwareScaleContextFlagBicubic) | exactScale
	s, err := astiav.CreateSoftwareScaleContext(from.width, from.height, from.format, to.width, to.height, to.format, flags)
	if err != nil {
		return nil, fmt.Errorf("convert %s to %s: %w", from.format, to.format, err)
	}
	keepColour(s)
	return s, nil
}

// scaleFrame returns src in another layout, with its properties.
func scaleFrame(s *astiav.SoftwareScaleContext, src *astiav.Frame, width, height int, format astiav.PixelFormat) (*astiav.Frame, error) {
	dst, err := allocFrame(width, height, format)
	if err != nil {
		return nil, err
	}
	if err := s.ScaleFrame(src, dst); err != nil {
		dst.Free()
		return nil, fmt.Errorf("convert %s to %s: %w", src.PixelFormat(), format, err)
	}
	if err := copyAllProperties(dst, src); err != nil {
		dst.Free()
		return nil, err
	}
	return dst, nil
}

func allocFrame(width, height int, format astiav.PixelFormat) (*astiav.Frame, error) {
	f := astiav.AllocFrame()
	f.SetWidth(width)
	f.SetHeight(height)
	f.SetPixelFormat(format)
	if err := f.AllocBuffer(0); err != nil {
		f.Free()
		return nil, fmt.Errorf("allocate a %dx%d %s frame: %w", width, height, format, err)
	}
	return f, nil
}

// NewFrame returns a frame of like's format and size with one reference and
// undefined samples. It describes its picture as like does.
func NewFrame(like *frame.Frame) (*frame.Frame, error) {
	f, err := allocFrame(like.Width, like.Height, astiav.FindPixelFormatByName(like.Format.Name))
	if err != nil {
		return nil, fault.New(fault.TryAgain, "%w", err)
	}
	if from, ok := like.Native.(*astiav.Frame); ok {
		if err := copyProperties(f, from); err != nil {
			f.Free()
			return nil, err
		}
	}
	planes, _ := framePlanes(f, like.Format)
	out := frame.Wrap(like.Format, like.Width, like.Height, planes, func(*frame.Frame) { f.Free() })
	out.Native = f
	return out, nil
}
