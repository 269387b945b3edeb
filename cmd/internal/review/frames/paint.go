package frames

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"sync"

	"retime/frame"
	"retime/pipeline/media"
)

// Painter turns frames into pictures for a screen. Its methods may be called from any
// goroutine.
type Painter struct {
	mu      sync.Mutex
	filters map[string]*media.Filter
}

// Paint returns f in 8-bit RGB, as FFmpeg converts it, at a width in pixels; 0 for f's own. v
// describes f.
func (p *Painter) Paint(f *frame.Frame, v media.Video, width int) (*image.RGBA, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	graph := "[in0]format=gbrp[out]"
	if width > 0 {
		graph = fmt.Sprintf("[in0]scale=%d:%d:flags=area,format=gbrp[out]", width, max(width*v.Height/max(v.Width, 1), 1))
	}
	v.Format, v.Width, v.Height = f.Format, f.Width, f.Height
	name := fmt.Sprintf("%s %s %dx%d", graph, v.Format.Name, v.Width, v.Height)
	filter := p.filters[name]
	if filter == nil {
		var err error
		if filter, err = media.NewFilter(graph, 1, v, 0); err != nil {
			return nil, err
		}
		if p.filters == nil {
			p.filters = map[string]*media.Filter{}
		}
		p.filters[name] = filter
	}
	if err := filter.Send(0, f, 0); err != nil {
		return nil, err
	}
	rgb, err := filter.Receive()
	if err != nil {
		return nil, fmt.Errorf("paint a frame: %w", err)
	}
	defer rgb.Release()
	return frame.RGBA(rgb), nil
}

// Thumbnail returns f as a PNG of a width in pixels.
func (p *Painter) Thumbnail(f *frame.Frame, v media.Video, width int) ([]byte, error) {
	m, err := p.Paint(f, v, width)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, m)
	return b.Bytes(), err
}

// Close frees the filters.
func (p *Painter) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.filters {
		f.Close()
	}
	p.filters = nil
}
