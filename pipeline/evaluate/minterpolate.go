package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// minterpolate makes frames with FFmpeg's filter of the same name.
type minterpolate struct {
	options string
	threads int
}

// padding is how many clones of the last frame to send after it, at most: the filter looks ahead
// and would lose the end.
const padding = 3

func (m minterpolate) make(ctx context.Context, j job) (time.Duration, error) {
	began := time.Now()
	err := m.filter(ctx, j)
	return time.Since(began), err
}

func (m minterpolate) filter(ctx context.Context, j job) error {
	v := j.source.Video()
	filter, err := media.NewFilter(m.graph(v), 1, v, m.threads)
	if err != nil {
		return err
	}
	defer filter.Close()
	s := filtered{filter: filter, base: new(big.Rat).Quo(filter.TimeBase(), v.TimeBase)}
	s.pick = picker{times: j.times, put: func(f *frame.Frame, _ *big.Rat, _ int64) error { return j.sink.WriteFrame(f, nil, nil) }}
	defer s.pick.close()

	var last *frame.Frame
	gap := int64(1)
	for {
		if err := ctx.Err(); err != nil {
			return fault.Cancel(ctx, "cancelled")
		}
		f, err := j.source.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if last != nil {
			gap = f.PTS - last.PTS
			last.Release()
		}
		last = f
		if err := s.through(f, f.PTS); err != nil {
			last.Release()
			return err
		}
	}
	if last == nil {
		return errors.New("minterpolate: no frame to work on")
	}
	defer last.Release()
	for i := int64(1); i <= padding && len(s.pick.times) > 0; i++ {
		if err := s.through(last, last.PTS+i*gap); err != nil {
			return err
		}
	}
	return s.finish()
}

// check returns an error if the filter refuses its options for any clip.
func (m minterpolate) check() error {
	v := media.Video{Format: frame.Format{Name: "yuv420p"}, Width: 64, Height: 64, TimeBase: big.NewRat(1, 25), Average: big.NewRat(25, 1)}
	filter, err := media.NewFilter(m.graph(v), 1, v, 1)
	if err == nil {
		filter.Close()
	}
	return err
}

// graph returns a filter graph that interpolates to the clip's rate and converts back to the clip's
// sample format, because minterpolate's output has eight bits.
func (m minterpolate) graph(v media.Video) string {
	options := "fps=" + v.Average.RatString()
	if m.options != "" {
		options += ":" + m.options
	}
	return fmt.Sprintf("[in0]minterpolate=%s,format=%s[out]", options, v.Format.Name)
}

// filtered takes frames from a filter and picks the wanted ones.
type filtered struct {
	filter *media.Filter
	base   *big.Rat // units of the wanted times per unit of the frames' PTS
	pick   picker
}

// through sends f through the filter and takes the frames that are ready.
func (s *filtered) through(f *frame.Frame, pts int64) error {
	if err := s.filter.Send(0, f, pts); err != nil {
		return err
	}
	return s.drain()
}

func (s *filtered) drain() error {
	for {
		f, err := s.filter.Receive()
		if errors.Is(err, media.ErrMore) || errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.pick.take(f, new(big.Rat).Mul(s.base, big.NewRat(f.PTS, 1))); err != nil {
			return err
		}
	}
}

// finish ends the filter's input and uses the last frame for each remaining time.
func (s *filtered) finish() error {
	p := &s.pick
	if len(p.times) == 0 {
		return nil
	}
	if err := s.filter.End(0); err != nil {
		return err
	}
	if err := s.drain(); err != nil {
		return err
	}
	if p.last == nil {
		return errors.New("minterpolate made no frame")
	}
	for _, t := range p.times {
		if err := p.put(p.last, p.at, t); err != nil {
			return err
		}
	}
	return nil
}

// picker passes on, for each of its times, the nearest frame.
type picker struct {
	times []int64
	put   func(f *frame.Frame, at *big.Rat, t int64) error // f's time is at
	last  *frame.Frame
	at    *big.Rat // time of last
}

// take passes f on for each time up to at, its own time, to which it is nearest. It takes over f.
func (p *picker) take(f *frame.Frame, at *big.Rat) error {
	for len(p.times) > 0 {
		t := big.NewRat(p.times[0], 1)
		if at.Cmp(t) < 0 {
			break
		}
		best, when := f, at
		if p.last != nil && new(big.Rat).Sub(t, p.at).Cmp(new(big.Rat).Sub(at, t)) < 0 {
			best, when = p.last, p.at
		}
		if err := p.put(best, when, p.times[0]); err != nil {
			f.Release()
			return err
		}
		p.times = p.times[1:]
	}
	p.close()
	p.last, p.at = f, at
	return nil
}

func (p *picker) close() {
	if p.last != nil {
		p.last.Release()
		p.last = nil
	}
}
