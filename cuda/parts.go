package cuda

import (
	"time"

	"retime/pipeline/frame"
	"retime/warp"
)

// What making a clip's frames takes is measured in three parts, each alone, as they
// run beside one another otherwise.

// TimeUploads returns how long it takes to bring a clip's intervals to the device.
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
			if _, _, _, err := s.residents.begin(s.work, in, images); err != nil {
				return err
			}
		}
		err := s.residents.up.Synchronize()
		took = time.Since(start)
		return err
	})
	return took, err
}

// TimeKernels returns how long it takes to make the frames at phases[i] of clip[i] from
// what is on the device, where they stay. Uploads do not count, but must find room for
// all of the clip, of at least one interval and of one size.
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
		t, err := s.begin(clip[0])
		if err != nil {
			return err
		}
		defer s.give(t)
		start := time.Now()
		for i, in := range clip {
			if err := s.Begin(in); err != nil {
				return err
			}
			for _, phase := range phases[i] {
				if err := s.makeIn(t, phase); err != nil {
					s.clean = false
					return err
				}
			}
		}
		err = s.work.Synchronize()
		took = time.Since(start)
		return err
	})
	return took, err
}

// begin returns a slot for frames of an interval, which begins.
func (s *Synthesizer) begin(in warp.Interval) (*slot, error) {
	if err := s.Begin(in); err != nil {
		return nil, err
	}
	if err := s.fit(); err != nil {
		return nil, err
	}
	return s.take()
}

// TimeDownloads returns how long it takes to bring n frames like those of in to the
// host, into frames that to returns and done gets. As many are on their way at a time as
// ahead says.
func (s *Synthesizer) TimeDownloads(in warp.Interval, n, ahead int, to func() (*frame.Frame, error), done func(*frame.Frame)) (time.Duration, error) {
	var took time.Duration
	err := s.device.Do(func() error {
		slots := make([]*slot, ahead)
		for i := range slots {
			t, err := s.begin(in)
			if err != nil {
				return err
			}
			defer s.give(t)
			slots[i] = t
		}
		start := time.Now()
		for i := range n + ahead {
			t := slots[i%ahead]
			if i >= ahead {
				if err := t.done.Synchronize(); err != nil {
					return err
				}
				f, err := to()
				if err != nil {
					return err
				}
				t.fetch(f, s.params.Workers)
				done(f)
			}
			if i >= n {
				continue
			}
			if err := t.send(s.copies); err != nil {
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
