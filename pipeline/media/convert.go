package media

import (
	"fmt"

	"github.com/asticode/go-astiav"

	"retime/frame"
)

// planes presents decoded pictures in one planar format and size.
type planes struct {
	format frame.Format
	colour colour
	repack repacker
	// only is set where pictures cannot go back to the format that they came in.
	only bool
	// light is set where the planes are signals for pictures in floating point.
	light bool
}

// wrap makes a frame of f, which it takes over. The samples are f's own where
// its layout allows.
func (c *planes) wrap(f *astiav.Frame, pts, duration int64) (*frame.Frame, error) {
	to := c.repack.to
	view := f
	views, ok := []frame.Plane(nil), false
	if f.PixelFormat() == to.format && f.Width() == to.width && f.Height() == to.height {
		views, ok = framePlanes(f, c.format)
	}
	if !ok {
		var err error
		if view, err = c.repack.convert(f, c.colour.layout(f.Width(), f.Height(), f.PixelFormat())); err != nil {
			f.Free()
			return nil, err
		}
		if views, ok = framePlanes(view, c.format); !ok {
			view.Free()
			f.Free()
			return nil, fmt.Errorf("unexpected plane layout of %s", to.format)
		}
	}
	out := frame.Wrap(c.format, to.width, to.height, views, func(*frame.Frame) {
		f.Free()
		if view != f {
			view.Free()
		}
	})
	out.PTS, out.Duration, out.Native = pts, duration, f
	out.Transfer, out.FullRange = c.colour.curve(), to.full
	if c.light {
		out.Transfer, out.FullRange = frame.PQ, true
	}
	if c.only {
		out.Native = view
	}
	return out, nil
}

// repacker converts pictures to one layout: by moving samples where the layout
// holds them all, else through swscale.
type repacker struct {
	to    layout
	twin  bool   // pictures come from or go to their planar twin
	from  layout // of scale
	scale *astiav.SoftwareScaleContext
}

// convert returns src, laid out as from says, in r's layout with src's
// properties.
func (r *repacker) convert(src *astiav.Frame, from layout) (*astiav.Frame, error) {
	dst, err := allocFrame(r.to.width, r.to.height, r.to.format)
	if err != nil {
		return nil, err
	}
	if r.moves(from) {
		d := describe(from.format)
		light := r.twin && holdsLight(from.format) != holdsLight(r.to.format)
		moveSamples(dst, src, from.full || isRGB(d) || depthOf(d) < 8 || light, light)
	} else if err := r.rescale(dst, src, from); err != nil {
		dst.Free()
		return nil, fmt.Errorf("convert %s to %s: %w", from.format, r.to.format, err)
	}
	if err := copyAllProperties(dst, src); err != nil {
		dst.Free()
		return nil, err
	}
	return dst, nil
}

// moves says whether pictures like from need no arithmetic.
func (r *repacker) moves(from layout) bool {
	holds, _ := holdsAll(r.to.format, from.format)
	if r.twin {
		holds = restores(r.to.format, from.format)
	}
	if d := describe(r.to.format); colours(d) > 1 && !isRGB(d) && from.full && depthOf(d) != depthOf(describe(from.format)) {
		return false // chroma's middle is not in proportion
	}
	return holds && from.width == r.to.width && from.height == r.to.height && (from.full == r.to.full || isRGB(describe(from.format)))
}

// rescale converts through swscale, with a bicubic filter where sizes differ.
func (r *repacker) rescale(dst, src *astiav.Frame, from layout) error {
	if r.scale == nil || r.from != from {
		r.close()
		flags := astiav.NewSoftwareScaleContextFlags(astiav.SoftwareScaleContextFlagBicubic) | exactScale
		s, err := astiav.CreateSoftwareScaleContext(from.width, from.height, from.format, r.to.width, r.to.height, r.to.format, flags)
		if err != nil {
			return err
		}
		setScalerColour(s, from, r.to)
		r.scale, r.from = s, from
	}
	return r.scale.ScaleFrame(src, dst)
}

func (r *repacker) close() {
	if r.scale != nil {
		r.scale.Free()
		r.scale = nil
	}
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
