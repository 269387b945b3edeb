package cuda

import (
	"time"

	"retime/frame"
	"retime/warp"
)

// The functions below time uploads, kernels and downloads, each without the others,
// which otherwise run at the same time.

// TimeUploads returns the time to bring a clip's intervals to the device.
func (s *Synthesizer) TimeUploads(clip []warp.Interval) (time.Duration, error) {
	var took time.Duration
	err := s.device.Do(func() error {
		start := time.Now()
		for i := range clip {
			in := &clip[i]
			images, _ := s.images(in)
			if err := s.residents.load(in, images, true); err != nil {
				return err
			}
			if _, _, _, err := s.residents.begin(s.work, s.joined, in, images); err != nil {
				return err
			}
		}
		err := s.residents.up.Synchronize()
		took = time.Since(start)
		return err
	})
	return took, err
}

// TimeKernels returns the time to make the frames at phases[i] of clip[i], without
// uploads or downloads. The clip must have at least one interval and frames of one
// size, and all of it must fit into the device's memory.
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
		list := make([]*slot, maxLanes) // a lane's frames have one, too
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

// TimeDownloads returns the time to bring n frames like those of in to the host. It
// gets each frame to fill from to and passes it to done; ahead frames are on their way
// at once. The time does not include the first ahead calls of to, which may have to
// allocate.
func (s *Synthesizer) TimeDownloads(in warp.Interval, n, ahead int, to func() (*frame.Frame, error), done func(*frame.Frame)) (time.Duration, error) {
	type transfer struct {
		*slot
		dst *frame.Frame
	}
	var took time.Duration
	err := s.device.Do(func() error {
		list := make([]transfer, ahead)
		for i := range list {
			t, err := s.begin(in, false)
			if err != nil {
				return err
			}
			defer s.give(t)
			list[i].slot = t
		}
		defer func() { // after an error
			_ = s.copies.Synchronize()
			for _, t := range list {
				if t.dst != nil {
					done(t.dst)
				}
			}
		}()
		for i := range list { // allocates the frames that to reuses
			f, err := to()
			if err != nil {
				return err
			}
			list[i].dst = f
		}
		for i := range list {
			done(list[i].dst)
			list[i].dst = nil
		}
		start := time.Now()
		for i := range n + ahead {
			t := &list[i%ahead]
			if t.dst != nil {
				if err := t.done.Synchronize(); err != nil {
					return err
				}
				t.fetch(t.dst, s.params.Workers)
				done(t.dst)
				t.dst = nil
			}
			if i >= n {
				continue
			}
			f, err := to()
			if err != nil {
				return err
			}
			t.dst = f
			if err := t.send(s.copies, f); err != nil {
				return err
			}
			if err := s.copies.Record(t.done); err != nil {
				return err
			}
		}
		took = time.Since(start)
		return nil
	})
	return took, err
}
