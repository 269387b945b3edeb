package cuda

import (
	"time"

	"retime/frame"
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
		t, err := s.begin(clip[0], true)
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
func (s *Synthesizer) begin(in warp.Interval, direct bool) (*slot, error) {
	if err := s.Begin(in); err != nil {
		return nil, err
	}
	if err := s.fit(); err != nil {
		return nil, err
	}
	return s.take(direct)
}

// TimeDownloads returns how long it takes to bring n frames like those of in to the
// host, into frames that to returns and done gets. As many are on their way at a time as
// ahead says; that to makes them anew the first time does not count.
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
		defer func() { // of an error
			_ = s.copies.Synchronize()
			for _, t := range list {
				if t.dst != nil {
					done(t.dst)
				}
			}
		}()
		for i := range list { // where to takes its frames from fills
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
