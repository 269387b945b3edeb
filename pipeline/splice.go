package pipeline

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"time"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore/smartcopy"
)

// splice is a run that copies the packets that no repair touches.
type splice struct {
	o       *Options
	plan    *plan
	source  *media.Reader
	synth   Synthesizer
	splicer *smartcopy.Splicer
	writer  *media.Output
	index   []smartcopy.PacketTime
	damage  error // that ends the input early
	*stretches
	at     int // of the source's next packet
	done   int // frames that are written
	report *Report
}

// splice writes the source, which was opened with Packets, with its packets or with
// frames made anew where o.Repairs says.
func (o *Options) splice(ctx context.Context, source *media.Reader, plan *plan, synth Synthesizer) (*Report, error) {
	began := time.Now()
	s := &splice{o: o, plan: plan, source: source, synth: synth, report: &Report{}}
	if err := s.survey(ctx); err != nil {
		return nil, err
	}
	options := plan.writerOptions(o, synth)
	encoding := options
	encoding.Unit = nil // frames go by their numbers
	var err error
	if s.splicer, err = smartcopy.NewSplicer(ctx, o.Output.File, source, encoding, smartcopy.Grouping{Reorder: s.reorder, Longest: longestGroup(s.index)}); err != nil {
		return nil, err
	}
	if s.writer, err = s.splicer.Create(ctx, options); err != nil {
		return nil, err
	}
	defer s.writer.Abort()
	for i := range s.list {
		t := &s.list[i]
		if err := s.copyTo(t.first); err != nil {
			return nil, err
		}
		if err := s.remake(ctx, t); err != nil {
			return nil, err
		}
	}
	if err := s.copyTo(len(s.index)); err != nil {
		return nil, err
	}
	if err := source.Skim(); err != nil {
		return nil, err
	}
	r, v := s.report, source.Video()
	if r.Output, err = s.writer.Finish(s.damage != nil); err != nil {
		return nil, err
	}
	r.Width, r.Height, r.Format, r.Rate, r.Frames = v.Width, v.Height, v.Source, plan.rate, int64(s.done)
	r.Sources, r.Damage, r.Elapsed = int64(len(o.Repairs.Stamps)), source.Damage(), time.Since(began)
	describeBackend(r, synth)
	return r, partial(s.damage, r.Frames, r.Output)
}

// survey reads the packets once to see where they can be cut.
func (s *splice) survey(ctx context.Context) error {
	ro := s.o.readerOptions()
	ro.Packets, ro.ProbeFields = true, false
	r, err := media.Open(ctx, s.o.Input.File, ro)
	if err != nil {
		return err
	}
	defer r.Close()
	if s.index, s.damage, err = smartcopy.Index(r); err != nil {
		return err
	}
	if s.stretches, err = newStretches(s.index, s.o.Repairs.Stamps, s.o.Repairs); err != nil {
		return fault.New(fault.Usage, "Options.SmartCopy: %w; leave it out to encode all frames", err)
	}
	return nil
}

// copyTo copies packets before number end.
func (s *splice) copyTo(end int) error {
	for s.at < end {
		p, err := s.next()
		if err != nil {
			return err
		}
		if err := s.writer.WritePacket(p); err != nil {
			return err
		}
		s.report.Copied++
		s.step()
	}
	return nil
}

// next is the source's next packet.
func (s *splice) next() (media.Packet, error) {
	p, err := s.source.NextPacket()
	if err == nil && p.PTS != s.index[s.at].PTS {
		err = fmt.Errorf("packet %d has timestamp %d, and %d before", s.at, p.PTS, s.index[s.at].PTS)
	}
	if err != nil {
		return p, fault.New(fault.BadData, "input %q does not read the same way twice: %w", s.o.Input.File, err)
	}
	p.DTS = s.index[s.at].DTS
	s.at++
	return p, nil
}

// step tells of a frame that is written.
func (s *splice) step() {
	if s.done++; s.o.Hooks.Progress != nil {
		s.o.Hooks.Progress(Progress{int64(s.done), int64(len(s.shown))})
	}
}

// margin is how many sound frames are read on either side of a stretch: what is
// made depends on the motion of the next interval, too.
const margin = 2

// remake encodes the frames of t and passes over the packets that they replace.
func (s *splice) remake(ctx context.Context, t *stretch) error {
	encoded := 0
	writer, err := s.splicer.Encode(ctx, func(p media.Packet) error {
		if encoded == len(t.decoding) || p.PTS < 0 || p.PTS >= int64(len(t.decoding)) {
			return fault.New(fault.Usage, "Options.SmartCopy: the encoder makes packets without frames; leave it out to encode all frames")
		}
		f := s.shown[t.from+int(p.PTS)]
		p.PTS, p.DTS, p.Duration = f.pts, t.decoding[encoded], f.duration
		if p.DTS > p.PTS {
			return fault.New(fault.Usage, "Options.SmartCopy: the encoder reorders more frames than the input's decoding times allow; set fewer B-frames with Output.VideoOptions")
		}
		encoded++
		for s.at < t.end && s.index[s.at].DTS <= p.DTS { // so that sound comes along
			if _, err := s.next(); err != nil {
				return err
			}
		}
		s.report.Encoded++
		s.step()
		return s.writer.WritePacket(p)
	})
	if err != nil {
		return err
	}
	defer writer.Abort()
	if t.from < t.to {
		if err := s.make(ctx, t, writer); err != nil {
			return err
		}
	}
	if err := writer.Finish(); err != nil {
		return err
	}
	if encoded != len(t.decoding) {
		return fault.New(fault.BadData, "%d of %d frames from timestamp %d on could be encoded", encoded, len(t.decoding), s.shown[t.from].pts)
	}
	for s.at < t.end {
		if _, err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// make sends the frames of t, with what is made anew, to writer.
func (s *splice) make(ctx context.Context, t *stretch, writer *media.Encoder) error {
	first, last := s.around(t)
	stamps := s.o.Repairs.Stamps
	ro := s.o.readerOptions()
	ro.From, ro.ProbeFields = s.plan.clock.exact(stamps[first]), false
	reader, err := media.Open(ctx, s.o.Input.File, ro)
	if err != nil {
		return err
	}
	defer reader.Close()
	base := 0 // of the frame that is read first, in the output
	for s.shown[base].source != first {
		base++
	}
	o := *s.o
	o.Hooks.Progress, o.Hooks.Log = nil, s.o.Hooks.Log
	inside := func(k int64) bool { return k >= int64(t.from) && k < int64(t.to) }
	o.Hooks.Record = func(r Record) {
		if s.o.Hooks.Record != nil && inside(r.Frame) {
			s.o.Hooks.Record(r)
		}
	}
	if digest := s.o.Hooks.Digest; digest != nil {
		o.Hooks.Digest = func(k int64, d Digest) {
			if k += int64(base); inside(k) {
				digest(k, d)
			}
		}
	}
	line := s.plan.lines[0]
	line.first = int64(base)
	c := &conversion{
		o: &o, plan: s.plan, line: &line, synth: s.synth, sources: int64(first),
		source: &section{Reader: reader, from: stamps[first], to: stamps[last]},
		sink:   &spliceSink{Encoder: writer, at: base, stretch: t},
	}
	damage, err := c.run(ctx)
	if err != nil {
		return err
	}
	s.report.Made += c.made
	s.report.Stages.Add(c.times.stages())
	return damage
}

// around is the input's frames that are read for t.
func (s *splice) around(t *stretch) (first, last int) {
	r := s.o.Repairs
	sound := func(n int) bool {
		_, bad := r.Frames[r.Stamps[n]]
		return !bad
	}
	// The frames of t, or for those that are put in, those beside.
	first, last = len(r.Stamps), -1
	for k := max(t.from-1, 0); k < min(t.to+1, len(s.shown)); k++ {
		if n := s.shown[k].source; n >= 0 {
			first, last = min(first, n), max(last, n)
		}
	}
	for left := margin; left > 0 && first > 0; {
		if first--; sound(first) {
			left--
		}
	}
	for left := margin; left > 0 && last < len(r.Stamps)-1; {
		if last++; sound(last) {
			left--
		}
	}
	return first, last
}

// section is the frames of a source from one timestamp to another.
type section struct {
	*media.Reader
	from, to int64
	ended    bool
}

func (s *section) Read() (*frame.Frame, error) {
	for !s.ended {
		f, err := s.Reader.Read()
		if err != nil {
			return nil, err
		}
		if f.PTS < s.from {
			f.Release()
			continue
		}
		s.ended = f.PTS >= s.to
		return f, nil
	}
	return nil, io.EOF
}

// spliceSink encodes those frames that are of a stretch.
type spliceSink struct {
	*media.Encoder
	at      int // number in the output
	stretch *stretch
}

func (s *spliceSink) WriteFrameAt(f *frame.Frame, _, _ *big.Rat) error {
	k := s.at
	if s.at++; k < s.stretch.from || k >= s.stretch.to {
		return nil
	}
	return s.WriteFrame(f)
}
