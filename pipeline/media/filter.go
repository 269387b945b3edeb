package media

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/pixel"
)

// ErrMore is the error of Filter.Receive if the filters need more input for their next
// frame.
var ErrMore = errors.New("more input is wanted")

// Filter runs frames through a graph of FFmpeg's video filters. Only one goroutine may
// use it.
type Filter struct {
	graph         *av.Graph
	format        string
	width, height int
}

// NewFilter builds a graph from a description in FFmpeg's syntax, whose inputs are
// labelled [in0], [in1], ... and whose output is [out]. Each input takes frames like v's.
// threads is the number of threads; 0 means one per processor. If FFmpeg rejects the
// graph, the error is a fault.Usage error. Call Close after use.
func NewFilter(description string, inputs int, v Video, threads int) (*Filter, error) {
	return newFilter(description, slices.Repeat([]Video{v}, inputs), threads)
}

// newFilter is NewFilter for inputs that differ.
func newFilter(description string, inputs []Video, threads int) (*Filter, error) {
	f := &Filter{graph: av.NewGraph(threads), format: inputs[0].Format.Name, width: inputs[0].Width, height: inputs[0].Height}
	message, err := av.WithMessage(func() error { return f.configure(description, inputs) })
	if err != nil {
		f.Close()
		return nil, fault.New(fault.Usage, "filters %q: %w%s", description, err, detail(message))
	}
	return f, nil
}

func (f *Filter) configure(description string, inputs []Video) error {
	for _, v := range inputs {
		options := fmt.Sprintf("width=%d:height=%d:pix_fmt=%s:time_base=%s", v.Width, v.Height, v.Format.Name, v.TimeBase.RatString())
		if v.Rate != nil {
			options += ":frame_rate=" + v.Rate.RatString()
		}
		if err := f.graph.AddSource(options); err != nil {
			return err
		}
	}
	return f.graph.Configure(description)
}

// Send passes p to an input at time pts, in the time base of NewFilter's v; it ignores
// p.PTS. p must have v's format and size. The caller keeps its reference.
func (f *Filter) Send(input int, p *frame.Frame, pts int64) error {
	picture, err := f.picture(p)
	if err != nil {
		return err
	}
	defer picture.Free()
	return f.send(input, picture, pts)
}

// send passes the content of p, whose time it sets, to an input. The caller frees p.
func (f *Filter) send(input int, p *astiav.Frame, pts int64) error {
	p.SetPts(pts)
	if err := f.graph.Send(input, p); err != nil {
		return fmt.Errorf("filter a frame: %w", err)
	}
	return nil
}

// End tells an input that no more frames follow.
func (f *Filter) End(input int) error { return f.graph.Send(input, nil) }

// picture returns a new reference to p's samples as an FFmpeg frame.
func (f *Filter) picture(p *frame.Frame) (*astiav.Frame, error) {
	if p.Format.Name != f.format || p.Width != f.width || p.Height != f.height {
		return nil, fmt.Errorf("filter a frame: it is %dx%d %s, not %dx%d %s", p.Width, p.Height, p.Format.Name, f.width, f.height, f.format)
	}
	own, ok := p.Native.(*astiav.Frame)
	if !ok || own.PixelFormat().Name() != f.format || own.Width() != f.width || own.Height() != f.height {
		c, err := pixel.NewFrame(p)
		if err != nil {
			return nil, err
		}
		defer c.Release()
		for i, from := range p.Planes {
			to, row := c.Planes[i], from.Width*p.Format.Bytes()
			for y := range from.Height {
				copy(to.Pix[y*to.Stride:][:row], from.Pix[y*from.Stride:])
			}
		}
		own = c.Native.(*astiav.Frame)
	}
	if c := own.Clone(); c != nil {
		return c, nil
	}
	return nil, fault.New(fault.TryAgain, "filter a frame: out of memory")
}

// Receive returns the next filtered frame with one reference and a PTS in units of
// TimeBase. The error is ErrMore if the filters need more input first, and io.EOF after
// the last frame. The graph must deliver a planar format.
func (f *Filter) Receive() (*frame.Frame, error) {
	picture, err := f.receive()
	if err != nil {
		return nil, err
	}
	format, planar := pixel.PlanarFormat(picture.PixelFormat())
	planes, ok := []frame.Plane(nil), false
	if planar {
		planes, ok = pixel.Planes(picture, format)
	}
	if !ok {
		err := fmt.Errorf("filtered frames in %s have no planes", picture.PixelFormat())
		picture.Free()
		return nil, err
	}
	out := frame.Wrap(format, picture.Width(), picture.Height(), planes, func(*frame.Frame) { picture.Free() })
	out.PTS, out.Native = picture.Pts(), picture
	return out, nil
}

// receive returns the next filtered picture, in any format. Its errors are those of
// Receive.
func (f *Filter) receive() (*astiav.Frame, error) {
	picture := astiav.AllocFrame()
	err := f.graph.Receive(picture)
	if err == nil {
		return picture, nil
	}
	picture.Free()
	switch {
	case errors.Is(err, astiav.ErrEagain):
		return nil, ErrMore
	case errors.Is(err, astiav.ErrEof):
		return nil, io.EOF
	}
	return nil, fmt.Errorf("filter a frame: %w", err)
}

// TimeBase returns the unit of the received frames' PTS, in seconds.
func (f *Filter) TimeBase() *big.Rat {
	tb := f.graph.TimeBase()
	return big.NewRat(int64(tb.Num()), int64(tb.Den()))
}

// sampleFormat returns the name of the received frames' pixel format.
func (f *Filter) sampleFormat() string { return f.graph.Format().Name() }

// Close frees the graph. Frames that Receive has returned stay valid.
func (f *Filter) Close() { f.graph.Free() }

// Metadata returns the value that a filter has stored in f under key; ok is false if
// there is none.
func Metadata(f *frame.Frame, key string) (value string, ok bool) {
	picture, ok := f.Native.(*astiav.Frame)
	if !ok {
		return "", false
	}
	return av.FrameMetadata(picture, key)
}
