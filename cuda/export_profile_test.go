//go:build unix

package cuda

import (
	"fmt"
	"time"

	"retime/warp"
)

// Profile calls measure for each step of making the interval's frame at the phase, and for all
// steps of the frame together under the name "frame". queue queues the step on stream; measure may
// call it any number of times. bytes is the minimum number of bytes that the step must read and
// write, with each value counted once, or 0 if that depends on the picture.
func (s *Synthesizer) Profile(phase warp.Phase, measure func(name string, bytes int, stream *Stream, queue func() error) error) error {
	return s.device.Do(func() error {
		if err := s.fit(); err != nil {
			return err
		}
		t, err := s.take(true)
		if err != nil {
			return err
		}
		defer s.give(t)
		if err := s.beginInterval(); err != nil {
			return err
		}
		if err := s.work.Synchronize(); err != nil {
			return err
		}
		l, w := s.lanes[0], s.now()
		var shared []step
		if s.program.sampled {
			bytes := 0
			for _, g := range s.layout.groups[:s.layout.count] {
				bytes += g.bytes(s.layout.format) + g.samples()*coefficientBytes
			}
			shared = append(shared, step{"prefilter of a source frame", bytes, func() error {
				return s.loader.prefilter(s.work, w.a)
			}})
		}
		for _, m := range append(shared, s.program.preparation(s, w)...) {
			if err := measure(m.name, m.bytes, s.work, m.queue); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		if err := s.work.Synchronize(); err != nil {
			return err
		}
		frame := s.program.frame(s, l, w, &t.planes, phase)
		bytes := 0
		for _, f := range frame {
			bytes += f.bytes
		}
		for _, m := range append(frame, step{"frame", bytes, func() error {
			for _, f := range frame {
				if err := f.queue(); err != nil {
					return err
				}
			}
			return nil
		}}) {
			if err := measure(m.name, m.bytes, l.stream, m.queue); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		return l.stream.Synchronize()
	})
}

// TimeKernels returns the time to make the frames at phases[i] of clip[i], without uploads and
// downloads. The clip must have at least one interval, frames of one size, and must fit into device
// memory as a whole.
func (s *Synthesizer) TimeKernels(clip []warp.Interval, phases [][]warp.Phase) (time.Duration, error) {
	for _, in := range clip {
		if err := s.Load(in); err != nil {
			return 0, err
		}
	}
	var took time.Duration
	err := s.device.Do(func() error {
		if err := s.residents.up.Synchronize(); err != nil {
			return err
		}
		list := make([]*slot, maxLanes) // one slot for each lane's frames
		for i := range list {
			t, err := s.begin(clip[0], true)
			if err != nil {
				return err
			}
			defer s.give(t)
			list[i] = t
		}
		start := time.Now()
		for i, in := range clip {
			if err := s.Begin(in); err != nil {
				return err
			}
			for _, phase := range phases[i] {
				if _, err := s.makeIn(list[s.frames%len(s.lanes)], phase); err != nil {
					return err
				}
			}
		}
		err := s.synchronizeLanes()
		took = time.Since(start)
		return err
	})
	return took, err
}

// begin begins an interval and returns a slot for its frames.
func (s *Synthesizer) begin(in warp.Interval, direct bool) (*slot, error) {
	if err := s.Begin(in); err != nil {
		return nil, err
	}
	if err := s.fit(); err != nil {
		return nil, err
	}
	return s.take(direct)
}
