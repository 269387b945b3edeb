package pixel

import (
	"fmt"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// converter converts pictures to one layout. It moves samples if the layout can hold all
// of them, and calls swscale otherwise.
type converter struct {
	to    layout
	twin  bool   // one side of the conversion is the planar twin of the other
	from  layout // layout that scale converts from
	scale *astiav.SoftwareScaleContext
}

// convert returns src converted to c's layout, with src's properties. from is src's
// layout.
func (c *converter) convert(src *astiav.Frame, from layout) (*astiav.Frame, error) {
	dst, err := newPicture(c.to.width, c.to.height, c.to.format)
	if err != nil {
		return nil, err
	}
	if c.moves(from) {
		d := describe(from.format)
		linear := c.twin && isLinear(from.format) != isLinear(c.to.format)
		moveSamples(dst, src, from.full || isRGB(d) || depthOf(d) < 8 || linear, linear)
	} else if err := c.rescale(dst, src, from); err != nil {
		dst.Free()
		return nil, fmt.Errorf("convert %s to %s: %w", from.format, c.to.format, err)
	}
	if err := av.CopyFrameProps(dst, src); err != nil {
		dst.Free()
		return nil, err
	}
	return dst, nil
}

// moves reports whether pictures in layout from can be converted by moving samples.
func (c *converter) moves(from layout) bool {
	holds, _ := holdsAll(c.to.format, from.format)
	if c.twin {
		holds = restores(c.to.format, from.format)
	}
	if d := describe(c.to.format); colours(d) > 1 && !isRGB(d) && from.full && depthOf(d) != depthOf(describe(from.format)) {
		return false // rescaling by the largest value would shift chroma's midpoint
	}
	return holds && from.width == c.to.width && from.height == c.to.height && (from.full == c.to.full || isRGB(describe(from.format)))
}

// rescale converts src with swscale, using a bicubic filter if the sizes differ.
func (c *converter) rescale(dst, src *astiav.Frame, from layout) error {
	if c.scale == nil || c.from != from {
		c.close()
		flags := astiav.NewSoftwareScaleContextFlags(astiav.SoftwareScaleContextFlagBicubic) | av.ExactScale
		s, err := astiav.CreateSoftwareScaleContext(from.width, from.height, from.format, c.to.width, c.to.height, c.to.format, flags)
		if err != nil {
			return err
		}
		av.SetScaleColour(s, from.scaleColour(), c.to.scaleColour())
		c.scale, c.from = s, from
	}
	return c.scale.ScaleFrame(src, dst)
}

func (c *converter) close() {
	if c.scale != nil {
		c.scale.Free()
		c.scale = nil
	}
}

// newPicture allocates a picture with undefined samples.
func newPicture(width, height int, format astiav.PixelFormat) (*astiav.Frame, error) {
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
