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
	after int64            // the end of the last subtitle, in the output stream's time base
	shown []*astiav.Packet // subtitles without a stated length from before the run, on the screen where it begins
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
	if c.keep(p) {
		return nil
	}
	if p.Pts() != av.NoTimestamp {
		if err := c.showKept(); err != nil {
			return err
		}
	}
	begin, end, shown := c.times(p)
	if !shown {
		return nil
	}
	from, to, _ := c.set.shown(&c.run, c.set.sinceStart(p.Pts(), c.in.TimeBase()), c.until(p))
	if err := c.copyOf(p, from, to); err != nil {
		return err
	}
	return c.writeAt(begin, end)
}

// keep keeps p if it has no stated length and begins before the run, whose beginning may show it. Later packets may add to it,
// take its place, or take it away.
func (c *subtitleCopier) keep(p *astiav.Packet) bool {
	if p.Pts() == av.NoTimestamp || c.run.Backward {
		return false
	}
	begin := c.set.sinceStart(p.Pts(), c.in.TimeBase())
	if begin.Cmp(c.run.From) >= 0 || c.until(p).Cmp(begin) > 0 {
		return false
	}
	screen := subtitle.Screen{Anew: true, Empty: p.Size() == 0} // of text
	switch c.in.CodecParameters().CodecID() {
	case astiav.CodecIDHdmvPgsSubtitle:
		screen = subtitle.PGSScreen(p.Data())
	case astiav.CodecIDDvbSubtitle:
		screen = subtitle.DVBScreen(p.Data())
	}
	gone := screen.Most != nil && begin.Add(begin, screen.Most).Cmp(c.run.From) <= 0
	if screen.Anew || screen.Empty || gone {
		c.forget()
	}
	clears := screen.Empty && c.run.Begin.Sign() > 0 // what the run before has left
	if clears || !screen.Empty && !gone && (screen.Anew || len(c.shown) > 0) {
		c.shown = append(c.shown, p.Clone())
	}
	return true
}

// showKept writes what is on the screen where the run begins.
func (c *subtitleCopier) showKept() error {
	defer c.forget()
	from := c.run.Output(c.run.From)
	for _, p := range c.shown {
		if err := c.copyOf(p, from, from); err != nil {
			return err
		}
		at := timebase.Ticks(from, c.out.TimeBase())
		if err := c.writeAt(at, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *subtitleCopier) forget() {
	for _, p := range c.shown {
		p.Free()
	}
	c.shown = nil
}

// passed writes what the run's beginning shows if no packet after it has come by then.
func (c *subtitleCopier) passed(at *big.Rat) error {
	const late = 2 // half of a second
	if len(c.shown) == 0 || at.Cmp(new(big.Rat).Add(c.run.From, big.NewRat(1, late))) < 0 {
		return nil
	}
	return c.showKept()
}

func (c *subtitleCopier) end() error { return c.showKept() }

func (c *subtitleCopier) free() {
	c.forget()
	c.track.free()
}

// copyOf makes the packet next a copy of p, which the output shows from one time to another.
func (c *subtitleCopier) copyOf(p *astiav.Packet, from, to *big.Rat) error {
	if err := c.next.Ref(p); err != nil {
		return err
	}
	if data, changed := c.inner(p, from, to); changed {
		return c.fill(p, data)
	}
	return nil
}

// inner returns p's data with the times within it at the output's speed; changed is false if it has
// none.
func (c *subtitleCopier) inner(p *astiav.Packet, from, to *big.Rat) (data []byte, changed bool) {
	codec := c.in.CodecParameters().CodecID()
	if !slices.Contains(clocked, codec) {
		return nil, false
	}
	begin, end := c.set.sinceStart(p.Pts(), c.in.TimeBase()), c.until(p)
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

func (c *subtitleCopier) begin(run *curve.Run) {
	c.forget()
	c.run = *run
}
