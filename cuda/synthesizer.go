package cuda

import (
	"errors"
	"fmt"
	"sync"

	"retime/frame"
	"retime/warp"
)

// Synthesizer makes frames on a device, with the bits of warp.Synthesizer. It keeps its
// memory between frames.
//
// One goroutine calls Begin for each interval, then Start for each phase. Other
// goroutines may call Load for the next intervals.
type Synthesizer struct {
	device *Device
	params warp.Params

	work, copies *Stream // for kernels, for downloads
	residents    residents
	loader       loader
	guides       guides
	projection   projection
	bend         bend
	shares       shares
	renderer     renderer
	colours      colours
	inpainter    inpainter
	holes        [maxGroups]holes
	counters     Buffer[uint64]

	layout layout
	a, b   *source // of the interval in progress
	in     warp.Interval
	ready  bool // whether the work that does not depend on the phase is queued
	clean  bool // whether the accumulators are zero

	mu    sync.Mutex
	slots []*slot // not in use
	all   []*slot
}

// layout holds the sizes that determine the memory of a synthesizer.
type layout struct {
	format                         frame.Format
	width, height                  int
	guideWidth, guideHeight, level int
	groups                         [maxGroups]group
	count                          int // number of groups
	flows                          int // number of flows between the neighbours
}

// A made frame has counters of the pixels that each flow does not reach, the sum of the
// least costs and, for each group, the length of its list of holes and a flag.
const (
	maxFlows     = 4
	maxProjected = maxFlows + 2 // the flows beyond the interval, too
	holesCounter = 0
	costCounter  = holesCounter + maxProjected
	groupCounter = costCounter + 1
	counters     = groupCounter + maxGroups
)

// NewSynthesizer returns a synthesizer on d, or an error if p is out of range or the
// device fails. The caller must close the synthesizer before d.
func NewSynthesizer(d *Device, p warp.Params) (*Synthesizer, error) {
	if p.Directions == 0 {
		p.Directions = 16
	}
	if p.Mode != warp.Project && p.Mode != warp.Splat && p.Mode != warp.Blend {
		return nil, fmt.Errorf("mode %q makes no frames on a GPU: %w", p.Mode, errors.ErrUnsupported)
	}
	s := &Synthesizer{device: d, params: p}
	err := d.Do(s.open)
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Synthesizer) open() (err error) {
	d, p := s.device, s.params
	if s.work, err = d.NewStream(); err != nil {
		return err
	}
	if err = s.residents.open(d, p.Mode == warp.Project); err != nil {
		return err
	}
	if s.copies, err = d.NewStream(); err != nil {
		return err
	}
	if s.colours, err = newColours(d); err != nil {
		return err
	}
	if p.Mode == warp.Blend {
		return nil
	}
	if s.guides, err = newGuides(s.work); err != nil {
		return err
	}
	if s.inpainter, err = newInpainter(s.work, p.Directions); err != nil {
		return err
	}
	if p.Mode == warp.Splat {
		return nil
	}
	if s.loader, err = newLoader(d, p.Order, p.Kernel); err != nil {
		return err
	}
	if s.projection, err = newProjection(d); err != nil {
		return err
	}
	if s.bend, err = newBend(s.work); err != nil {
		return err
	}
	if s.shares, err = newShares(s.work); err != nil {
		return err
	}
	s.renderer, err = newRenderer(s.work, p.Order, p.Kernel)
	return err
}

// Close waits for the work under way and frees all memory.
func (s *Synthesizer) Close() {
	// If the device has failed, there is nothing left to do about errors.
	_ = s.device.Do(func() error {
		for _, stream := range []*Stream{s.work, s.copies} {
			if stream != nil {
				_ = stream.Synchronize()
				_ = stream.Close()
			}
		}
		for _, t := range s.all {
			t.free()
		}
		s.residents.close()
		return nil
	})
	s.loader.free()
	s.guides.free()
	s.projection.free()
	s.bend.free()
	s.shares.free()
	s.renderer.free()
	s.colours.free()
	s.inpainter.free()
	s.counters.Free()
	for i := range s.holes {
		s.holes[i].free()
	}
}

// Load brings the frames, guides and flows of an interval to the device, so that its
// Begin need not wait for them. It returns once it has read them. Load identifies
// guides, flows and masks by their memory: the caller must not use that memory for
// other images as long as anything refers to it. Load holds the frames.
func (s *Synthesizer) Load(in warp.Interval) error {
	images, _ := s.images(&in)
	return s.device.Do(func() error { return s.residents.load(&in, images, true) })
}

// Begin sets the interval that Start works in. Start loads the interval if Load has
// not. The error of Begin is always nil.
func (s *Synthesizer) Begin(in warp.Interval) error {
	s.in, s.ready = in, false
	return nil
}

// Make fills dst with the frame at the phase.
func (s *Synthesizer) Make(dst *frame.Frame, phase warp.Phase) (warp.Made, error) {
	finish, err := s.Start(dst, phase)
	if err != nil {
		return warp.Made{}, err
	}
	return finish()
}

// Start queues the frame at the phase. The caller calls finish once for each Start, in
// the order of the Starts, from any goroutine; the next Begin may come before. When
// finish returns, dst holds the frame. The device fills dst directly if dst lies in a
// device's HostMemory.
func (s *Synthesizer) Start(dst *frame.Frame, phase warp.Phase) (finish func() (warp.Made, error), err error) {
	var t *slot
	err = s.device.Do(func() error {
		if err := s.fit(); err != nil {
			return err
		}
		if t, err = s.take(direct(dst)); err != nil {
			return err
		}
		if err := s.queue(t, dst, phase); err != nil {
			s.clean = false
			// A copy on its way to dst must not arrive after Start returns.
			_ = s.copies.Synchronize()
			return err
		}
		return nil
	})
	if err != nil {
		if t != nil {
			s.give(t)
		}
		return nil, err
	}
	l := s.layout
	return func() (made warp.Made, err error) {
		defer s.give(t)
		err = s.device.Do(func() error {
			err := t.done.Synchronize()
			if err != nil {
				// A copy still on its way to dst must not arrive after finish returns.
				_ = s.copies.Synchronize()
			}
			return err
		})
		if err == nil {
			t.fetch(dst, s.params.Workers)
			made = s.made(t.counters.Values, l)
		}
		return made, err
	}, nil
}

// made returns the measures that a frame's counters hold.
func (s *Synthesizer) made(counters []uint64, l layout) warp.Made {
	if s.params.Mode != warp.Project {
		return warp.Made{}
	}
	pixels := l.guideWidth * l.guideHeight
	var made warp.Made
	made.Residual = float64(int64(counters[costCounter])) / (float64(pixels) * float64(warp.Constants().DifferenceOne))
	for i := range l.flows {
		made.Holes += float64(counters[holesCounter+i]) / float64(max(1, pixels)) / float64(l.flows)
	}
	return made
}

// queue queues the work on a frame and the copy to the host.
func (s *Synthesizer) queue(t *slot, dst *frame.Frame, phase warp.Phase) error {
	if err := s.makeIn(t, phase); err != nil {
		return err
	}
	if err := s.counters.Download(s.work, t.counters.Values); err != nil {
		return err
	}
	if err := s.work.Record(t.made); err != nil {
		return err
	}
	if err := s.copies.WaitFor(t.made); err != nil {
		return err
	}
	if err := t.send(s.copies, dst); err != nil {
		return err
	}
	return s.copies.Record(t.done)
}

// makeIn queues the work on a frame, after the work on the interval if that is not
// queued yet.
func (s *Synthesizer) makeIn(t *slot, phase warp.Phase) error {
	if err := s.prepare(); err != nil {
		return err
	}
	for _, step := range s.steps(&t.planes, phase) {
		if err := step.queue(); err != nil {
			return err
		}
	}
	return nil
}

// fit makes the memory fit the interval.
func (s *Synthesizer) fit() error {
	in := &s.in
	l := layout{format: in.A.Format, width: in.A.Width, height: in.A.Height}
	if s.params.Mode != warp.Blend {
		l.guideWidth, l.guideHeight, l.level = in.GuideA.Width, in.GuideA.Height, in.Level
		l.flows = 2 * len(in.Flows)
		if l.flows < 2 || l.flows > maxFlows {
			return fmt.Errorf("an interval with %d estimates of its motion: want 1 to %d", len(in.Flows), maxFlows/2)
		}
	}
	l.count = copy(l.groups[:], groups(l.format, l.width, l.height))
	if l != s.layout {
		// No stream may use the memory that resize is about to free.
		if err := s.work.Synchronize(); err != nil {
			return err
		}
		if err := s.copies.Synchronize(); err != nil {
			return err
		}
		s.layout, s.clean = layout{}, false
		if err := s.resize(l); err != nil {
			return err
		}
		s.layout = l
	}
	if s.clean {
		return nil
	}
	if err := s.clear(); err != nil {
		return err
	}
	s.clean = true
	return nil
}

func (s *Synthesizer) resize(l layout) error {
	d, mode := s.device, s.params.Mode
	if err := s.counters.Resize(d, counters); err != nil {
		return err
	}
	if mode == warp.Blend {
		return nil
	}
	for i, g := range l.groups[:l.count] {
		h := &s.holes[i]
		if err := h.resize(d, g, l.format.Bytes()); err != nil {
			return err
		}
		h.counter = s.counters.part(groupCounter+i, 1)
		at := h.counter.Arg().bits
		h.count, h.rest = Arg{at}, Arg{at + 4}
		if mode == warp.Splat {
			if err := s.colours.sums[i].resize(s.work, g.width*g.height, 2, g.end-g.first); err != nil {
				return err
			}
		}
	}
	if err := s.guides.resize(d, l.guideWidth, l.guideHeight, l.flows); err != nil {
		return err
	}
	if mode == warp.Splat {
		return nil
	}
	if err := s.projection.resize(s.work, l.guideWidth, l.guideHeight, l.flows+2); err != nil {
		return err
	}
	if s.params.Acceleration {
		if err := s.bend.resize(d, l.guideWidth, l.guideHeight, l.level); err != nil {
			return err
		}
	}
	return s.shares.resize(s.work, l.guideWidth, l.guideHeight, hypotheses(l.flows, l.level))
}

// clear queues the fills that zero the accumulators and counters between frames.
func (s *Synthesizer) clear() error {
	if err := s.counters.Clear(s.work); err != nil {
		return err
	}
	for i := range s.layout.groups[:s.layout.count] {
		if err := s.colours.sums[i].clear(s.work); err != nil {
			return err
		}
	}
	if err := s.bend.moved.Clear(s.work); err != nil {
		return err
	}
	return s.projection.sums.clear(s.work)
}
