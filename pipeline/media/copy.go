package media

import (
	"math"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/curve"
	"retime/pipeline/fault"
)

// Audio says what becomes of sound where the time changes.
type Audio string

// What becomes of it.
const (
	StretchAudio Audio = "stretch" // it lasts as long as the picture, at its pitch
	KeepAudio    Audio = "keep"    // it is copied as it is and ends when it ends
	DropAudio    Audio = "drop"    // it is left out, whether the time changes or not
)

// runner is a carrier that is told of the curve's runs.
type runner interface {
	// begin is called before the packets of a run come.
	begin(r *curve.Run)
	// end is called behind them.
	end() error
}

// Follow carries the streams of r, which reads what run i of the curve plays, from
// here on.
func (w *Writer) Follow(r *Reader, i int) error {
	w.source.forward(nil)
	if err := w.endRun(); err != nil {
		return err
	}
	runs := w.opt.Curve.Runs()
	for _, c := range w.copies {
		if c, ok := c.(runner); ok {
			c.begin(&runs[i])
		}
	}
	w.following = true
	r.forward(w.copyPacket)
	return nil
}

// endRun ends the run that is followed, if any.
func (w *Writer) endRun() error {
	if !w.following {
		return nil
	}
	for _, in := range w.source.input.Streams() {
		if c, ok := w.copies[in.Index()].(runner); ok {
			if err := c.end(); err != nil {
				return w.cannot(err)
			}
		}
	}
	w.following = false
	return nil
}

// carrier takes one stream of the source to the output.
type carrier interface {
	// take gets each packet of the stream, which it must not keep.
	take(p *astiav.Packet) error
	// finish is called once, behind the last packet.
	finish() error
	free()
}

// keepsTime says whether the output plays as fast as the source.
func (w *Writer) keepsTime() bool {
	slow := w.opt.Curve.Line()
	return slow != nil && slow.Cmp(big.NewRat(1, 1)) == 0
}

// whole says whether all of the source is kept.
func (w *Writer) whole() bool {
	return w.opt.End == nil && w.opt.Curve.Source(new(big.Rat)).Sign() == 0
}

// addCopies adds the chosen streams that the container holds and names the others
// once.
func (w *Writer) addCopies() error {
	w.copies = map[int]carrier{}
	streams := w.source.input.Streams()
	outputs := make([]outputIndex, len(streams))
	for i, in := range streams {
		outputs[i] = -1
		if i == w.source.stream.Index() {
			outputs[i] = outputIndex(w.video.Index())
			continue
		}
		if !w.source.chosen[i] {
			continue
		}
		added := w.output.NbStreams()
		c, err := w.carry(in)
		if err != nil {
			return err
		}
		if c != nil {
			w.copies[i] = c
		}
		if w.output.NbStreams() > added {
			outputs[i] = outputIndex(added)
		}
	}
	if err := w.addPrograms(outputs); err != nil {
		return err
	}
	return w.addChapters()
}

// carry returns what carries a stream, nil for a stream that is left out.
func (w *Writer) carry(in *astiav.Stream) (carrier, error) {
	p := in.CodecParameters()
	kind := p.CodecType()
	switch kind {
	case astiav.MediaTypeAudio:
		if w.opt.Audio == DropAudio {
			return nil, nil
		}
		if w.opt.Audio == KeepAudio && !w.keepsTime() || w.keepsTime() && w.opt.AudioCodec == "" && holds(w.output, p) {
			break
		}
		if usualAudioCodec(w.output) == astiav.CodecIDNone {
			w.leaveOut(in, "the container takes no sound")
			return nil, nil
		}
		s, err := w.newSound(in)
		if fault.KindOf(err) == fault.Usage {
			return nil, err
		} else if err != nil {
			w.log.Warn("sound left out: it cannot be encoded again", "stream", in.Index(), "codec", p.CodecID(), "reason", err)
			return nil, nil
		}
		return s, nil
	case astiav.MediaTypeSubtitle:
	case astiav.MediaTypeAttachment:
		return w.carryAttachment(in)
	case astiav.MediaTypeVideo:
		return w.carryVideo(in)
	case astiav.MediaTypeData:
		return w.carryData(in)
	default:
		w.leaveOut(in, "it is of no known kind")
		return nil, nil
	}
	if kind == astiav.MediaTypeSubtitle && !holds(w.output, p) {
		return w.carryText(in)
	}
	if !holds(w.output, p) {
		w.leaveOut(in, "the container does not take it")
		return nil, nil
	}
	if slices.Contains(texts, p.CodecID()) && w.isContainer("nut") {
		w.log.Warn("the container does not say how long subtitles are shown", "stream", in.Index(), "container", "nut")
	}
	if kind == astiav.MediaTypeSubtitle && (!w.keepsTime() || !w.whole()) {
		return w.newCaption(in)
	}
	return w.newCopy(in)
}

// copied is a stream whose packets go across unchanged.
type copied struct {
	w       *Writer
	in, out *astiav.Stream
	packet  *astiav.Packet
	// In the input's time base: what becomes 0, and the first time left out.
	zero, end int64
	cut       bool  // packets before zero are left out
	begun     bool  // a packet that decoding can begin at was there
	last      int64 // timestamp of the last packet, of sound
}

// twin adds a stream like in to the output.
func (w *Writer) twin(in *astiav.Stream) (*astiav.Stream, error) {
	out := w.output.NewStream(nil)
	if err := in.CodecParameters().Copy(out.CodecParameters()); err != nil {
		return nil, err
	}
	out.CodecParameters().SetCodecTag(0)
	out.SetTimeBase(in.TimeBase())
	if in.CodecParameters().CodecID() == astiav.CodecIDMovText {
		out.SetTimeBase(timedTextUnit(in.TimeBase()))
	}
	return out, copyStreamMetadata(out, in)
}

func (w *Writer) newCopy(in *astiav.Stream) (*copied, error) {
	out, err := w.twin(in)
	if err != nil {
		return nil, err
	}
	c := &copied{w: w, in: in, out: out, packet: astiav.AllocPacket(), end: math.MaxInt64, last: noTimestamp}
	start := w.source.Video().Start
	c.zero = ticks(start, in.TimeBase())
	if zero := w.opt.Curve.Source(new(big.Rat)); zero.Sign() > 0 {
		c.zero, c.cut = ticks(new(big.Rat).Add(start, zero), in.TimeBase()), true
	}
	if w.opt.End != nil {
		c.end = ticks(new(big.Rat).Add(start, w.opt.End), in.TimeBase())
	}
	return c, nil
}

func (c *copied) take(p *astiav.Packet) error {
	if t := p.Pts(); t != noTimestamp && (c.cut && t < c.zero || t >= c.end) {
		return nil
	}
	if c.begun = c.begun || !c.cut || p.Flags().Has(astiav.PacketFlagKey); !c.begun {
		return nil
	}
	if err := c.packet.Ref(p); err != nil {
		return err
	}
	if t := p.Pts(); t != noTimestamp && c.in.CodecParameters().CodecType() == astiav.MediaTypeAudio {
		if p.Duration() == 0 && c.last != noTimestamp {
			// Without it containers that state a track's length cut the last packet off.
			c.packet.SetDuration(max(t-c.last, 0))
		}
		c.last = t
	}
	shift(c.packet, delayLeftOut(c.w.output, c.out, c.in.TimeBase())-c.zero)
	c.packet.RescaleTs(c.in.TimeBase(), c.out.TimeBase())
	c.packet.SetStreamIndex(c.out.Index())
	c.packet.SetPos(-1)
	return c.w.mux(c.packet)
}

func (c *copied) finish() error { return nil }
func (c *copied) free()         { c.packet.Free() }

// copyPacket carries p, read from the source, where its stream is carried. Errors
// are kept for the video's next packet.
func (w *Writer) copyPacket(p *astiav.Packet) {
	if c := w.copies[p.StreamIndex()]; c != nil {
		if err := c.take(p); err != nil {
			w.fail(err)
		}
	}
	if p.StreamIndex() == w.source.stream.Index() && p.Dts() != noTimestamp {
		w.tellWaiters(p)
	}
}

// tellWaiters says how far the source has been read by p, a packet of its video.
func (w *Writer) tellWaiters(p *astiav.Packet) {
	for _, c := range w.copies {
		c, ok := c.(waiter)
		if !ok {
			continue
		}
		t := new(big.Rat).Mul(big.NewRat(p.Dts(), 1), rat(w.source.stream.TimeBase()))
		if err := c.passed(t.Sub(t, w.source.Video().Start)); err != nil {
			w.fail(err)
		}
	}
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.cannot(err)
	}
}

// finishCopies puts out what the carriers still hold.
func (w *Writer) finishCopies() error {
	if err := w.endRun(); err != nil {
		return err
	}
	for _, in := range w.source.input.Streams() {
		if c := w.copies[in.Index()]; c != nil {
			if err := c.finish(); err != nil {
				return w.cannot(err)
			}
		}
	}
	return nil
}
