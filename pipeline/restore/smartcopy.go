package restore

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"sync"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore/smartcopy"
	"retime/pipeline/synth"
)

// smartCopy is a restoration that copies the packets that no repair changes.
type smartCopy struct {
	*restoration
	stamps  []int64 // of the input's frames
	synth   synth.Synthesizer
	splicer *smartcopy.Splicer
	writer  *media.Output
	index   []smartcopy.PacketTime
	head    []byte // of the first packet
	plan    *smartcopy.Plan
	// complete turns the encoder's pictures into those that are written; nil to write them as they are.
	complete func([]byte) ([]byte, error)
	// pictures and made count the pictures before each frame of the input, and before each of the output: fields are
	// pictures of their own.
	pictures, made []int64

	result pipeline.Result
	progressed
}

// progressed tells how far a smartCopy has come.
type progressed struct {
	at      int   // index of the source's next packet
	done    int   // frames written
	copied  int64 // packets
	encoded int64
	mute    bool // the encoder carries no closed captions, and the log says so
}

// smartCopy writes the packets of the input, whose frames have the timestamps stamps,
// and newly encoded ones around the repairs. It returns a fault.Usage error if the
// input or the output does not allow that.
func (r *restoration) smartCopy(ctx context.Context, stamps []int64, s synth.Synthesizer) (*pipeline.Report, error) {
	c := &smartCopy{restoration: r, stamps: stamps, synth: s}
	if err := c.readIndex(ctx); err != nil {
		return nil, err
	}
	options := r.writerOptions(s)
	if err := r.repairs.keepChannels(ctx, r.clip, &options); err != nil {
		return nil, err
	}
	c.complete = options.Complete
	encoding := options
	encoding.Unit, encoding.Curve = nil, nil // times are frame numbers
	output, source := r.clip.Options.Output.File, r.clip.Source
	var err error
	video := source.Video()
	grouping := smartcopy.Grouping{Reorder: c.plan.Reorder, Longest: smartcopy.LongestGroup(c.index), Even: c.plan.Even(&video), Head: c.head}
	if c.splicer, err = smartcopy.NewSplicer(ctx, output, source, encoding, grouping); err != nil {
		return nil, err
	}
	if c.writer, err = c.splicer.Create(ctx, options); err != nil {
		return nil, err
	}
	defer c.writer.Abort()
	for i := range c.plan.Ranges {
		t := &c.plan.Ranges[i]
		if err := c.copyTo(t.First); err != nil {
			return nil, err
		}
		if err := c.encodeRange(ctx, t); err != nil {
			return nil, err
		}
	}
	if err := c.copyTo(len(c.index)); err != nil {
		return nil, err
	}
	if err := source.Skim(); err != nil {
		return nil, err
	}
	format := c.writer.PixelFormat()
	name, err := c.writer.Finish(c.result.Cutoff != nil)
	if err != nil {
		return nil, err
	}
	c.result.Frames, c.result.Sources = int64(c.done), int64(len(stamps))
	report := r.clip.Report(c.result, s.Summary(), name, format)
	report.Copied, report.Encoded = c.copied, c.encoded
	return report, c.result.Partial(name)
}

// readIndex reads the packets once and plans which of them stay.
func (s *smartCopy) readIndex(ctx context.Context) error {
	r, err := s.clip.Reopen(ctx, pipeline.Span{Packets: true})
	if err != nil {
		return err
	}
	defer r.Close()
	if s.index, s.head, s.result.Cutoff, err = smartcopy.Index(r); err != nil {
		return err
	}
	if s.plan, err = smartcopy.NewPlan(s.index, s.stamps, s.bad, s.inserts()); err != nil {
		return fault.New(fault.Usage, "Options.SmartCopy: %w; leave it out to encode all frames", err)
	}
	s.count()
	return nil
}

// bad reports whether a part of the frame at a timestamp is replaced.
func (s *smartCopy) bad(stamp int64) bool {
	n, ok := slices.BinarySearch(s.stamps, stamp)
	return ok && s.repairs.bad(n)
}

// inserts returns how many frames come after the one at a timestamp.
func (s *smartCopy) inserts() map[int64]int {
	of := map[int64]int{}
	for n, stamp := range s.stamps {
		if count := s.repairs.inserted(n); count > 0 {
			of[stamp] = count
		}
	}
	return of
}

// count counts the pictures that the frames are made as.
func (s *smartCopy) count() {
	s.pictures, s.made = make([]int64, len(s.stamps)+1), make([]int64, len(s.plan.Shown)+1)
	n := 0 // the last frame of the input
	for k, f := range s.plan.Shown {
		if f.Source >= 0 {
			n = f.Source
		}
		pictures, _ := s.repairs.of(int64(n))
		if f.Source >= 0 {
			s.pictures[n+1] = s.pictures[n] + int64(len(pictures))
		}
		s.made[k+1] = s.made[k] + int64(len(pictures))
	}
}

// copyTo copies the packets before index end.
func (s *smartCopy) copyTo(end int) error {
	for s.at < end {
		p, err := s.next()
		if err != nil {
			return err
		}
		if err := s.splicer.Reframe(&p); err != nil {
			return err
		}
		if err := s.writer.WritePacket(p); err != nil {
			return err
		}
		s.copied++
		s.progress()
	}
	return nil
}

// next returns the source's next packet.
func (s *smartCopy) next() (media.Packet, error) {
	p, err := s.clip.Source.NextPacket()
	if err == nil && p.PTS != s.index[s.at].PTS {
		err = fmt.Errorf("packet %d has timestamp %d, and %d before", s.at, p.PTS, s.index[s.at].PTS)
	}
	if err != nil {
		return p, fault.New(fault.BadData, "input %q does not read the same way twice: %w", s.clip.Options.Input.File, err)
	}
	p.DTS = s.index[s.at].DTS
	s.at++
	return p, nil
}

// progress reports that a frame was written.
func (s *smartCopy) progress() {
	if s.done++; s.clip.Options.Hooks.Progress != nil {
		s.clip.Options.Hooks.Progress(pipeline.Progress{Frames: int64(s.done), Total: int64(len(s.plan.Shown))})
	}
}

// margin is the number of sound frames to read on either side of a range: the synthesis uses the
// motion of the next interval as well.
const margin = 2

// encodeRange encodes the frames of t and skips the packets that they replace.
func (s *smartCopy) encodeRange(ctx context.Context, t *smartcopy.Range) error {
	encoded := 0
	writer, err := s.splicer.Encode(ctx, func(p media.Packet) error {
		if encoded == len(t.Decoding) || p.PTS < 0 || p.PTS >= int64(len(t.Decoding)) {
			return fault.New(fault.Usage, "Options.SmartCopy: the encoder makes packets without frames; leave it out to encode all frames")
		}
		f := s.plan.Shown[t.From+int(p.PTS)]
		p.PTS, p.DTS, p.Duration = f.PTS, t.Decoding[encoded], f.Duration
		if p.DTS > p.PTS {
			return fault.New(fault.Usage, "Options.SmartCopy: the encoder reorders more frames than the input's decoding times allow; set fewer B-frames with Output.VideoOptions")
		}
		if s.complete != nil {
			var err error
			if p.Data, err = s.complete(p.Data); err != nil {
				return err
			}
		}
		encoded++
		for s.at < t.End && s.index[s.at].DTS <= p.DTS { // copies sound along the way
			replaced, err := s.next()
			if err != nil {
				return err
			}
			if replaced.PTS == p.PTS {
				s.splicer.Keep(p.Data, replaced.Data)
			}
		}
		s.encoded++
		s.progress()
		return s.writer.WritePacket(p)
	})
	if err != nil {
		return err
	}
	defer writer.Abort()
	if t.From < t.To {
		if err := s.makeFrames(ctx, t, writer); err != nil {
			return err
		}
	}
	if err := writer.Finish(); err != nil {
		return err
	}
	if encoded != len(t.Decoding) {
		return fault.New(fault.BadData, "%d of %d frames from timestamp %d on could be encoded", encoded, len(t.Decoding), s.plan.Shown[t.From].PTS)
	}
	for s.at < t.End {
		if _, err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// makeFrames sends the frames of t, with the synthesized ones, to writer.
func (s *smartCopy) makeFrames(ctx context.Context, t *smartcopy.Range, writer *smartcopy.Encoder) error {
	first, last := s.inputRange(t)
	source, err := openRange(ctx, s.clip, s.stamps, first, last)
	if err != nil {
		return err
	}
	defer source.Close()
	base := 0 // number, in the output, of the first frame to read
	for s.plan.Shown[base].Source != first {
		base++
	}
	o := s.clip.Options
	o.Hooks.Progress = nil
	at := beginning{int64(first), s.pictures[first], s.made[base]}
	inside := func(k int64) bool { return k >= s.made[t.From] && k < s.made[t.To] }
	o.Hooks.Record = func(r pipeline.Record) {
		if hook := s.clip.Options.Hooks.Record; hook != nil && inside(r.Frame) {
			hook(r)
		}
	}
	if hook := s.clip.Options.Hooks.Digest; hook != nil {
		o.Hooks.Digest = func(k int64, d pipeline.Digest) {
			if k += at.made; inside(k) {
				hook(k, d)
			}
		}
	}
	if hook := s.clip.Options.Hooks.Origin; hook != nil {
		k := at.made
		o.Hooks.Origin = func(f pipeline.Origin) {
			if inside(k) {
				hook(f)
			}
			k++
		}
	}
	r, err := s.runFrom(ctx, &o, at, source, &rangeSink{Encoder: writer, at: base, want: t, copy: s, source: source}, s.synth)
	if err != nil {
		return err
	}
	s.result.Made += r.Made
	s.result.Stages.Add(r.Stages)
	return r.Cutoff
}

// inputRange returns the first and the last frame of the input to read for t.
func (s *smartCopy) inputRange(t *smartcopy.Range) (first, last int) {
	// An inserted frame counts as the frames next to it.
	first, last = len(s.stamps), -1
	for k := max(t.From-1, 0); k < min(t.To+1, len(s.plan.Shown)); k++ {
		if n := s.plan.Shown[k].Source; n >= 0 {
			first, last = min(first, n), max(last, n)
		}
	}
	first, last = widen(len(s.stamps), s.repairs.bad, first, last, margin)
	reach := s.repairs.reach()
	return max(first-reach, 0), min(last+reach, len(s.stamps)-1)
}

// widen returns the range from first to last, of so many in all, with sound ones on either side that are not bad, as far as
// there are any.
func widen(all int, bad func(i int) bool, first, last, sound int) (int, int) {
	for left := sound; left > 0 && first > 0; {
		if first--; !bad(first) {
			left--
		}
	}
	for left := sound; left > 0 && last < all-1; {
		if last++; !bad(last) {
			left--
		}
	}
	return first, last
}

// openRange opens the input of a clip from one frame to another.
func openRange(ctx context.Context, clip *pipeline.Clip, stamps []int64, first, last int) (*frameRange, error) {
	reader, err := clip.Reopen(ctx, pipeline.Span{From: clip.Plan.Clock.Exact(stamps[first])})
	if err != nil {
		return nil, err
	}
	return &frameRange{Reader: reader, from: stamps[first], to: stamps[last], captions: &sync.Map{}}, nil
}

// frameRange delivers the frames of a source from one timestamp to another.
type frameRange struct {
	*media.Reader
	from, to int64
	ended    bool
	captions *sync.Map // of the frames that were read and not yet written, by their timestamps
}

func (s *frameRange) Read() (*frame.Frame, error) {
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
		if c := media.Captions(f); len(c) > 0 {
			s.captions.Store(f.PTS, c)
		}
		return f, nil
	}
	return nil, io.EOF
}

// rangeSink encodes the frames that belong to a range, with their numbers in place of times.
type rangeSink struct {
	*smartcopy.Encoder
	at     int // number in the output
	want   *smartcopy.Range
	copy   *smartCopy
	source *frameRange
}

func (s *rangeSink) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	k := s.at
	if s.at++; k < s.want.From || k >= s.want.To {
		return nil
	}
	s.Expect(media.TopFieldFirst(f))
	s.caption(&s.copy.plan.Shown[k])
	return s.Encoder.WriteFrame(f, nil, nil)
}

// caption gives the next frame the closed captions of the input's frame in its place.
func (s *rangeSink) caption(f *smartcopy.Shown) {
	var data []byte
	if f.Source >= 0 {
		if c, ok := s.source.captions.LoadAndDelete(f.PTS); ok {
			data = c.([]byte)
		}
	}
	if !s.Caption(data) && data != nil && !s.copy.mute {
		s.copy.mute = true
		s.copy.clip.Options.Hooks.Log.Warn("closed captions are left out of the frames that are encoded: the encoder does not carry them", "encoder", s.CodecName())
	}
}
