package media

import (
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/curve"
)

// subtitle is a stream of subtitles whose time changes. Each is shown while the
// output shows what it was shown over, so far as that is in the part.
type subtitle struct {
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

func (w *Writer) newSubtitle(in *astiav.Stream) (*subtitle, error) {
	out, err := w.twin(in)
	if err != nil {
		return nil, err
	}
	if id := in.CodecParameters().CodecID(); ownClock[id] && !w.keepsTime() {
		w.log.Warn("subtitles begin when they should but stay as long as in the source: their packets say how long", "stream", in.Index(), "codec", id)
	}
	return &subtitle{w: w, in: in, out: out, packet: astiav.AllocPacket(), run: w.opt.Curve.Runs()[0], zero: w.source.Video().Start}, nil
}

func (s *subtitle) take(p *astiav.Packet) error {
	if p.Pts() == noTimestamp {
		return nil
	}
	tb := rat(s.in.TimeBase())
	at := func(t int64) *big.Rat {
		v := new(big.Rat).Mul(big.NewRat(t, 1), tb)
		return v.Sub(v, s.zero)
	}
	begin, end, shown := s.w.shown(&s.run, at(p.Pts()), at(p.Pts()+p.Duration()))
	if !shown {
		return nil
	}
	if err := s.packet.Ref(p); err != nil {
		return err
	}
	t := ticks(begin, s.out.TimeBase())
	s.packet.SetPts(t)
	s.packet.SetDts(t)
	s.packet.SetDuration(max(ticks(end, s.out.TimeBase())-t, 0))
	s.packet.SetStreamIndex(s.out.Index())
	s.packet.SetPos(-1)
	return s.w.mux(s.packet)
}

func (s *subtitle) begin(r *curve.Run) { s.run = *r }
func (s *subtitle) end() error         { return nil }
func (s *subtitle) finish() error      { return nil }
func (s *subtitle) free()              { s.packet.Free() }

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
