package frames

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
)

// runNeighbour takes the picture that is shown before a frame, or the one after it.
func (m *Maker) runNeighbour(ctx context.Context, j *job) error {
	s := j.setup
	at := Moment(s.plan, j.next)
	c, err := s.window.from(at)
	if err != nil {
		return err
	}
	var earlier, found *frame.Frame
	defer func() {
		for _, f := range []*frame.Frame{earlier, found} {
			if f != nil {
				f.Release()
			}
		}
	}()
	later := (j.view == After) != Pass(s.plan, j.next).Backward
	for found == nil {
		f, err := c.Read()
		if errors.Is(err, io.EOF) {
			if earlier == nil {
				return fmt.Errorf("frame %d: the source has no picture there", j.next)
			}
			found, earlier = earlier, nil
			break
		} else if err != nil {
			return err
		}
		switch beyond := s.window.clock.At(f.PTS).Cmp(at) > 0; {
		case beyond && !later && earlier != nil:
			found, earlier = earlier, nil
			f.Release()
		case beyond:
			found = f
		default:
			if earlier != nil {
				earlier.Release()
			}
			earlier = f
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	m.finished(j, key{j.view, j.next}, Shot{Frame: found, Record: pipeline.Record{Frame: j.next, Sources: []int64{}, Method: pipeline.FromSource}})
	return nil
}

// maxBetween bounds how many frames between two pictures Between finds.
const maxBetween = 4096

// Between returns the first and the last of the frames that lie between the same two pictures of the
// source as frame k. The error is fault.Usage if k shows a picture.
func (m *Maker) Between(ctx context.Context, k int64) (first, last int64, err error) {
	sources := func(k int64) ([]int64, error) {
		shot, err := m.Frame(ctx, Source, k)
		if err != nil {
			return nil, err
		}
		shot.Frame.Release()
		if len(shot.Record.Sources) < 2 {
			return nil, nil
		}
		return shot.Record.Sources, nil
	}
	own, err := sources(k)
	if err != nil {
		return 0, 0, err
	}
	if own == nil {
		return 0, 0, fault.New(fault.Usage, "frame %d shows a source frame; go to a frame between two", k)
	}
	ends, total := [2]int64{k, k}, m.Plan().Total
	for i, step := range [2]int64{-1, 1} {
		for n := ends[i] + step; n >= 0 && n < total && max(n-k, k-n) < maxBetween; n += step {
			other, err := sources(n)
			if err != nil {
				return 0, 0, err
			}
			if !slices.Equal(other, own) {
				break
			}
			ends[i] = n
		}
	}
	return ends[0], ends[1], nil
}
