package restoration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore"
)

// jumpRounds is the number of rounds for each clip. The first round leaves out no
// frame.
const jumpRounds = 4

// jumps leaves out frames of the clips, closes the gaps in the timestamps, and prints how many gaps
// are found as jumps, and how many other places.
func (s *study) jumps(ctx context.Context, clips []string) error {
	var dropped, right, wrong int
	for _, clip := range clips {
		for round := range uint64(jumpRounds) {
			name, places, err := s.leaveOut(ctx, clip, round)
			if err != nil {
				return fmt.Errorf("%s: %w", clip, err)
			}
			dropped += len(places)
			report, err := restore.Run(ctx, restore.Options{Detect: true, DryRun: true, Convert: pipeline.Options{
				Input: pipeline.Input{File: name}, Output: pipeline.Output{File: filepath.Join(s.work, "none.mkv")},
			}})
			if err != nil {
				return fmt.Errorf("%s: %w", clip, err)
			}
			for _, f := range report.Findings {
				if places[f.First.Number] && f.Kind == restore.Jump {
					right++
				} else {
					wrong++
					s.note("%s, round %d: found by mistake: %v", filepath.Base(clip), round, f)
				}
			}
		}
	}
	s.printf("jumps: %d places, %d found, %d others: recall %.3f, precision %.3f\n",
		dropped, right, wrong, float64(right)/float64(dropped), float64(right)/float64(right+wrong))
	if float64(right) < 0.95*float64(right+wrong) {
		return fault.New(fault.Mismatch, "precision of jumps below 0.95")
	}
	return nil
}

// leaveOut writes the clip without some of its frames, and returns the numbers of the frames just
// before the gaps.
func (s *study) leaveOut(ctx context.Context, clip string, round uint64) (name string, places map[int64]bool, err error) {
	const apart = 7 // minimum distance between two gaps, in frames
	random := rand.New(rand.NewPCG(s.Seed, round))
	missing := map[int]bool{}
	for n := apart; round > 0 && n < 200; n += apart + random.IntN(2*apart) {
		for k := range 1 + random.IntN(4)/3 {
			missing[n+k] = true
		}
	}
	r, err := media.Open(ctx, clip, media.ReaderOptions{})
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	name = filepath.Join(s.work, "jumps.mkv")
	w, err := create(ctx, name, r)
	if err != nil {
		return "", nil, err
	}
	defer w.Abort()
	n := 0
	var kept int64
	places = map[int64]bool{}
	err = frames(r, func(f *frame.Frame) error {
		if n++; missing[n-1] {
			places[kept-1] = true
			return nil
		}
		kept++
		return w.WriteFrame(f, nil, nil)
	})
	if err == nil {
		_, err = w.Finish(false)
	}
	return name, places, err
}
