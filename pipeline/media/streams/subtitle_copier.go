package streams

import (
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

// selfTimed are the codecs whose packets contain their own duration.
var selfTimed = map[astiav.CodecID]bool{
	astiav.CodecIDDvdSubtitle: true, astiav.CodecIDDvbSubtitle: true, astiav.CodecIDDvbTeletext: true,
}

func (s *Set) carrySubtitles(in *astiav.Stream) (stream, error) {
	p := in.CodecParameters()
	if !container.Holds(s.out, p) {
		return s.carryText(in)
	}
	if slices.Contains(textCodecs, p.CodecID()) && container.LosesTextDurations(s.out) {
		s.log.Warn("the container does not say how long subtitles are shown", "stream", in.Index(), "container", container.Name(s.out))
	}
	moves := p.CodecID() == astiav.CodecIDWebvtt && s.source.Start.Sign() != 0 // the times within its cues
	if s.keepsTime() && s.whole() && p.CodecID() != astiav.CodecIDMovText && !moves {
		return s.newCopier(in)
	}
	t, err := s.newCopy(in)
	if err != nil {
		return nil, err
	}
	if id := p.CodecID(); selfTimed[id] && !s.keepsTime() {
		s.log.Warn("subtitles begin when they should but stay as long as in the source: their packets say how long", "stream", in.Index(), "codec", id)
	}
	return &subtitleCopier{track: t, run: s.opt.Curve.Runs()[0]}, nil
}

// times returns when the output shows p, in the output stream's time base; ok is false if
// it never does.
func (c *subtitleCopier) times(p *astiav.Packet) (begin, end int64, ok bool) {
	if p.Pts() == av.NoTimestamp {
		return 0, 0, false
	}
	tb := c.in.TimeBase()
	from, to, shown := c.set.shown(&c.run, c.set.sinceStart(p.Pts(), tb), c.set.sinceStart(p.Pts()+p.Duration(), tb))
	if !shown {
		return 0, 0, false
	}
	begin = timebase.Ticks(from, c.out.TimeBase())
	return begin, max(timebase.Ticks(to, c.out.TimeBase()), begin), true
}

func (c *subtitleCopier) packet(p *astiav.Packet) error {
	begin, end, shown := c.times(p)
	if !shown {
		return nil
	}
	if err := c.next.Ref(p); err != nil {
		return err
	}
	if text, changed := c.inner(p); changed {
		if err := c.fill(p, text); err != nil {
			return err
		}
	}
	return c.writeAt(begin, end)
}

// inner returns p's text with the times within it at the output's speed; changed is false if it has
// none.
func (c *subtitleCopier) inner(p *astiav.Packet) (text string, changed bool) {
	codec := c.in.CodecParameters().CodecID()
	if codec != astiav.CodecIDAss && codec != astiav.CodecIDSsa && codec != astiav.CodecIDWebvtt {
		return "", false
	}
	tb := c.in.TimeBase()
	begin, end := c.set.sinceStart(p.Pts(), tb), c.set.sinceStart(p.Pts()+p.Duration(), tb)
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
	was := string(p.Data())
	if codec == astiav.CodecIDWebvtt {
		text = clock.WebVTT(was, timebase.Seconds(p.Pts(), tb), from)
	} else {
		text = clock.ASS(was)
	}
	return text, text != was
}

// fill makes the packet next a copy of p with another text.
func (c *subtitleCopier) fill(p *astiav.Packet, text string) error {
	if err := av.FillPacket(c.next, []byte(text)); err != nil {
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
