package evaluate

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
)

// minterpolate makes frames with FFmpeg's filter of that name.
type minterpolate struct {
	options string
	threads int
}

// padding is the largest number of clones of the last frame to send after it: the
// filter looks ahead and would lose the end.
const padding = 3

func (m minterpolate) make(ctx context.Context, source pipeline.Source, sink pipeline.Sink, timestamps []int64) error {
	v := source.Video()
	filter, err := media.NewFilter(m.graph(v), 1, v, m.threads)
	if err != nil {
		return err
	}
	defer filter.Close()
	pick := picker{sink: sink, times: timestamps, base: new(big.Rat).Quo(filter.TimeBase(), v.TimeBase)}
	defer pick.close()

	var last *frame.Frame
	gap := int64(1)
	for {
		if err := ctx.Err(); err != nil {
			return fault.Cancel(ctx, "cancelled")
		}
		f, err := source.Read()
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
		if err := pick.through(filter, f, f.PTS); err != nil {
			last.Release()
			return err
		}
	}
	if last == nil {
		return errors.New("minterpolate: no frame to work on")
	}
	defer last.Release()
	for i := int64(1); i <= padding && len(pick.times) > 0; i++ {
		if err := pick.through(filter, last, last.PTS+i*gap); err != nil {
			return err
		}
	}
	return pick.finish(filter)
}

// check returns an error if the filter refuses its options whatever the clip.
func (m minterpolate) check() error {
	v := media.Video{Format: frame.Format{Name: "yuv420p"}, Width: 64, Height: 64, TimeBase: big.NewRat(1, 25), Average: big.NewRat(25, 1)}
	filter, err := media.NewFilter(m.graph(v), 1, v, 1)
	if err == nil {
		filter.Close()
	}
	return err
}

// graph returns a filter graph that interpolates to the clip's rate and converts back
// to the clip's sample format, because minterpolate's eight bits may be fewer.
func (m minterpolate) graph(v media.Video) string {
	options := "fps=" + v.Average.RatString()
	if m.options != "" {
		options += ":" + m.options
	}
	return fmt.Sprintf("[in0]minterpolate=%s,format=%s[out]", options, v.Format.Name)
}

// picker writes to a sink, for each of some times, the frame nearest to it.
type picker struct {
	sink  pipeline.Sink
	times []int64
	base  *big.Rat // units of times per unit of the frames' PTS
	last  *frame.Frame
	at    *big.Rat // time of last, in units of times
}

// through sends f through filter and takes the frames that are ready.
func (p *picker) through(filter *media.Filter, f *frame.Frame, pts int64) error {
	if err := filter.Send(0, f, pts); err != nil {
		return err
	}
	return p.drain(filter)
}

func (p *picker) drain(filter *media.Filter) error {
	for {
		f, err := filter.Receive()
		if errors.Is(err, media.ErrMore) || errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := p.take(f); err != nil {
			return err
		}
	}
}

// take writes a frame for each time up to f's. It takes over f.
func (p *picker) take(f *frame.Frame) error {
	at := new(big.Rat).Mul(p.base, big.NewRat(f.PTS, 1))
	for len(p.times) > 0 {
		t := big.NewRat(p.times[0], 1)
		if at.Cmp(t) < 0 {
			break
		}
		best := f
		if p.last != nil && new(big.Rat).Sub(t, p.at).Cmp(new(big.Rat).Sub(at, t)) < 0 {
			best = p.last
		}
		if err := p.sink.WriteFrame(best, nil, nil); err != nil {
			f.Release()
			return err
		}
		p.times = p.times[1:]
	}
	p.close()
	p.last, p.at = f, at
	return nil
}

// finish ends filter's input and writes a frame for each remaining time.
func (p *picker) finish(filter *media.Filter) error {
	if len(p.times) == 0 {
		return nil
	}
	if err := filter.End(0); err != nil {
		return err
	}
	if err := p.drain(filter); err != nil {
		return err
	}
	if p.last == nil {
		return errors.New("minterpolate made no frame")
	}
	for range p.times {
		if err := p.sink.WriteFrame(p.last, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func (p *picker) close() {
	if p.last != nil {
		p.last.Release()
		p.last = nil
	}
}
