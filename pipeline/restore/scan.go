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
	numbers  []int       // of the files of an image sequence; nil for other input
	fields   *interlaced // nil if frames are restored as they are
	asFrames bool        // because the user says so
	damage   media.Damage
	damaged  []int64 // frames, as media.Reader lists them
}

// scan reads the input once. If frames that are marked as interlaced come after others, it begins again, in fields.
func scan(ctx context.Context, o *Options) (*inputScan, error) {
	s, err := scanAs(ctx, o, false)
	if errors.Is(err, errFieldsLater) {
		s, err = scanAs(ctx, o, true)
	}
	return s, err
}

// errFieldsLater is the error of a scan in frames that comes to interlaced ones.
var errFieldsLater = errors.New("later frames are interlaced")

// Frames are taken for interlaced if fewest of within of them are marked so. A damaged stream marks some by mistake.
const (
	fewest = 5
	within = 50
)

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
	if s.numbers == nil && !media.Seekable(c.Input.File) {
		return nil, fault.New(fault.Usage, "input %q cannot be read twice; give a file", c.Input.File)
	}
	if s.numbers == nil && o.MissingFromNumbering {
		return nil, fault.New(fault.Usage, "Options.MissingFromNumbering: input %q is no image sequence, such as frames/%%05d.dpx", c.Input.File)
	}
	if s.video.SingleFields() {
		if err := c.Input.Deinterlace.CheckFields(c.Input.File, s.video); err != nil {
			return nil, err
		}
	}
	probe := media.NewFieldProbe(s.video)
	switch {
	case c.Input.Deinterlace != pipeline.RefuseFields:
		s.asFrames, probe = true, nil
	case s.video.Interlaced || later || o.FieldOrder != BothFields:
		s.fields, probe = &interlaced{order: o.FieldOrder, probe: probe}, nil
	}
	var marked []int // frames that are marked as interlaced, in a scan in frames
	var d detection
	if o.Detect {
		if d, err = newDetection(o, s.fields); err != nil {
			return nil, err
		}
		defer d.close()
	}
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) || fault.KindOf(err) == fault.BadData && len(s.stamps) > 0 {
			break // the second pass reports damage that ends the input
		} else if err != nil {
			return nil, err
		}
		s.stamps = append(s.stamps, f.PTS)
		s.length = f.Duration
		if s.fields != nil {
			s.fields.add(f)
		} else if _, is := media.TopFieldFirst(f); is && !s.asFrames {
			marked = append(marked, len(s.stamps)-1)
			if n := len(marked) - fewest; n >= 0 && marked[len(marked)-1]-marked[n] < within {
				f.Release()
				return nil, errFieldsLater
			}
		}
		if probe != nil && !probe.Enough() {
			probe.Look(f)
		}
		if d != nil {
			err = d.add(f)
		}
		f.Release()
		if err != nil {
			return nil, err
		}
	}
	s.damage, s.damaged = r.Damage(), r.DamagedFrames()
	if probe != nil {
		warnOfFields(o, probe)
	}
	if len(marked) > 0 {
		o.Convert.Hooks.Log.Warn("few frames are marked as interlaced, so all are restored as frames; Options.FieldOrder has them restored as fields",
			"input", o.Convert.Input.File, "frames", len(marked), "first", marked[0])
	}
	// A picture that cannot be decoded is missing as well. Timestamps count from the first file's
	// number.
	if first := s.numbers; first != nil {
		s.numbers = make([]int, len(s.stamps))
		for i, t := range s.stamps {
			s.numbers[i] = first[0] + int(t)
		}
	}
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

// warnOfFields warns if the pictures look interlaced although they are not marked so.
func warnOfFields(o *Options, probe *media.FieldProbe) {
	switch interlaced, telecined := probe.Verdict(); {
	case telecined:
		o.Convert.Hooks.Log.Warn("the pictures look telecined, though the input does not say so; Options.FieldOrder has them restored as fields", "input", o.Convert.Input.File)
	case interlaced:
		o.Convert.Hooks.Log.Warn("the pictures look interlaced, though the input does not say so; Options.FieldOrder has them restored as fields", "input", o.Convert.Input.File)
	}
}

// detection finds damage in frames that come in order.
type detection interface {
	add(f *frame.Frame) error
	finish(stamps []int64) []Finding
	close()
}

// newDetection returns a detection in fields, or in frames if fields is nil.
func newDetection(o *Options, fields *interlaced) (detection, error) {
	if fields != nil {
		return newFieldDetector(o, fields)
	}
	return newDetector(o)
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
	rate = s.video.Rate
	if a := s.video.Average; rate == nil || a != nil && rate.Cmp(new(big.Rat).Add(a, a)) > 0 {
		rate = a // the times of the frames are on no grid
	}
	first, err := ParseTimecode(s.video.Timecode.Text)
	if err != nil {
		first = Timecode{Drop: drop}
	}
	return rate, first
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
