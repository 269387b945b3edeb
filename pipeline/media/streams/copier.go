package streams

import (
	"errors"
	"math"
	"math/big"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/timebase"
	"retime/pipeline/timeline/curve"
	"retime/pipeline/timeline/rational"
)

// track is a stream of the source and its counterpart in the output. The types for the
// kinds of streams embed it and override its methods, which do nothing.
type track struct {
	set     *Set
	in, out *astiav.Stream
	next    *astiav.Packet // the packet that write writes
	refused bool           // a packet has been left out
}

func (*track) header() error         { return nil }
func (*track) begin(*curve.Run)      {}
func (*track) end() error            { return nil }
func (*track) passed(*big.Rat) error { return nil }
func (*track) finish() error         { return nil }
func (t *track) free()               { t.next.Free() }

// newTrack adds an empty stream to the output.
func (s *Set) newTrack(in *astiav.Stream) track {
	return track{set: s, in: in, out: s.out.NewStream(nil), next: astiav.AllocPacket()}
}

// newCopy adds a stream with in's parameters, time base and tags to the output.
func (s *Set) newCopy(in *astiav.Stream) (track, error) {
	t := s.newTrack(in)
	p := in.CodecParameters()
	if err := p.Copy(t.out.CodecParameters()); err != nil {
		return t, err
	}
	if err := s.copySideData(t.out, in); err != nil {
		return t, err
	}
	out := t.out.CodecParameters()
	out.SetCodecTag(0)
	out.SetCodecTag(container.Tag(s.out, out))
	if container.NamesChannels(s.out, out) {
		av.NameChannels(out)
	}
	t.out.SetTimeBase(in.TimeBase())
	t.out.SetAvgFrameRate(in.AvgFrameRate()) // without it, MOV has no track for the timecode of pictures
	if p.CodecID() == astiav.CodecIDMovText {
		t.out.SetTimeBase(timedTextUnit(in.TimeBase()))
	}
	return t, s.copyTags(t.out, in)
}

// copyTags copies a stream's tags, with the timecode of the moment at which the output begins.
func (s *Set) copyTags(out, in *astiav.Stream) error {
	if err := av.CopyStreamTags(out, in); err != nil {
		return err
	}
	tags := av.StreamTags(out)
	code, ok := tags.Get("timecode")
	if !ok {
		return nil
	}
	begin, rate := in.StartTime(), timebase.Rat(in.AvgFrameRate())
	if rate == nil { // sound may have the pictures' timecode
		rate = timebase.Rat(s.source.Video.AvgFrameRate())
	}
	if begin == av.NoTimestamp {
		begin = 0
	}
	after := s.opt.Curve.Source(new(big.Rat))
	after.Sub(after.Add(after, s.source.Start), timebase.Seconds(begin, in.TimeBase()))
	if after.Sign() <= 0 {
		return nil
	}
	tags.Remove("timecode")
	const most = 1 << 30
	if rate == nil || !rate.Num().IsInt64() || after.Mul(after, rate).Cmp(big.NewRat(most, 1)) > 0 {
		return nil
	}
	frames := rational.Floor(after.Add(after, big.NewRat(9, 10))) // to the first that is there; timestamps are rounded
	if code, err := av.TimecodeAfter(code, astiav.NewRational(int(rate.Num().Int64()), int(rate.Denom().Int64())), int(frames)); err == nil {
		tags.Set("timecode", code)
	}
	return nil
}

// copySideData copies what describes all of a stream, and logs what the container cannot hold of it.
func (s *Set) copySideData(out, in *astiav.Stream) error {
	var lost []string
	for _, side := range container.Sides {
		if _, ok := av.StreamSideData(in, side.Kind); ok && !side.Coded && !side.IsHeldBy(s.out) {
			lost = append(lost, side.Name)
		}
	}
	if len(lost) > 0 {
		s.log.Warn("the container cannot hold this of a stream's description", "stream", in.Index(), "lost", strings.Join(lost, ", "), "container", container.Name(s.out))
	}
	return av.CopyStreamSideData(out, in)
}

// write writes the packet next.
func (t *track) write() error {
	t.next.SetStreamIndex(t.out.Index())
	t.next.SetPos(-1)
	return t.unlessRefused(t.set.muxer.Write(t.next))
}

// unlessRefused returns err, or nil if it is a RefusedError. It logs the first such error.
func (t *track) unlessRefused(err error) error {
	refused := (*RefusedError)(nil)
	if !errors.As(err, &refused) {
		return err
	}
	if !t.refused {
		t.refused = true
		p := t.in.CodecParameters()
		t.set.log.Warn("packets left out", "stream", t.in.Index(), "kind", p.MediaType(), "codec", p.CodecID(),
			"container", container.Name(t.set.out), "reason", refused.Reason)
	}
	return nil
}

// streamCopier copies a stream and changes only its packets' timestamps.
type streamCopier struct {
	track
	// Both in the input's time base: the output's 0, and the time from which packets are
	// left out.
	zero, stop int64
	cut        bool  // leave out packets before zero
	begun      bool  // a key frame has come, or none is needed
	last       int64 // timestamp of the last sound packet
	trimmed    bool  // the source has sound before zero that it does not play
	framing    framingCheck
}

func (s *Set) newCopier(in *astiav.Stream) (stream, error) {
	t, err := s.newCopy(in)
	if err != nil {
		return nil, err
	}
	c := &streamCopier{track: t, stop: math.MaxInt64, last: av.NoTimestamp, framing: newFramingCheck(in.CodecParameters())}
	start := s.source.Start
	c.zero = timebase.Ticks(start, in.TimeBase())
	if zero := s.opt.Curve.Source(new(big.Rat)); zero.Sign() > 0 {
		c.zero, c.cut = timebase.Ticks(new(big.Rat).Add(start, zero), in.TimeBase()), true
	}
	if s.opt.End != nil {
		c.stop = timebase.Ticks(new(big.Rat).Add(start, s.opt.End), in.TimeBase())
	}
	return c, nil
}

func (c *streamCopier) packet(p *astiav.Packet) error {
	if t := p.Pts(); t != av.NoTimestamp && (c.cut && t < c.zero || t >= c.stop) {
		return nil
	}
	if c.trims(p) {
		return nil
	}
	if c.begun = c.begun || !c.cut || p.Flags().Has(astiav.PacketFlagKey); !c.begun {
		return nil
	}
	video := c.in.CodecParameters().MediaType() == astiav.MediaTypeVideo
	if video && p.Pts() == av.NoTimestamp && p.Dts() == av.NoTimestamp {
		return c.unlessRefused(&RefusedError{"it has no timestamp"})
	}
	if c.framing.codec != unframed { // Data copies the packet
		if why := c.framing.reject(p.Data()); why != "" {
			return c.unlessRefused(&RefusedError{why})
		}
	}
	if err := c.next.Ref(p); err != nil {
		return err
	}
	if video && p.Pts() == av.NoTimestamp {
		c.next.SetPts(p.Dts()) // as FFmpeg's MP4 muxer does; Matroska's refuses the packet
	}
	if t := p.Pts(); t != av.NoTimestamp && c.in.CodecParameters().MediaType() == astiav.MediaTypeAudio {
		if p.Duration() == 0 && c.last != av.NoTimestamp {
			// Without a duration, containers that state a track's length cut off the last
			// packet.
			c.next.SetDuration(max(t-c.last, 0))
		}
		c.last = t
	}
	timebase.Shift(c.next, -c.zero)
	container.Rescale(c.set.out, c.out, c.next, c.in.TimeBase())
	return c.write()
}

// longestDelay is the longest time, in seconds, for which sound that is not played may be
// an encoder's delay, which decoders need.
const longestDelay = 0.1

// trims reports whether p is sound from before zero that the source hides by an edit list
// and the container would play. An encoder's delay stays.
func (c *streamCopier) trims(p *astiav.Packet) bool {
	t := p.Pts()
	if t == av.NoTimestamp || t >= c.zero || c.in.CodecParameters().MediaType() != astiav.MediaTypeAudio || container.IsISO(c.set.out) {
		return false
	}
	before := timebase.Microseconds(c.zero-t, c.in.TimeBase())
	c.trimmed = c.trimmed || p.Flags().Has(astiav.PacketFlagDiscard) && before > longestDelay*1e6
	return c.trimmed
}
