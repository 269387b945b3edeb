package restore

import (
	"context"
	"errors"
	"io"
	"math/big"
	"slices"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// inputScan is the result of the first pass over the input.
type inputScan struct {
	video    media.Video
	stamps   []int64 // timestamps of the frames
	length   int64   // of the last frame, in the unit of stamps
	findings []Finding
	numbers  []int // of the files of an image sequence; nil for other input
	damage   media.Damage
	damaged  []int64 // frames, as media.Reader lists them
	structure
}

// scan reads the input once. If frames that are marked as interlaced come after others, it begins again, in fields.
func scan(ctx context.Context, o *Options) (*inputScan, error) {
	s, err := scanAs(ctx, o, false)
	if errors.Is(err, errFieldsLater) {
		s, err = scanAs(ctx, o, true)
	}
	return s, err
}

// scanAs reads the input once, in fields if the first frame is interlaced or later ones are said to be.
func scanAs(ctx context.Context, o *Options, later bool) (*inputScan, error) {
	c := o.Convert
	c.Input.HWDec = media.HWNone
	if o.SmartCopy {
		c.Input.Rotation = pipeline.KeepRotation
	}
	r, err := pipeline.OpenInput(ctx, c, pipeline.Span{MarkDamage: o.Detect})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &inputScan{video: r.Video(), findings: slices.Clone(o.Damage), numbers: media.SequenceNumbers(c.Input.File)}
	if err := s.check(o); err != nil {
		return nil, err
	}
	switch probe := media.NewFieldProbe(s.video); {
	case c.Input.Deinterlace != pipeline.RefuseFields:
		s.structure = &wholeFrames{asked: true}
	case s.video.Interlaced || later || o.FieldOrder != BothFields:
		s.structure = &interlaced{order: o.FieldOrder, probe: probe}
	default:
		s.structure = &wholeFrames{probe: probe}
	}
	var d detection
	if o.Detect {
		if d, err = s.detection(o); err != nil {
			return nil, err
		}
		defer d.close()
	}
	err = s.read(r, func(f *frame.Frame) error {
		if err := s.add(f); err != nil || d == nil {
			return err
		}
		return d.add(f)
	})
	if err != nil {
		return nil, err
	}
	s.warn(&o.Convert)
	if o.MissingFromNumbering {
		s.findings = append(s.findings, missing(s.numbers)...)
	}
	if d != nil {
		for _, f := range d.finish(s.stamps) {
			if wants(o.Find, f.Kind) && (f.Kind != Gap || !o.MissingFromNumbering) { // the numbers already show the gaps
				s.findings = append(s.findings, f)
			}
		}
	}
	return s, nil
}

// check refuses an input that cannot be restored as o asks for.
func (s *inputScan) check(o *Options) error {
	in := &o.Convert.Input
	switch {
	case s.numbers == nil && !media.Seekable(in.File):
		return fault.New(fault.Usage, "input %q cannot be read twice; give a file", in.File)
	case s.numbers == nil && o.MissingFromNumbering:
		return fault.New(fault.Usage, "Options.MissingFromNumbering: input %q is no image sequence, such as frames/%%05d.dpx", in.File)
	case s.video.SingleFields():
		return in.CheckFields(s.video)
	}
	return nil
}

// read passes each frame to look. Damage that ends the input is no error: the second pass reports it.
func (s *inputScan) read(r *media.Reader, look func(*frame.Frame) error) error {
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) || fault.KindOf(err) == fault.BadData && len(s.stamps) > 0 {
			break
		} else if err != nil {
			return err
		}
		s.stamps = append(s.stamps, f.PTS)
		s.length = f.Duration
		err = look(f)
		f.Release()
		if err != nil {
			return err
		}
	}
	s.damage, s.damaged = r.Damage(), r.DamagedFrames()
	// A picture that cannot be decoded is missing as well. Timestamps count from the first file's
	// number.
	if first := s.numbers; first != nil {
		s.numbers = make([]int, len(s.stamps))
		for i, t := range s.stamps {
			s.numbers[i] = first[0] + int(t)
		}
	}
	return nil
}

// missing returns the gaps in the numbers of an image sequence.
func missing(numbers []int) (found []Finding) {
	for i := 1; i < len(numbers); i++ {
		if n := numbers[i] - numbers[i-1] - 1; n > 0 {
			p := Place{Number: int64(i - 1)}
			found = append(found, Finding{First: p, Last: p, Kind: Gap, Score: 1, Insert: n})
		}
	}
	return found
}

// detection finds damage in frames that come in order.
type detection interface {
	add(f *frame.Frame) error
	finish(stamps []int64) []Finding
	close()
}

// outputNumbers returns the numbers of the output's files if the input is an image sequence, else
// nil. The frames of the input keep their numbers and the inserted ones take free numbers in
// between; if there are too few, all frames count on from the first.
func (s *inputScan) outputNumbers(inserts map[int64]int) (out []int) {
	for i, n := range s.numbers {
		out = append(out, n)
		for k := range inserts[int64(i)] {
			out = append(out, n+1+k)
		}
		if i+1 < len(s.numbers) && out[len(out)-1] >= s.numbers[i+1] {
			total := len(s.numbers)
			for _, n := range inserts {
				total += n
			}
			out = out[:0]
			for k := range total {
				out = append(out, s.numbers[0]+k)
			}
			return out
		}
	}
	return out
}

// time returns the time of frame n, in seconds after the file's start.
func (s *inputScan) time(n int64) *big.Rat { return s.moment(s.stamps[n]) }

// timecode returns the time of t, in seconds after the file's start. It counts from the timecode
// that the file states for its first frame, or from 0.
func (s *inputScan) timecode(t Timecode) (*big.Rat, error) {
	rate, first := s.counting(t.Drop)
	if rate == nil {
		return nil, fault.New(fault.Usage, "timecode %v: the video states no frame rate; give numbers or times", t)
	}
	at, err := t.after(first, rate)
	if err != nil {
		return nil, err
	}
	return at.Add(at, s.time(0)), nil
}

// counting returns the rate at which timecodes count the frames, nil if none is known, and the first frame's, which is zero, and
// drops numbers if drop is set, unless the input states it.
func (s *inputScan) counting(drop bool) (rate *big.Rat, first Timecode) {
	first, err := ParseTimecode(s.video.Timecode.Text)
	if err != nil {
		first = Timecode{Drop: drop}
	}
	return CountedRate(s.video), first
}

// end returns the time at which the last frame ends.
func (s *inputScan) end() *big.Rat { return s.moment(s.stamps[len(s.stamps)-1] + s.length) }

func (s *inputScan) moment(stamp int64) *big.Rat {
	t := new(big.Rat).Mul(s.video.TimeBase, new(big.Rat).SetInt64(stamp))
	return t.Sub(t, s.video.Start)
}

func (s *inputScan) seconds(n int64) float64 {
	v, _ := s.time(n).Float64()
	return v
}
