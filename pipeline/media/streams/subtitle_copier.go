package streams

import (
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/curve"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/timebase"
)

// subtitleCopier copies subtitles at another speed. It shows each while the output shows
// the pictures that it belongs to.
type subtitleCopier struct {
	track
	run curve.Run
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
	if s.keepsTime() && s.whole() {
		return s.newCopier(in)
	}
	t, err := s.newCopy(in)
	if err != nil {
		return nil, err
	}
	if id := p.CodecID(); selfTimed[id] && !s.keepsTime() {
		s.log.Warn("subtitles begin when they should but stay as long as in the source: their packets say how long", "stream", in.Index(), "codec", id)
	}
	return &subtitleCopier{t, s.opt.Curve.Runs()[0]}, nil
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
	return c.writeAt(begin, end)
}

// writeAt writes the packet next with the given times.
func (c *subtitleCopier) writeAt(begin, end int64) error {
	c.next.SetPts(begin)
	c.next.SetDts(begin)
	c.next.SetDuration(end - begin)
	return c.write()
}

func (c *subtitleCopier) begin(run *curve.Run) { c.run = *run }
