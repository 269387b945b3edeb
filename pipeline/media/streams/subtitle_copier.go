package streams

import (
	"bytes"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/subtitle"
	"retime/pipeline/media/timebase"
	"retime/pipeline/timeline/curve"
)

// subtitleCopier copies subtitles at another speed. It shows each while the output shows
// the pictures that it belongs to.
type subtitleCopier struct {
	track
	run   curve.Run
	after int64 // the end of the last subtitle, in the output stream's time base
}

// retimed are the codecs whose packets need new times or durations even if the output is the source, whole and at
// its speed.
var retimed = []astiav.CodecID{astiav.CodecIDMovText, astiav.CodecIDDvdSubtitle}

// clocked are the codecs whose packets have times within them.
var clocked = []astiav.CodecID{astiav.CodecIDAss, astiav.CodecIDSsa, astiav.CodecIDWebvtt, astiav.CodecIDDvdSubtitle, astiav.CodecIDDvbSubtitle}

func (s *Set) carrySubtitles(in *astiav.Stream) (stream, error) {
	p := in.CodecParameters()
	if !container.Holds(s.out, p) {
		return s.carryText(in)
	}
	if slices.Contains(textCodecs, p.CodecID()) && container.LosesTextDurations(s.out) {
		s.log.Warn("the container does not say how long subtitles are shown", "stream", in.Index(), "container", container.Name(s.out))
	}
	moves := p.CodecID() == astiav.CodecIDWebvtt && s.source.Start.Sign() != 0 // the times within its cues
	if s.keepsTime() && s.whole() && !slices.Contains(retimed, p.CodecID()) && !moves {
		return s.newCopier(in)
	}
	t, err := s.newCopy(in)
	if err != nil {
		return nil, err
	}
	return &subtitleCopier{track: t, run: s.opt.Curve.Runs()[0]}, nil
}

// times returns when the output shows p, in the output stream's time base; ok is false if
// it never does.
func (c *subtitleCopier) times(p *astiav.Packet) (begin, end int64, ok bool) {
	if p.Pts() == av.NoTimestamp {
		return 0, 0, false
	}
	from, to, shown := c.set.shown(&c.run, c.set.sinceStart(p.Pts(), c.in.TimeBase()), c.until(p))
	if !shown {
		return 0, 0, false
	}
	begin = timebase.Ticks(from, c.out.TimeBase())
	return begin, max(timebase.Ticks(to, c.out.TimeBase()), begin), true
}

// forever is how many seconds, or more, FFmpeg's encoders write for a picture that stays until the next one comes.
const forever = 1 << 22

// until returns when p is no longer shown, in seconds after the source's Start, or when it begins if that is not known.
func (c *subtitleCopier) until(p *astiav.Packet) *big.Rat {
	length := timebase.Seconds(p.Duration(), c.in.TimeBase())
	if picture := c.in.CodecParameters().CodecID() == astiav.CodecIDDvdSubtitle; picture && (length.Sign() == 0 || length.Cmp(big.NewRat(forever, 1)) > 0) {
		length = subtitle.DVDLength(p.Data())
	}
	return length.Add(length, c.set.sinceStart(p.Pts(), c.in.TimeBase()))
}

func (c *subtitleCopier) packet(p *astiav.Packet) error {
	begin, end, shown := c.times(p)
	if !shown {
		return nil
	}
	if err := c.next.Ref(p); err != nil {
		return err
	}
	if data, changed := c.inner(p); changed {
		if err := c.fill(p, data); err != nil {
			return err
		}
	}
	return c.writeAt(begin, end)
}

// inner returns p's data with the times within it at the output's speed; changed is false if it has
// none.
func (c *subtitleCopier) inner(p *astiav.Packet) (data []byte, changed bool) {
	codec := c.in.CodecParameters().CodecID()
	if !slices.Contains(clocked, codec) {
		return nil, false
	}
	begin, end := c.set.sinceStart(p.Pts(), c.in.TimeBase()), c.until(p)
	from, to, _ := c.set.shown(&c.run, begin, end)
	at := c.run.Output
	if slow := c.set.opt.Curve.Line(); slow != nil { // it goes on where the output is cut
		at = func(t *big.Rat) *big.Rat {
			v := new(big.Rat).Sub(t, c.run.From)
			return v.Add(v.Mul(v, slow), c.run.Begin)
		}
	}
	clock := subtitle.Clock{
		At:     func(t *big.Rat) *big.Rat { v := at(new(big.Rat).Add(begin, t)); return v.Sub(v, from) },
		Length: new(big.Rat).Sub(end, begin),
		Cut:    at(begin).Cmp(from) != 0 || at(end).Cmp(to) != 0 || begin.Cmp(c.run.From) < 0,
	}
	was := p.Data()
	switch codec {
	case astiav.CodecIDWebvtt:
		data = []byte(clock.WebVTT(string(was), timebase.Seconds(p.Pts(), c.in.TimeBase()), from))
	case astiav.CodecIDDvdSubtitle:
		data = clock.DVD(was)
	case astiav.CodecIDDvbSubtitle:
		data = clock.DVB(was)
	default:
		data = []byte(clock.ASS(string(was)))
	}
	return data, !bytes.Equal(data, was)
}

// fill makes the packet next a copy of p with other data.
func (c *subtitleCopier) fill(p *astiav.Packet, data []byte) error {
	if err := av.FillPacket(c.next, data); err != nil {
		return err
	}
	c.next.SetFlags(p.Flags())
	for _, s := range av.PacketSides(p) {
		if err := av.AddPacketSide(c.next, s); err != nil {
			return err
		}
	}
	return nil
}

// longestSample is the longest sample of timed text, in ticks. MP4 holds up to 32 bits, and FFmpeg
// refuses what is longer than 31, or moves what follows a longer pause to where the pause begins.
const longestSample = 1 << 30

// writeAt writes the packet next with the given times. A sample of timed text that is too long for
// its container becomes several, and a pause gets samples without text.
func (c *subtitleCopier) writeAt(begin, end int64) error {
	if c.out.CodecParameters().CodecID() == astiav.CodecIDMovText {
		text := c.next.Clone()
		defer text.Free()
		c.next.Unref()
		for ; begin-c.after > longestSample; c.after += longestSample {
			if err := av.FillPacket(c.next, subtitle.NoTimedText); err != nil {
				return err
			}
			if err := c.put(c.after+longestSample, c.after+longestSample+1); err != nil {
				return err
			}
		}
		for {
			if err := c.next.Ref(text); err != nil {
				return err
			}
			if end-begin <= longestSample {
				break
			}
			if err := c.put(begin, begin+longestSample); err != nil {
				return err
			}
			begin += longestSample
		}
		c.after = end
	}
	return c.put(begin, end)
}

// put writes the packet next with the given times.
func (c *subtitleCopier) put(begin, end int64) error {
	c.next.SetPts(begin)
	c.next.SetDts(begin)
	c.next.SetDuration(end - begin)
	return c.write()
}

func (c *subtitleCopier) begin(run *curve.Run) { c.run = *run }
