package interpolate

import (
	"context"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
)

// Clip gives any frame of a video in any order. Any number of goroutines may use it at once, and the
// more there are, up to Options.Threads, the faster it is. It keeps the pictures and the motion that
// were used last.
type Clip struct {
	options Options
	layout  timeline.Layout
	single  *stages.Single
	synth   synth.Synthesizer
}

// Source copies picture n of the video into dst. It is called from the goroutine that asks for a
// frame, for pictures that Needs has named.
type Source func(dst *frame.Frame, n int64) error

// NewClip returns a Clip of a video with a number of pictures. Errors are fault.Usage.
func NewClip(o Options, pictures int64) (*Clip, error) {
	if err := o.settle(); err != nil {
		return nil, err
	}
	switch {
	case pictures < 1 || pictures >= 1<<40:
		return nil, fault.New(fault.Usage, "%d pictures: want one at least", pictures)
	case o.Backend == synth.CUDA:
		return nil, fault.New(fault.Usage, "frames in any order are made on the CPU; a stream's can be made by CUDA")
	case o.Synthesis.DropRepeats:
		return nil, fault.New(fault.Usage, "repeats are known only by all pictures before them; pass the pictures to a stream, one after the other")
	}
	o.Backend = synth.CPU
	s, err := o.synthesizer()
	if err != nil {
		return nil, err
	}
	atOnce := o.workers().Count()
	layout := o.plan().Passes[0].Layout
	single, err := stages.NewSingle(o.params(), layout, o.video(), pictures, atOnce+4, s)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &Clip{options: o, layout: layout, single: single, synth: s}, nil
}

// Close frees what the clip keeps. No frame may be in the making.
func (c *Clip) Close() {
	c.single.Close()
	c.synth.Close()
}

// Frames returns how many frames there are.
func (c *Clip) Frames() int64 { return c.single.Frames() }

// Needs returns the numbers of the first and the last of the pictures that frame k is made from: one
// for a picture at its time; or the two around the frame and, if frames are made there, too, the one
// before them and the one after, which tell how the motion changes.
func (c *Clip) Needs(k int64) (first, last int64, err error) {
	if err := c.check(k); err != nil {
		return 0, 0, err
	}
	first, last = c.single.Needs(k)
	return first, last, nil
}

func (c *Clip) check(k int64) error {
	if n := c.Frames(); k < 0 || k >= n {
		return fault.New(fault.Usage, "frame %d: there are %d", k, n)
	}
	return nil
}

// Make fills dst, which has the pictures' format and size, with frame k.
func (c *Clip) Make(ctx context.Context, dst *frame.Frame, k int64, source Source) (Info, error) {
	if err := c.check(k); err != nil {
		return Info{}, err
	}
	r, err := c.single.Make(ctx, dst, k, func(n int64) (*frame.Frame, error) {
		f := c.options.newFrame(n)
		if err := source(f, n); err != nil {
			f.Release()
			return nil, err
		}
		return f, nil
	})
	if err != nil {
		return Info{}, err
	}
	return c.options.infoOf(&r, c.layout), nil
}

// newFrame returns picture n, without samples.
func (o *Options) newFrame(n int64) *frame.Frame {
	f := frame.New(o.Format, o.Width, o.Height)
	f.Transfer, f.FullRange, f.Floats = o.Light.Transfer, o.Light.FullRange, o.Light.Floats
	f.PTS, f.Duration = n, 1
	return f
}
