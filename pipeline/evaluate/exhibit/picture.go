package exhibit

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"

	"retime/flow"
	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/media"
	"retime/warp"
)

// painter draws frames as pictures at most maxWidth wide, and errors as pictures at
// most maxErrorWidth wide.
type painter struct {
	colours *colours
	errors  image.Rectangle
}

const (
	maxWidth       = 1280
	maxErrorWidth  = 640
	pictureQuality = 85
	// errorGain multiplies the brightness of an error.
	errorGain = 4
)

func newPainter(v media.Video, threads int) (*painter, error) {
	size := fit(v, maxWidth)
	c, err := newColours(fmt.Sprintf("scale=w=%d:h=%d:flags=area+accurate_rnd+full_chroma_int", size.Dx(), size.Dy()), v, threads)
	return &painter{c, fit(v, maxErrorWidth)}, err
}

// colours draws frames in RGB.
type colours struct {
	filter *media.Filter
	frames int64
}

// newColours returns colours for frames like v's, after a filter in FFmpeg's notation.
func newColours(filter string, v media.Video, threads int) (*colours, error) {
	f, err := media.NewFilter("[in0]"+filter+",format=gbrp[out]", 1, v, threads)
	return &colours{filter: f}, err
}

func (c *colours) close() { c.filter.Close() }

func (c *colours) draw(f *frame.Frame) (*image.RGBA, error) {
	if err := c.filter.Send(0, f, c.frames); err != nil {
		return nil, err
	}
	c.frames++
	rgb, err := c.filter.Receive()
	if err != nil {
		return nil, fmt.Errorf("draw a frame: %w", err)
	}
	defer rgb.Release()
	return frame.RGBA(rgb), nil
}

// fit returns the size of v's pictures, at most width wide.
func fit(v media.Video, width int) image.Rectangle {
	if v.Width <= width {
		return image.Rect(0, 0, v.Width, v.Height)
	}
	return image.Rect(0, 0, width, max(1, (v.Height*width+v.Width/2)/v.Width))
}

func (p *painter) close() { p.colours.close() }

// jpeg returns f in colour, as JPEG.
func (p *painter) jpeg(f *frame.Frame) ([]byte, error) {
	m, err := p.colours.draw(f)
	if err != nil {
		return nil, err
	}
	return encode(m)
}

func encode(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: pictureQuality})
	return b.Bytes(), err
}

// view draws the frame made for s, its error and, if options is not nil, the flow that
// options estimate between s's neighbours.
func (p *painter) view(ctx context.Context, s Scene, made *frame.Frame, options *pipeline.Options) (v report.View, err error) {
	if v.Made, err = p.jpeg(made); err != nil {
		return v, err
	}
	if v.Error, err = encode(drawError(warp.Luma(s.Truth), warp.Luma(made), p.errors)); err != nil || options == nil {
		return v, err
	}
	field, _, err := pipeline.EstimateFlow(ctx, s.Before, s.After, *options)
	if err != nil {
		return v, err
	}
	longest := field.UsualLength()
	v.Longest = longest * math.Round(float64(s.Truth.Width)/float64(field.Width))
	v.Flow, err = encode(flow.ColorWheel(field, longest))
	return v, err
}

// drawError draws the mean absolute difference of brightness in each pixel of a picture
// of the given size, which is at most the size of a and b.
func drawError(a, b frame.Image[uint8], size image.Rectangle) image.Image {
	m := image.NewPaletted(size, heat)
	width, height := size.Dx(), size.Dy()
	sums, counts := make([]int, width), make([]int, width)
	for y := range height {
		clear(sums)
		clear(counts)
		for sy := y * a.Height / height; sy < (y+1)*a.Height/height; sy++ {
			r, q := a.Row(sy), b.Row(sy)
			for sx, v := range r {
				x := sx * width / a.Width
				sums[x] += max(int(v), int(q[sx])) - min(int(v), int(q[sx]))
				counts[x]++
			}
		}
		for x, n := range counts {
			m.Pix[y*m.Stride+x] = uint8(min(255, errorGain*sums[x]/max(n, 1)))
		}
	}
	return m
}

// heat is the palette of errors: black, violet, orange, white.
var heat = func() color.Palette {
	stops := []color.RGBA{{0, 0, 0, 255}, {74, 12, 107, 255}, {187, 55, 84, 255}, {249, 142, 9, 255}, {255, 255, 230, 255}}
	p := make(color.Palette, 256)
	for i := range p {
		at := i * (len(stops) - 1)
		k, t := min(at/255, len(stops)-2), at%255
		if k < at/255 {
			t = 255
		}
		mix := func(a, b uint8) uint8 { return uint8((int(a)*(255-t) + int(b)*t) / 255) }
		a, b := stops[k], stops[k+1]
		p[i] = color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
	}
	return p
}()
