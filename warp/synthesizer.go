package warp

import (
	"fmt"
	"math"
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

// Synthesizer makes frames on the CPU. The caller calls Begin for each interval, then
// Make for each phase. A Synthesizer keeps its memory between frames. Only one
// goroutine at a time may use it.
type Synthesizer struct {
	params   Params
	filter   *bspline.Prefilter[float32]
	taps     *taps
	inpaint  [2]*inpaint.Inpainter // for the planes of each mask
	arrivals [2]arrival
	overlays overlayFinder
	splats   [2]splatScratch

	made  Made
	in    Interval
	ready bool // whether prepare has run for the interval

	scratch        [2]frame.Image[uint16]
	smoothing      sync.Pool
	estimates      []estimate // one for each of the interval's flows
	holes          frame.Image[uint8]
	still          hypothesis
	beyond         [2]outward // from A to the frame before it, and from B to the one after it
	steady         bool       // whether the flows beyond also say what only one neighbour shows
	chooser        chooser
	calm           calm
	around         [len(around)]hypothesis
	mean           flow.Field
	bend           bend
	mask           [2]frame.Image[uint8]
	coeffA, coeffB sourceCoefficients
}

// estimate holds the results of one pair of flows.
type estimate struct {
	errorA, errorB   frame.Image[uint16] // along the flow from either neighbour
	trustA, trustB   frame.Image[uint16]
	forward, reverse hypothesis
}

// outward holds what follows from the flow to a frame beyond the interval.
type outward struct {
	errors, trust frame.Image[uint16] // along the flow
	onward        flow.Field          // the motion within the interval if it is like the one beyond, away from the neighbour
	only          hypothesis
}

// sourceCoefficients are the coefficients of a frame, kept as long as it is a
// neighbour.
type sourceCoefficients struct {
	of     *frame.Frame
	planes [4]coefficients
}

// NewSynthesizer returns a synthesizer, or an error if p.Directions is out of range.
func NewSynthesizer(p Params) (*Synthesizer, error) {
	if p.Directions == 0 {
		p.Directions = 16
	}
	s := &Synthesizer{
		params: p, taps: newTaps(p.Order),
		still:   hypothesis{kind: stationary},
		chooser: chooser{workers: p.Workers}, overlays: overlayFinder{workers: p.Workers},
	}
	var err error
	for i := range s.inpaint {
		if s.inpaint[i], err = inpaint.New(p.Directions); err != nil {
			return nil, err
		}
		s.inpaint[i].Workers = p.Workers
		s.arrivals[i] = arrival{splatter: Splatter{Workers: p.Workers}, filler: FlowFiller{Workers: p.Workers}}
	}
	if s.filter, err = bspline.NewPrefilter[float32](p.Order, bspline.WholeSymmetric, precision); err != nil {
		return nil, fmt.Errorf("sampling: %w", err)
	}
	return s, nil
}

// Close releases the frames of the last interval.
func (s *Synthesizer) Close() {
	for _, c := range []*sourceCoefficients{&s.coeffA, &s.coeffB} {
		if c.of != nil {
			c.of.Release()
			c.of = nil
		}
	}
}

// Begin sets the interval that Make works in. Its error is always nil.
func (s *Synthesizer) Begin(in Interval) error {
	s.in, s.ready = in, false
	return nil
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

// Make fills dst, of the neighbours' format and size, with the frame at the phase.
func (s *Synthesizer) Make(dst *frame.Frame, phase Phase) (Made, error) {
	s.made = Made{}
	var err error
	if dst.Format.Bytes() == 1 {
		err = synthesize[uint8](s, dst, phase)
	} else {
		err = synthesize[uint16](s, dst, phase)
	}
	return s.made, err
}

func synthesize[T frame.Sample](s *Synthesizer, dst *frame.Frame, phase Phase) error {
	switch s.params.Mode {
	case Blend:
		blend[T](s.params.Workers, dst, s.in.A, s.in.B, phase)
		return nil
	case Splat:
		return splat[T](s, dst, phase)
	case Project:
		return project[T](s, dst, phase)
	}
	return fmt.Errorf("mode %q makes no frames", s.params.Mode)
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

// prepare computes everything that does not depend on the phase.
func (s *Synthesizer) prepare() error {
	if s.ready {
		return nil
	}
	in := &s.in
	workers := s.params.Workers
	for len(s.estimates) < len(in.Flows) {
		s.estimates = append(s.estimates, estimate{})
	}
	s.estimates = s.estimates[:len(in.Flows)]
	for i, f := range in.Flows {
		e := &s.estimates[i]
		warpError(workers, &e.errorA, &s.scratch[0], in.GuideA, in.GuideB, f.Forward)
		warpError(workers, &e.errorB, &s.scratch[0], in.GuideB, in.GuideA, f.Backward)
		trust(workers, &e.trustA, e.errorA)
		trust(workers, &e.trustB, e.errorB)
	}
	if s.params.Mode == Project {
		if s.params.Overlays {
			in.Static = s.overlays.find(in)
		}
		s.beyond[0].only.kind, s.beyond[1].only.kind = onlyFirst, onlySecond
		s.prepareBeyond()
		s.bend.prepare(s)
		if s.coeffB.of == in.A {
			s.coeffA, s.coeffB = s.coeffB, s.coeffA
		}
		if err := s.load(&s.coeffA, in.A); err != nil {
			return err
		}
		if err := s.load(&s.coeffB, in.B); err != nil {
			return err
		}
	}
	s.ready = true
	return nil
}

// prepareBeyond computes what follows from the flows to the frames beyond the interval.
// These flows have hypotheses of their own if the frames are as far away as A and B are
// from each other.
func (s *Synthesizer) prepareBeyond() {
	in, workers := &s.in, s.params.Workers
	s.steady = false
	if in.Before == nil || in.After == nil {
		return
	}
	s.steady = in.Steady()
	guides := [2]frame.Image[uint8]{in.GuideA, in.GuideB}
	for i, outer := range [2]*Outer{in.Before, in.After} {
		o := &s.beyond[i]
		warpError(workers, &o.errors, &s.scratch[0], guides[i], outer.Guide, outer.Flow)
		if !s.steady {
			continue
		}
		trust(workers, &o.trust, o.errors)
		negate(workers, &o.onward, outer.Flow)
	}
}

// load computes f's coefficients unless c holds them.
func (s *Synthesizer) load(c *sourceCoefficients, f *frame.Frame) error {
	if c.of == f {
		return nil
	}
	if c.of != nil {
		c.of.Release()
	}
	c.of = f.Retain()
	for i, p := range f.Planes {
		var err error
		c.planes[i].kernel = s.params.Kernel
		if f.Format.Bytes() == 1 {
			err = load(&c.planes[i], s.params.Workers, frame.Samples[uint8](p), s.filter)
		} else {
			err = load(&c.planes[i], s.params.Workers, frame.Samples[uint16](p), s.filter)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// trustTable is the weight of a splat, indexed by the error along its motion: 4096
// exp(-error/10), with the error in grey levels, and at least 1.
var trustTable = func() []uint16 {
	var t []uint16
	for d := 0; ; d++ {
		w := 4096 * math.Exp(-0.1*float64(d)/differenceOne)
		t = append(t, uint16(max(w, 1)+0.5))
		if w <= 1 {
			return t
		}
	}
}()

// trust turns the errors along a motion into the weights of its splats.
func trust(workers frame.Workers, dst *frame.Image[uint16], e frame.Image[uint16]) {
	dst.Resize(e.Width, e.Height)
	workers.Rows(e.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			out := dst.Row(y)
			for x, d := range e.Row(y) {
				out[x] = trustTable[min(int(d), len(trustTable)-1)]
			}
		}
	})
}
