package pixel

import (
	"fmt"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// converter converts pictures to one layout: by moving samples if the layout holds them
// all, else through swscale.
type converter struct {
	to    layout
	twin  bool   // pictures come from or go to their planar twin
	from  layout // of scale
	scale *astiav.SoftwareScaleContext
}

// convert returns src, laid out as from says, in c's layout with src's properties.
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

// moves says whether pictures like from need no arithmetic.
func (c *converter) moves(from layout) bool {
	holds, _ := holdsAll(c.to.format, from.format)
	if c.twin {
		holds = restores(c.to.format, from.format)
	}
	if d := describe(c.to.format); colours(d) > 1 && !isRGB(d) && from.full && depthOf(d) != depthOf(describe(from.format)) {
		return false // chroma's middle is not in proportion
	}
	return holds && from.width == c.to.width && from.height == c.to.height && (from.full == c.to.full || isRGB(describe(from.format)))
}

// rescale converts through swscale, with a bicubic filter if sizes differ.
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

// newPicture allocates a picture, whose samples are undefined.
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
