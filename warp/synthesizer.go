package warp

import (
	"errors"
	"fmt"
	"sync"

	"retime/flow"
	"retime/frame"
	"retime/inpaint"
	"retime/warp/bspline"
)

// Params are the settings of a Synthesizer.
type Params struct {
	Mode       Mode
	Order      bspline.Order // of the spline that samples in Project mode: 0, 1 or 3
	Kernel     Kernel        // of that spline; empty means BSpline
	Directions int           // of the inpainting, 4 to 64; 0 means 16
	// Acceleration bends the motion if the frames before and after the interval show
	// that it changes.
	Acceleration bool
	// Overlays searches for things that lie still over the picture in Project mode, and
	// adds them to Interval.Static.
	Overlays bool
	Workers  frame.Workers
}

// precision is the precision of the coefficients, relative to the largest sample.
const precision = 1e-6

// Synthesizer makes frames on the CPU. The caller prepares each interval, and has its frames
// made at any phases. Several goroutines may use a Synthesizer at once. It keeps its memory
// between frames: that of as many intervals and frames as there were at once.
type Synthesizer struct {
	params Params
	filter *bspline.Prefilter[float32]
	taps   *taps

	makers spares[maker]
	closed spares[prepared] // that no interval uses

	mu      sync.Mutex
	sources []*source // the frames of the intervals, and of some before
}

// maker holds what the making of a frame needs beside what is prepared for its interval.
type maker struct {
	params *Params
	taps   *taps
	of     *prepared // the frame's interval

	made    Made
	inpaint [2]*inpaint.Inpainter // for the planes of each mask
	scratch

	estimates []estimate // one for each of the interval's flows
	still     hypothesis
	only      [2]hypothesis // what A alone shows, and B
	chooser   chooser
	calm      calm
	around    [len(around)]hypothesis
	mean      flow.Field
	bend      bend
}

// scratch is memory that frames use in turn.
type scratch struct {
	arrivals  [2]arrival
	splats    [2]splatScratch
	words     [2]frame.Image[uint16]
	smoothing sync.Pool
	holes     frame.Image[uint8]
	mask      [2]frame.Image[uint8]
}

// estimate holds the hypotheses that a pair of flows gives.
type estimate struct{ forward, reverse hypothesis }

// NewSynthesizer returns a synthesizer, or an error if p.Directions is out of range.
func NewSynthesizer(p Params) (*Synthesizer, error) {
	if p.Directions == 0 {
		p.Directions = 16
	}
	s := &Synthesizer{params: p, taps: newTaps(p.Order)}
	var err error
	if s.filter, err = bspline.NewPrefilter[float32](p.Order, bspline.WholeSymmetric, precision); err != nil {
		return nil, fmt.Errorf("sampling: %w", err)
	}
	m, err := newMaker(s)
	if err != nil {
		return nil, err
	}
	s.makers.give(m)
	return s, nil
}

func newMaker(s *Synthesizer) (*maker, error) {
	workers := s.params.Workers
	m := &maker{
		params: &s.params, taps: s.taps,
		still: hypothesis{kind: stationary}, only: [2]hypothesis{{kind: onlyFirst}, {kind: onlySecond}},
		chooser: chooser{workers: workers},
	}
	var err error
	for i := range m.inpaint {
		if m.inpaint[i], err = inpaint.New(s.params.Directions); err != nil {
			return nil, err
		}
		m.inpaint[i].Workers = workers
		m.arrivals[i] = arrival{splatter: Splatter{Workers: workers}, filler: FlowFiller{Workers: workers}}
	}
	return m, nil
}

// Close frees the frames that the synthesizer keeps. All intervals must have been closed.
func (s *Synthesizer) Close() {
	for _, c := range s.sources {
		if c.users > 0 {
			panic("warp: a synthesizer is closed before its intervals")
		}
		c.of.Release()
	}
	s.sources = nil
}

// Made reports how well the neighbours support a made frame. It is zero for modes
// without flow.
type Made struct {
	// Residual is the mean difference between the neighbours along the better of the
	// two flows, in grey levels of 8 bits.
	Residual float64
	// Holes is the share, from 0 to 1, of pixels that a neighbour's flow does not
	// reach, averaged over both neighbours.
	Holes float64
}

// Make fills dst, of the neighbours' format and size, with the interval's frame at the phase.
func (p *Prepared) Make(dst *frame.Frame, phase Phase) (Made, error) {
	var made Made
	err := p.with(func(m *maker) (err error) {
		made, err = m.make(dst, p.open, phase)
		return err
	})
	return made, err
}

// with calls f with a maker that makes no other frame.
func (p *Prepared) with(f func(m *maker) error) error {
	if p.open == nil {
		return errors.New("warp: the interval is closed")
	}
	m, err := p.synthesizer.take()
	if err != nil {
		return err
	}
	defer func() {
		m.of = nil
		p.synthesizer.makers.give(m)
	}()
	return f(m)
}

// take returns a maker that makes no frame.
func (s *Synthesizer) take() (*maker, error) {
	if m := s.makers.take(); m != nil {
		return m, nil
	}
	return newMaker(s)
}

func (m *maker) make(dst *frame.Frame, p *prepared, phase Phase) (Made, error) {
	m.of, m.made = p, Made{}
	var err error
	if dst.Format.Bytes() == 1 {
		err = synthesize[uint8](m, dst, phase)
	} else {
		err = synthesize[uint16](m, dst, phase)
	}
	return m.made, err
}

func synthesize[T frame.Sample](m *maker, dst *frame.Frame, phase Phase) error {
	switch m.params.Mode {
	case Blend:
		blend[T](m.params.Workers, dst, m.of.in.A, m.of.in.B, phase)
		return nil
	case Splat:
		return splat[T](m, dst, phase)
	case Project:
		return project[T](m, dst, phase)
	}
	return fmt.Errorf("mode %q makes no frames", m.params.Mode)
}

// blend cross-fades a and b.
func blend[T frame.Sample](workers frame.Workers, dst, a, b *frame.Frame, phase Phase) {
	for i, p := range dst.Planes {
		blendPlane(workers, frame.Samples[T](p), frame.Samples[T](a.Planes[i]), frame.Samples[T](b.Planes[i]), phase)
	}
}

// blendPlane cross-fades a and b, rounding to the nearest.
func blendPlane[T frame.Sample](workers frame.Workers, dst, a, b frame.Image[T], phase Phase) {
	wa, wb := uint64(PhaseOne-phase), uint64(phase)
	workers.Rows(dst.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			ra, rb, out := a.Row(y), b.Row(y), dst.Row(y)
			for x := range out {
				out[x] = T((uint64(ra[x])*wa + uint64(rb[x])*wb + PhaseOne/2) >> 16)
			}
		}
	})
}
