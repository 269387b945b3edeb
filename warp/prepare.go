package warp

import (
	"math"
	"slices"
	"sync"

	"retime/flow"
	"retime/frame"
)

// Prepared is what all frames of an interval are made from. Several goroutines may make its
// frames at once.
type Prepared struct {
	synthesizer *Synthesizer
	open        *prepared // nil once it is closed
}

// prepared is the memory of a Prepared.
type prepared struct {
	params *Params
	in     Interval // Static has the overlays that were found

	overlays overlayFinder
	scratch  frame.Image[uint16]
	pairs    []pair     // one for each of the interval's flows
	beyond   [2]outward // from A to the frame before it, and from B to the one after it
	steady   bool       // whether the flows beyond also say what only one neighbour shows
	bends    bends
	sources  [2]*source // A and B
}

// pair holds what follows from a pair of flows.
type pair struct {
	errorA, errorB frame.Image[uint16] // along the flow from either neighbour
	trustA, trustB frame.Image[uint16]
}

// outward holds what follows from the flow to a frame beyond the interval.
type outward struct {
	errors, trust frame.Image[uint16] // along the flow
	onward        flow.Field          // the motion within the interval if it is like the one beyond, away from the neighbour
	misses        frame.Image[int32]  // of the flow within the interval, from the same frame, as missed returns them, or leadsOut
}

// Prepare computes everything that does not depend on the phase. The images of in must stay as
// they are until the interval is closed.
func (s *Synthesizer) Prepare(in Interval) (*Prepared, error) {
	p := &Prepared{s, s.unused()}
	if err := p.open.prepare(s, in); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *prepared) prepare(s *Synthesizer, in Interval) error {
	p.in = in
	if s.params.Mode != Project && s.params.Mode != Splat {
		return nil
	}
	workers := s.params.Workers
	for len(p.pairs) < len(in.Flows) {
		p.pairs = append(p.pairs, pair{})
	}
	p.pairs = p.pairs[:len(in.Flows)]
	for i, f := range in.Flows {
		e := &p.pairs[i]
		warpError(workers, &e.errorA, &p.scratch, in.GuideA, in.GuideB, f.Forward)
		warpError(workers, &e.errorB, &p.scratch, in.GuideB, in.GuideA, f.Backward)
		trust(workers, &e.trustA, e.errorA)
		trust(workers, &e.trustB, e.errorB)
	}
	if s.params.Mode != Project {
		return nil
	}
	if s.params.Overlays {
		p.in.Static = p.overlays.find(&p.in)
	}
	p.prepareBeyond()
	p.bends.prepare(p)
	p.sources = s.hold(in.A, in.B)
	for _, c := range p.sources {
		if err := c.load(s); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the use of the interval, whose frames must all have been made. The second time it
// does nothing.
func (p *Prepared) Close() {
	s := p.synthesizer
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.open == nil {
		return
	}
	for i, c := range p.open.sources {
		if c != nil {
			c.users--
		}
		p.open.sources[i] = nil
	}
	p.open.in = Interval{}
	s.closed.give(p.open)
	p.open = nil
}

// unused returns memory for an interval.
func (s *Synthesizer) unused() *prepared {
	if p := s.closed.take(); p != nil {
		return p
	}
	return &prepared{params: &s.params, overlays: overlayFinder{workers: s.params.Workers}}
}

// prepareBeyond computes what follows from the flows to the frames beyond the interval.
// These flows have hypotheses of their own if the frames are as far away as A and B are
// from each other.
func (p *prepared) prepareBeyond() {
	in, workers := &p.in, p.params.Workers
	p.steady = false
	if in.Before == nil || in.After == nil {
		return
	}
	p.steady = in.Steady()
	guides := [2]frame.Image[uint8]{in.GuideA, in.GuideB}
	for i, outer := range [2]*Outer{in.Before, in.After} {
		o := &p.beyond[i]
		warpError(workers, &o.errors, &p.scratch, guides[i], outer.Guide, outer.Flow)
		f := in.Flows[0]
		if i == 1 {
			f.Forward, f.Backward = f.Backward, f.Forward
		}
		if p.steady || p.params.Acceleration {
			measureMisses(workers, &o.misses, f)
		}
		if !p.steady {
			continue
		}
		trust(workers, &o.trust, o.errors)
		putBehind(workers, o.trust, o.misses)
		negate(workers, &o.onward, outer.Flow)
	}
}

// behindShift is log2 of how much less what one frame alone shows counts, where it arrives together
// with what both show: that is in front.
const behindShift = 5

// putBehind lowers the trust in the flow beyond where the flow within the interval, from the same
// frame, does not lead back, or leads out of the picture.
func putBehind(workers frame.Workers, trust frame.Image[uint16], misses frame.Image[int32]) {
	workers.Rows(trust.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			row := trust.Row(y)
			for x, miss := range misses.Row(y) {
				if miss == leadsOut || miss > missLeast {
					row[x] = max(row[x]>>behindShift, 1)
				}
			}
		}
	})
}

// source holds the coefficients of a frame, for all intervals beside it.
type source struct {
	of    *frame.Frame
	users int // intervals

	mu     sync.Mutex
	loaded bool
	planes [4]coefficients
}

// hold returns the sources of an interval's frames. A frame that has none takes that of another
// frame that no interval uses.
func (s *Synthesizer) hold(a, b *frame.Frame) (held [2]*source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range [2]*frame.Frame{a, b} {
		k := slices.IndexFunc(s.sources, func(c *source) bool { return c.of == f })
		if k < 0 {
			c := new(source)
			if k = slices.IndexFunc(s.sources, func(c *source) bool { return c.users == 0 && c.of != a && c.of != b }); k >= 0 {
				c = s.sources[k]
				s.sources = slices.Delete(s.sources, k, k+1) // those that were filled first come first
				c.of.Release()
			}
			c.of, c.loaded = f.Retain(), false
			k = len(s.sources)
			s.sources = append(s.sources, c)
		}
		held[i] = s.sources[k]
		held[i].users++
	}
	return held
}

// load computes the coefficients unless they are there.
func (c *source) load(s *Synthesizer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded {
		return nil
	}
	for i, p := range c.of.Planes {
		var err error
		c.planes[i].kernel, c.planes[i].light = s.params.Kernel, nil
		if s.params.Kernel != ZwartPowell {
			c.planes[i].light = lightOf(c.of)
		}
		if c.of.Format.Bytes() == 1 {
			err = load(&c.planes[i], s.params.Workers, frame.Samples[uint8](p), s.filter)
		} else {
			err = load(&c.planes[i], s.params.Workers, frame.Samples[uint16](p), s.filter)
		}
		if err != nil {
			return err
		}
	}
	c.loaded = true
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
