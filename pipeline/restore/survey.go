package restore

import (
	"context"
	"errors"
	"io"
	"math/big"
	"slices"

	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// survey is what the first reading of the input tells.
type survey struct {
	video    media.Video
	stamps   []int64 // of the frames
	length   int64   // of the last one, in the same unit
	findings []Finding
}

// scan reads the input once.
func scan(ctx context.Context, o *Options) (*survey, error) {
	c := &o.Convert
	r, err := media.Open(ctx, c.Input, media.ReaderOptions{Format: c.InputFormat, Rate: c.InputRate, Threads: c.Threads, Map: c.Map, Log: c.Log})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if !media.Seekable(c.Input) {
		return nil, fault.New(fault.Usage, "input %q cannot be read twice; give a file", c.Input)
	}
	s := &survey{video: r.Video(), findings: slices.Clone(o.Damage)}
	var d *detector
	if o.Detect {
		if d, err = newDetector(o); err != nil {
			return nil, err
		}
		defer d.close()
	}
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) || fault.KindOf(err) == fault.BadData && len(s.stamps) > 0 {
			break // the second reading says what damage ends the input
		} else if err != nil {
			return nil, err
		}
		s.stamps = append(s.stamps, f.PTS)
		s.length = f.Duration
		if d != nil {
			err = d.add(f)
		}
		f.Release()
		if err != nil {
			return nil, err
		}
	}
	if d != nil {
		s.findings = append(s.findings, d.finish(s.stamps)...)
	}
	return s, nil
}

// time is when frame n is shown, in seconds after the file's start.
func (s *survey) time(n int64) *big.Rat { return s.moment(s.stamps[n]) }

// timecode is when t is shown, in seconds after the file's start. It counts from the
// timecode that the file states for its first frame, else from 0.
func (s *survey) timecode(t Timecode) (*big.Rat, error) {
	rate := s.video.Rate
	if a := s.video.Average; rate == nil || a != nil && rate.Cmp(new(big.Rat).Add(a, a)) > 0 {
		rate = a // the frames' times lie on no grid
	}
	if rate == nil {
		return nil, fault.New(fault.Usage, "timecode %v: the video states no frame rate; give numbers or times", t)
	}
	first, err := ParseTimecode(s.video.Timecode)
	if err != nil {
		first = Timecode{Drop: t.Drop}
	}
	at, err := t.after(first, rate)
	if err != nil {
		return nil, err
	}
	return at.Add(at, s.time(0)), nil
}

// end is when the last frame ends.
func (s *survey) end() *big.Rat { return s.moment(s.stamps[len(s.stamps)-1] + s.length) }

func (s *survey) moment(stamp int64) *big.Rat {
	t := new(big.Rat).Mul(s.video.TimeBase, new(big.Rat).SetInt64(stamp))
	return t.Sub(t, s.video.Start)
}

func (s *survey) seconds(n int64) float64 {
	v, _ := s.time(n).Float64()
	return v
}
