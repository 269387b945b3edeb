package pipeline

import (
	"context"
	"errors"
	"io"
	"math/big"
	"slices"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/timeline"
)

// play runs l over all passes of the clip's plan, one after the other. A single pass
// that plays on from the source's start needs no reader of its own.
func (c *Clip) play(ctx context.Context, l *stages.Line, w *media.Writer) error {
	if !c.Plan.Reopens() {
		pass := &c.Plan.Passes[0]
		if err := playForward(ctx, l, w, c.Source, pass); err != nil {
			return err
		}
		return c.Options.finish(l, pass)
	}
	for i := range c.Plan.Passes {
		if err := c.playPass(ctx, l, w, i); err != nil || l.Result().Cutoff != nil {
			return err
		}
	}
	if l.Result().Frames == 0 {
		return fault.New(fault.Usage, "Timing.Curve: it lasts for no frame of the output")
	}
	l.WarnOfDecisions()
	return nil
}

// playForward runs l over a pass that r reads, and then has w complete the other streams.
func playForward(ctx context.Context, l *stages.Line, w *media.Writer, r *media.Reader, pass *timeline.Pass) error {
	err := l.Run(ctx, r, pass, stages.Whole())
	if err != nil || pass.Stop == nil || l.Result().Cutoff != nil {
		return err
	}
	return w.Complete(r, pass.Stop)
}

// playPass reads the part of the source that pass i plays.
func (c *Clip) playPass(ctx context.Context, l *stages.Line, w *media.Writer, i int) error {
	pass := &c.Plan.Passes[i]
	from, to := pass.From, pass.To
	if pass.Backward {
		from, to = to, from
	}
	open := func(from, to *big.Rat) (*media.Reader, error) {
		return c.Reopen(ctx, Span{From: from, To: to, Subtitles: !pass.Backward})
	}
	reader, err := open(from, to)
	if err != nil {
		return err
	}
	defer reader.Close()
	if err := w.Follow(reader, i); err != nil {
		return err
	}
	if !pass.Backward {
		return playForward(ctx, l, w, reader, pass)
	}
	if err := reader.Skim(); err != nil {
		return err
	}
	b := newBackward(open, c.Source.Video(), c.Plan.Clock, from, to)
	defer b.release()
	return l.Run(ctx, b, pass, stages.Whole())
}

// backwardBytes bounds the pictures that wait to be shown backward.
const backwardBytes = 256 << 20

// backward is a source whose frames come in the order of falling timestamps. It
// reads a stretch at a time from its end: as many frames as backwardBytes hold,
// at least minBackward, however far key frames are apart.
type backward struct {
	open  func(from, to *big.Rat) (*media.Reader, error)
	video media.Video
	clock *timeline.Clock
	from  *big.Rat // no frame is wanted before the one at or before this
	next  *big.Rat // what is read next ends here
	begun bool     // a frame at or after next is wanted no more
	room  int      // how many frames are read at a time
	ahead []*frame.Frame
	ended bool
}

// minBackward is how many frames are read at a time at least.
const minBackward = 4

func newBackward(open func(from, to *big.Rat) (*media.Reader, error), v media.Video, c *timeline.Clock, from, to *big.Rat) *backward {
	size := v.Width * v.Height * v.Format.Bytes() * v.Format.Planes
	return &backward{open: open, video: v, clock: c, from: from, next: to, room: max(backwardBytes/max(size, 1), minBackward)}
}

func (b *backward) Video() media.Video { return b.video }

func (b *backward) Read() (*frame.Frame, error) {
	if len(b.ahead) == 0 && !b.ended {
		if err := b.fill(); err != nil {
			return nil, err
		}
	}
	if len(b.ahead) == 0 {
		return nil, io.EOF
	}
	f := b.ahead[len(b.ahead)-1]
	b.ahead = b.ahead[:len(b.ahead)-1]
	return f, nil
}

// fill reads the stretch that ends at next.
func (b *backward) fill() error {
	stretch := new(big.Rat).SetInt64(int64(b.room))
	begin := stretch.Sub(b.next, stretch.Mul(stretch, period(b.video)))
	if begin.Cmp(b.from) < 0 {
		begin = b.from
	}
	r, err := b.open(begin, b.next)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		at := b.clock.At(f.PTS)
		late := at.Cmp(b.next) >= 0
		if late && b.begun {
			f.Release()
			break
		}
		b.ahead = append(b.ahead, f)
		if len(b.ahead) > b.room {
			b.ahead[0].Release()
			b.ahead = slices.Delete(b.ahead, 0, 1)
		}
		if late {
			break
		}
	}
	b.begun = true
	if len(b.ahead) == 0 {
		b.ended = true
		return nil
	}
	earliest := b.clock.At(b.ahead[0].PTS)
	b.ended = earliest.Cmp(b.from) <= 0 || earliest.Cmp(b.next) >= 0
	b.next = earliest
	return nil
}

func (b *backward) release() {
	for _, f := range b.ahead {
		f.Release()
	}
	b.ahead = nil
}
