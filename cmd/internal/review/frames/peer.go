package frames

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// around is how many pictures before and after a frame FFmpeg's minterpolate gets.
const around = 4

// runPeer makes one frame with FFmpeg's filter minterpolate.
func (m *Maker) runPeer(ctx context.Context, j *job) error {
	at := Moment(j.setup.plan, j.next)
	w := j.setup.window
	lead := new(big.Rat).SetInt64(2 * around)
	c, err := w.from(lead.Sub(at, lead.Mul(lead, w.clip.Period())))
	if err != nil {
		return err
	}
	var pictures []*frame.Frame
	defer func() {
		for _, f := range pictures {
			f.Release()
		}
	}()
	beyond := 0
	for beyond < around {
		f, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if w.clock.At(f.PTS).Cmp(at) > 0 {
			beyond++
		}
		pictures = append(pictures, f)
		if beyond == 0 && len(pictures) > around {
			pictures[0].Release()
			pictures = pictures[1:]
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if len(pictures) == 0 {
		return errors.New("minterpolate: no picture to work on")
	}
	f, err := minterpolate(ctx, j.setup, pictures, at)
	if err != nil {
		return err
	}
	defer f.Release()
	shot := Shot{Frame: f, Record: pipeline.Record{Frame: j.next, Method: pipeline.Interpolated}}
	m.finished(j, key{j.view, j.next}, shot)
	return nil
}

// ticks is the time base in which minterpolate gets its pictures, per second.
const ticks = 1_000_000

// densest is how many frames between two pictures the filter makes at most.
const densest = 16

// peerRate returns a rate at which frames from a moment on lie so that one of them falls way
// seconds after it. It is near that of pictures a period apart, whatever the output's: the filter
// makes all frames between two pictures at once. For a way of less than a period, the rate is
// higher, and from densest times that of the pictures on, the frame is off by up to half the
// distance.
func peerRate(way, period *big.Rat) *big.Rat {
	steps := max(timeline.Round(new(big.Rat).Quo(way, period)), 1)
	rate := new(big.Rat).Quo(big.NewRat(steps, 1), way)
	if most := new(big.Rat).Quo(big.NewRat(densest, 1), period); rate.Cmp(most) > 0 {
		rate = most
	}
	if rate.Num().BitLen() > 31 || rate.Denom().BitLen() > 31 { // the filter's limit
		rate = big.NewRat(timeline.Round(new(big.Rat).Mul(rate, big.NewRat(10_000, 1))), 10_000)
	}
	return rate
}

// minterpolate returns the filter's frame at a time. The filter lays its frames from the first
// picture on at an even distance, which is chosen so that one of them falls on the time.
func minterpolate(ctx context.Context, s *setup, pictures []*frame.Frame, at *big.Rat) (*frame.Frame, error) {
	start := s.plan.Clock.At(pictures[0].PTS)
	way := new(big.Rat).Sub(at, start)
	if way.Sign() <= 0 {
		return pictures[0].Retain(), nil
	}
	rate := peerRate(way, s.clip.Period())
	v := s.video
	v.TimeBase = big.NewRat(1, ticks)
	filter, err := media.NewFilter(fmt.Sprintf("[in0]minterpolate=fps=%s,format=%s[out]", rate.RatString(), v.Format.Name), 1, v, s.options.Compute.Threads)
	if err != nil {
		return nil, err
	}
	defer filter.Close()
	var best *frame.Frame
	var off *big.Rat
	passed := false // all later frames are farther off
	drain := func() error {
		for {
			f, err := filter.Receive()
			if errors.Is(err, media.ErrMore) || errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			d := new(big.Rat).Mul(filter.TimeBase(), big.NewRat(f.PTS, 1))
			d.Sub(d, way)
			passed = passed || d.Sign() >= 0
			d.Abs(d)
			if best == nil || d.Cmp(off) < 0 {
				best, f, off = f, best, d
			}
			if f != nil {
				f.Release()
			}
		}
	}
	fail := func(err error) (*frame.Frame, error) {
		if best != nil {
			best.Release()
		}
		return nil, err
	}
	send := func(f *frame.Frame, t *big.Rat) error {
		if err := ctx.Err(); err != nil || passed {
			return err
		}
		t = new(big.Rat).Sub(t, start)
		if err := filter.Send(0, f, timeline.Round(t.Mul(t, big.NewRat(ticks, 1)))); err != nil {
			return err
		}
		return drain()
	}
	for _, f := range pictures {
		if err := send(f, s.plan.Clock.At(f.PTS)); err != nil {
			return fail(err)
		}
	}
	last := pictures[len(pictures)-1]
	for i := range int64(around) { // the filter looks ahead
		t := new(big.Rat).Mul(s.clip.Period(), big.NewRat(i+1, 1))
		if err := send(last, t.Add(t, s.plan.Clock.At(last.PTS))); err != nil {
			return fail(err)
		}
	}
	if best == nil {
		return nil, errors.New("minterpolate made no frame")
	}
	return best, nil
}

// runRendered reads frames of the file that was rendered last.
func (m *Maker) runRendered(ctx context.Context, j *job) error {
	name := m.options.Rendered
	if name == "" {
		return fault.New(fault.Usage, "nothing was rendered yet")
	}
	at := new(big.Rat).Quo(big.NewRat(j.next, 1), j.setup.plan.Rate)
	r, err := media.Open(ctx, name, media.ReaderOptions{From: media.Start{At: at}, Threads: j.setup.options.Compute.Threads})
	if err != nil {
		return err
	}
	defer r.Close()
	clock := timeline.NewClock(r.Video())
	half := new(big.Rat).Quo(big.NewRat(1, 2), j.setup.plan.Rate)
	if v, w := r.Video(), j.setup.video; v.Width != w.Width || v.Height != w.Height {
		return fault.New(fault.Usage, "%q has frames of %dx%d, this clip %dx%d", name, v.Width, v.Height, w.Width, w.Height)
	}
	begin := clock.At(r.Video().StreamPTS)
	for j.next < j.end && ctx.Err() == nil {
		f, err := r.Read()
		if err != nil {
			return fmt.Errorf("%q: frame %d: %w", name, j.next, err)
		}
		want := new(big.Rat).Quo(big.NewRat(j.next, 1), j.setup.plan.Rate)
		if t := clock.At(f.PTS); t.Sub(t, begin).Cmp(want.Sub(want, half)) < 0 {
			f.Release()
			continue
		}
		m.finished(j, key{j.view, j.next}, Shot{Frame: f, Record: pipeline.Record{Frame: j.next, Method: pipeline.FromSource}})
		f.Release()
		m.mu.Lock()
		j.next++
		m.mu.Unlock()
	}
	return ctx.Err()
}
