package media

import (
	"math/big"

	"github.com/asticode/go-astiav"
)

// copied is a stream whose packets go across unchanged.
type copied struct {
	in, out *astiav.Stream
	packet  *astiav.Packet
	// In the input's time base: what becomes 0, and the first time left out.
	zero, end int64
	cut       bool // packets before zero are left out
}

// keepsTime says whether the output plays as fast as the source.
func (w *Writer) keepsTime() bool {
	slow := w.opt.Curve.Line()
	return slow != nil && slow.Cmp(big.NewRat(1, 1)) == 0
}

// addCopies adds the streams that the container holds and names the others
// once.
func (w *Writer) addCopies() error {
	w.copies = map[int]*copied{}
	for _, in := range w.source.input.Streams() {
		p := in.CodecParameters()
		if in.Index() == w.source.stream.Index() {
			continue
		}
		switch p.CodecType() {
		case astiav.MediaTypeAudio, astiav.MediaTypeSubtitle, astiav.MediaTypeAttachment:
		default:
			continue
		}
		if !holds(w.output, p) {
			w.log.Warn("stream left out: the container does not take it", "stream", in.Index(),
				"codec", p.CodecID(), "container", w.output.OutputFormat().Name())
			continue
		}
		out := w.output.NewStream(nil)
		if err := p.Copy(out.CodecParameters()); err != nil {
			return err
		}
		out.CodecParameters().SetCodecTag(0)
		out.SetTimeBase(in.TimeBase())
		if err := copyStreamMetadata(out, in); err != nil {
			return err
		}
		c := &copied{in: in, out: out, packet: astiav.AllocPacket(), end: 1<<63 - 1}
		start := w.source.Video().Start
		c.zero = ticks(start, in.TimeBase())
		if zero := w.opt.Curve.Source(new(big.Rat)); zero.Sign() > 0 {
			c.zero, c.cut = ticks(new(big.Rat).Add(start, zero), in.TimeBase()), true
		}
		if w.opt.End != nil {
			c.end = ticks(new(big.Rat).Add(start, w.opt.End), in.TimeBase())
		}
		w.copies[in.Index()] = c
	}
	return nil
}

// copyPacket writes p, read from the source, where its stream is copied.
func (w *Writer) copyPacket(p *astiav.Packet) {
	c := w.copies[p.StreamIndex()]
	if c == nil {
		return
	}
	if t := p.Pts(); t != noTimestamp && (c.cut && t < c.zero || t >= c.end) {
		return
	}
	if err := c.packet.Ref(p); err != nil {
		w.fail(err)
		return
	}
	shift(c.packet, -c.zero)
	c.packet.RescaleTs(c.in.TimeBase(), c.out.TimeBase())
	c.packet.SetStreamIndex(c.out.Index())
	c.packet.SetPos(-1)
	_ = w.mux(c.packet) // kept in w.err, which the video's next packet returns
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.cannot(err)
	}
}
