package cuda

import (
	"cmp"
	"errors"
	"fmt"

	"retime/frame"
	"retime/warp"
)

// Synthesizer makes frames on a device, with the same bits as warp.Synthesizer. It keeps its memory
// between frames.
//
// One goroutine calls Begin for each interval, then Start for each phase. Other
// goroutines may call Load for the next intervals.
type Synthesizer struct {
	device  *Device
	params  warp.Params
	program *program // of the mode

	// work prepares intervals, copies brings frames to the host, and joined only waits for the
	// lanes.
	work, copies, joined *Stream
	residents            residents
	loader               loader
	prepared             []*prepared // intervals take turns
	lanes                []*lane     // frames take turns
	slots                slots

	layout layout
	current
}

// current is the interval that Start works on.
type current struct {
	in                warp.Interval
	begun             bool // whether the work that does not depend on the phase is queued
	intervals, frames int  // numbers so far
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

// A made frame has counters of the pixels that each flow does not reach, the sum of the lowest
// costs and, for each group, the length of its list of holes and a flag.
const (
	maxFlows     = 4
	maxProjected = maxFlows + 2 // with the flows beyond the interval
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
	program := programs[p.Mode]
	if program == nil {
		return nil, fmt.Errorf("mode %q makes no frames on a GPU: %w", p.Mode, errors.ErrUnsupported)
	}
	s := &Synthesizer{device: d, params: p, program: program}
	err := d.Do(s.open)
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Synthesizer) open() (err error) {
	d, p := s.device, s.params
	for _, stream := range []**Stream{&s.work, &s.copies, &s.joined} {
		if *stream, err = d.NewStream(); err != nil {
			return err
		}
	}
	if err = s.residents.open(d, s.program.sampled); err != nil {
		return err
	}
	if err = s.addLane(); err != nil || !s.program.sampled {
		return err
	}
	s.loader, err = newLoader(d, p.Order, p.Kernel)
	return err
}

// addLane adds a lane, and room for another interval.
func (s *Synthesizer) addLane() error {
	l, err := newLane(s.device, s.program, &s.params)
	if err != nil {
		return err
	}
	w, err := newPrepared(s.work, s.program, &s.params)
	if err != nil {
		l.close()
		return err
	}
	s.lanes, s.prepared = append(s.lanes, l), append(s.prepared, w)
	return nil
}

// dropLane undoes addLane. No work may be queued.
func (s *Synthesizer) dropLane() {
	n := len(s.lanes) - 1
	s.lanes[n].close()
	s.prepared[n].close()
	s.lanes, s.prepared = s.lanes[:n], s.prepared[:n]
}

// Close waits for the queued work and frees all memory.
func (s *Synthesizer) Close() {
	// If the device has failed, there is nothing left to do about errors.
	_ = s.device.Do(func() error {
		_ = s.synchronizeLanes()
		for _, stream := range []*Stream{s.work, s.copies, s.joined} {
			if stream != nil {
				_ = stream.Synchronize()
				_ = stream.Close()
			}
		}
		s.slots.free()
		s.residents.close()
		for len(s.lanes) > 0 {
			s.dropLane()
		}
		return nil
	})
	s.loader.free()
}

// Load brings the frames, guides and flows of an interval to the device, so that Begin need not
// wait for them. It returns once it has read them. Load identifies guides, flows and masks by their
// memory: the caller must not use that memory for other images as long as anything refers to it.
// Load holds the frames.
func (s *Synthesizer) Load(in warp.Interval) error {
	images, _ := s.images(&in)
	return s.device.Do(func() error { return s.residents.load(&in, images, true) })
}

// Begin sets the interval that Start works on. Start loads the interval if Load has not. Begin's
// error is always nil.
func (s *Synthesizer) Begin(in warp.Interval) error {
	s.in, s.begun = in, false
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

// Start queues the frame at the phase. The caller calls finish once for each Start, in the order of
// the Starts, from any goroutine; the next Begin may come earlier. When finish returns, dst holds
// the frame. The device fills dst directly if dst is in a device's HostMemory.
func (s *Synthesizer) Start(dst *frame.Frame, phase warp.Phase) (finish func() (warp.Made, error), err error) {
	var t *slot
	err = s.device.Do(func() error {
		for {
			t, err = s.startIn(t, dst, phase)
			if err == nil {
				return nil
			}
			// A copy to dst must not arrive after Start returns, no kernel may write to the slot's
			// planes once another frame has them, and what a half-prepared interval reads must stay
			// until it has been read.
			_ = s.work.Synchronize()
			_ = s.synchronizeLanes()
			_ = s.copies.Synchronize()
			if !errors.Is(err, ErrOutOfMemory) || len(s.lanes) == 1 {
				return err
			}
			s.dropLane() // pictures and flows need the memory more
			s.begun = false
		}
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
				// A copy to dst must not arrive after finish returns.
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

// startIn queues a frame in t, or in a slot that it takes if t is nil, and returns the slot.
func (s *Synthesizer) startIn(t *slot, dst *frame.Frame, phase warp.Phase) (*slot, error) {
	err := s.fit()
	if err != nil {
		return t, err
	}
	if t == nil {
		t, err = s.take(direct(dst))
	} else {
		err = t.fit(s.device, &s.layout, direct(dst))
	}
	if err != nil {
		return t, err
	}
	return t, s.queue(t, dst, phase)
}

// made returns the measures in a frame's counters.
func (s *Synthesizer) made(counters []uint64, l layout) warp.Made {
	if !s.program.sampled {
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
	l, err := s.makeIn(t, phase)
	if err != nil {
		return err
	}
	if err := l.counters.Download(l.stream, t.counters.Values); err != nil {
		return err
	}
	if err := l.stream.Record(t.made); err != nil {
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

// makeIn queues the work on a frame, after the work on the interval if that is not queued yet, and
// returns the lane.
func (s *Synthesizer) makeIn(t *slot, phase warp.Phase) (l *lane, err error) {
	if err := s.beginInterval(); err != nil {
		return nil, err
	}
	l, w := s.lanes[s.frames%len(s.lanes)], s.now()
	s.frames++
	defer func() {
		// Even after an error, queued work still uses the interval.
		if e := l.stream.Record(l.last); err == nil {
			err = e
		}
		if err != nil {
			l.clean = false
		}
	}()
	if err := l.stream.WaitFor(w.ready); err != nil {
		return l, err
	}
	if err := l.clear(&s.layout); err != nil {
		return l, err
	}
	for _, step := range s.program.frame(s, l, w, &t.planes, phase) {
		if err := step.queue(); err != nil {
			return l, err
		}
	}
	return l, nil
}

// fit makes the memory fit the interval.
func (s *Synthesizer) fit() error {
	in := &s.in
	l := layout{format: in.A.Format, width: in.A.Width, height: in.A.Height}
	if s.program.guided {
		l.guideWidth, l.guideHeight, l.level = in.GuideA.Width, in.GuideA.Height, in.Level
		l.flows = 2 * len(in.Flows)
		if l.flows < 2 || l.flows > maxFlows {
			return fmt.Errorf("an interval with %d estimates of its motion: want 1 to %d", len(in.Flows), maxFlows/2)
		}
	}
	l.count = copy(l.groups[:], groups(l.format, l.width, l.height))
	if l == s.layout {
		return nil
	}
	// No stream may use the memory that resize is about to free.
	if err := s.synchronizeLanes(); err != nil {
		return err
	}
	for _, stream := range []*Stream{s.work, s.copies, s.joined} {
		if err := stream.Synchronize(); err != nil {
			return err
		}
	}
	s.layout, s.begun = layout{}, false
	if err := s.resize(&l); err != nil {
		return err
	}
	s.layout = l
	return nil
}

func (s *Synthesizer) synchronizeLanes() (err error) {
	for _, l := range s.lanes {
		err = cmp.Or(err, l.stream.Synchronize())
	}
	return err
}

// resize makes the first lane fit, and as many others as there is ample memory for.
func (s *Synthesizer) resize(l *layout) error {
	for len(s.lanes) > 1 {
		s.dropLane()
	}
	if err := s.resizeLane(0, l); err != nil {
		return err
	}
	for len(s.lanes) < lanesFor(l.guideWidth*l.guideHeight) {
		free, total, err := s.device.room()
		if err != nil || free < total/2 {
			return err
		}
		if err := s.addLane(); err != nil {
			return err
		}
		if err := s.resizeLane(len(s.lanes)-1, l); err != nil {
			s.dropLane()
			if errors.Is(err, ErrOutOfMemory) {
				return nil
			}
			return err
		}
	}
	return nil
}

func (s *Synthesizer) resizeLane(i int, l *layout) error {
	if err := s.prepared[i].parts.resize(s.work, l); err != nil {
		return err
	}
	return s.lanes[i].resize(l)
}
