package media

import (
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/curve"
)

// caption is a stream of subtitles whose time changes. Each is shown while the
// output shows what it was shown over, so far as that is in the part.
type caption struct {
	w       *Writer
	in, out *astiav.Stream
	packet  *astiav.Packet
	run     curve.Run
	zero    *big.Rat // the source's Start
}

// ownClock are the codecs whose packets say themselves how long they are shown.
var ownClock = map[astiav.CodecID]bool{
	astiav.CodecIDDvdSubtitle: true, astiav.CodecIDDvbSubtitle: true, astiav.CodecIDDvbTeletext: true,
}

func (w *Writer) newCaption(in *astiav.Stream) (*caption, error) {
	out, err := w.twin(in)
	if err != nil {
		return nil, err
	}
	if id := in.CodecParameters().CodecID(); ownClock[id] && !w.keepsTime() {
		w.log.Warn("subtitles begin when they should but stay as long as in the source: their packets say how long", "stream", in.Index(), "codec", id)
	}
	return w.captionTo(in, out), nil
}

func (w *Writer) captionTo(in, out *astiav.Stream) *caption {
	return &caption{w: w, in: in, out: out, packet: astiav.AllocPacket(), run: w.opt.Curve.Runs()[0], zero: w.source.Video().Start}
}

// times says when the output shows p, in its stream's time base; false for never.
func (c *caption) times(p *astiav.Packet) (begin, end int64, ok bool) {
	if p.Pts() == noTimestamp {
		return 0, 0, false
	}
	tb := rat(c.in.TimeBase())
	at := func(t int64) *big.Rat {
		v := new(big.Rat).Mul(big.NewRat(t, 1), tb)
		return v.Sub(v, c.zero)
	}
	from, to, shown := c.w.shown(&c.run, at(p.Pts()), at(p.Pts()+p.Duration()))
	if !shown {
		return 0, 0, false
	}
	begin = ticks(from, c.out.TimeBase())
	return begin, max(ticks(to, c.out.TimeBase()), begin), true
}

func (c *caption) take(p *astiav.Packet) error {
	begin, end, shown := c.times(p)
	if !shown {
		return nil
	}
	if err := c.packet.Ref(p); err != nil {
		return err
	}
	return c.put(begin, end)
}

// put writes the packet at its time.
func (c *caption) put(begin, end int64) error {
	c.packet.SetPts(begin)
	c.packet.SetDts(begin)
	c.packet.SetDuration(end - begin)
	c.packet.SetStreamIndex(c.out.Index())
	c.packet.SetPos(-1)
	return c.w.mux(c.packet)
}

func (c *caption) begin(r *curve.Run) { c.run = *r }
func (c *caption) end() error         { return nil }
func (c *caption) finish() error      { return nil }
func (c *caption) free()              { c.packet.Free() }

// shown is when the output shows what the source shows from begin to end, within a
// run that plays forward; false where it does not.
func (w *Writer) shown(r *curve.Run, begin, end *big.Rat) (from, to *big.Rat, ok bool) {
	if r.Backward {
		return nil, nil, false
	}
	limit := w.opt.End
	if r.To != nil && (limit == nil || r.To.Cmp(limit) < 0) {
		limit = r.To
	}
	if limit != nil && (begin.Cmp(limit) >= 0) || end.Cmp(r.From) <= 0 && begin.Cmp(r.From) < 0 {
		return nil, nil, false
	}
	if limit != nil && end.Cmp(limit) > 0 {
		end = limit
	}
	return r.Output(begin), r.Output(end), true
}
