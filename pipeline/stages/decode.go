package stages

import (
	"context"
	"errors"
	"io"
	"math/big"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/rational"
)

// decode reads the source to its end, or to the pass's. Damage ends it early without an
// error.
func (r *run) decode(source Source) stage[*Picture] {
	return func(ctx context.Context, emit func(*Picture) error) error {
		var last *big.Rat // time of the picture before
		var mattes Mattes
		if r.params.Masks.Mattes != nil {
			mattes = r.params.Masks.Mattes(ctx)
			defer mattes.Close()
		}
		for !r.enough() {
			stop := r.times.decode.start()
			f, err := source.Read()
			stop()
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil && fault.KindOf(err) == fault.BadData:
				r.result.Cutoff = err
				return nil
			case err != nil:
				return err
			}
			last = r.plan.Clock.Following(last, f.PTS, r.pass.Backward)
			at := r.pass.Moment(new(big.Rat).Set(last))
			p := &Picture{Frame: f, Number: r.result.Sources, Guide: r.guide(f), At: at, Last: at, Moved: rounded(r.plan.Clock.Moved(f.PTS))}
			r.result.Sources++
			if mattes != nil {
				if err := r.readMatte(mattes, p); err != nil {
					p.Release()
					return err
				}
			}
			if err := emit(p); err != nil {
				return err
			}
			if r.pass.Stop != nil && at.Cmp(r.pass.Stop) >= 0 {
				return nil
			}
		}
		return nil
	}
}

func (r *run) guide(f *frame.Frame) motion.Guide {
	return NumberedGuide(f, r.scale, r.plan.Clock, r.video)
}

// NumberedGuide returns the guide of a frame of a video, whose times clock tells. It has the number of
// the frame in the stream, wherever reading began, if the stream has a constant rate.
func NumberedGuide(f *frame.Frame, s motion.Scale, clock *timeline.Clock, video timeline.Video) motion.Guide {
	g := motion.NewGuide(f, s)
	if video.Rate == nil {
		return g
	}
	at := new(big.Rat).Sub(clock.At(f.PTS), clock.At(video.StreamPTS))
	return g.Numbered(rational.Nearest(at.Mul(at, video.Rate)))
}
