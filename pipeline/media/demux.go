package media

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"

	"github.com/asticode/go-astiav"
)

// maxReadErrors is how many reads may fail in a row before the rest of the
// input counts as lost.
const maxReadErrors = 64

// feed gives the decoder its next packet, and all packets to whoever asked for
// them. At the end of the input it starts draining.
func (r *Reader) feed() {
	for failed := 0; !r.draining; {
		r.packet.Unref()
		err := r.input.ReadFrame(r.packet)
		switch {
		case r.ctx.Err() != nil:
			return
		case err == nil:
			if r.use(r.packet) {
				return
			}
		case errors.Is(err, astiav.ErrEof):
			r.drain()
		default:
			r.damage.Packets++
			if failed++; failed == maxReadErrors {
				r.readErr = err
				r.drain()
			}
		}
	}
}

func (r *Reader) drain() {
	r.draining = true
	r.packet.Unref()
	_ = r.decoder.SendPacket(nil)
}

// admit settles the times of a packet that was read; false where nobody wants it.
func (r *Reader) admit(p *astiav.Packet) bool {
	streams := r.input.Streams()
	if p.StreamIndex() >= len(streams) {
		return false // a stream that appeared after the header
	}
	r.renumber(p)
	r.times.join(p, streams[p.StreamIndex()])
	if t := p.Pts(); t != noTimestamp {
		r.lastEnd = max(r.lastEnd, microseconds(t+p.Duration(), streams[p.StreamIndex()].TimeBase()))
	}
	return true
}

// use hands p on and says whether the decoder got it.
func (r *Reader) use(p *astiav.Packet) bool {
	if !r.admit(p) {
		return false
	}
	if p.StreamIndex() != r.stream.Index() {
		r.pass(p)
		return false
	}
	if r.onPacket != nil {
		r.onPacket(p)
	}
	if p.Flags().Has(astiav.PacketFlagCorrupt) {
		r.damage.Packets++
	}
	if r.opt.Packets {
		r.kept = append(r.kept, p.Clone())
	}
	if r.pastEnd(p) {
		r.drain()
		return true
	}
	if err := r.decoder.SendPacket(p); err != nil {
		r.damage.Packets++
		r.log.Debug("packet could not be decoded", "input", r.name, "pts", p.Pts(), "error", err)
	}
	return true
}

// pastEnd says whether p lies so far behind To that no frame before To can
// follow it: decoding order runs ahead of presentation by less than that.
func (r *Reader) pastEnd(p *astiav.Packet) bool {
	if r.opt.To == nil || p.Dts() == noTimestamp {
		return false
	}
	t := new(big.Rat).Mul(big.NewRat(p.Dts(), 1), rat(r.stream.TimeBase()))
	t.Sub(t, big.NewRat(startTime(r.input), 1e6))
	return t.Cmp(new(big.Rat).Add(r.opt.To, big.NewRat(5, 1))) > 0
}

func (r *Reader) pass(p *astiav.Packet) {
	if r.onPacket != nil {
		r.onPacket(p)
	} else if r.video.Codec == "" { // still in Open
		r.held = append(r.held, p.Clone())
	}
}

// Skim reads what is left without decoding pictures, for the sake of the other
// streams.
func (r *Reader) Skim() error {
	if err := r.skimTo(math.MaxInt64); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// SkimTo is Skim until the video's packets reach a time in seconds after the file's
// start. It says io.EOF at the end.
func (r *Reader) SkimTo(t *big.Rat) error {
	return r.skimTo(ticks(new(big.Rat).Add(t, r.video.Start), r.stream.TimeBase()))
}

func (r *Reader) skimTo(goal int64) error {
	for failed := 0; failed < maxReadErrors && !r.skimmed; {
		if r.skimDTS != noTimestamp && r.skimDTS >= goal {
			return nil
		}
		r.packet.Unref()
		err := r.input.ReadFrame(r.packet)
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case errors.Is(err, astiav.ErrEof):
			r.skimmed = true
			continue
		case err != nil:
			failed++
			continue
		}
		streams := r.input.Streams()
		i := r.packet.StreamIndex()
		if i >= len(streams) {
			continue
		}
		r.times.join(r.packet, streams[i])
		if i != r.stream.Index() {
			r.pass(r.packet)
			continue
		}
		r.skimDTS = r.packet.Dts()
		r.skimmed = r.pastEnd(r.packet)
	}
	return io.EOF
}

// Seekable says whether an input can be opened and read more than once: a file.
func Seekable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// forward sends packets to f, which must not keep them, beginning with those of
// other streams than the video's that were already read. A nil f drops them.
func (r *Reader) forward(f func(*astiav.Packet)) {
	r.onPacket = f
	for _, p := range r.held {
		if f != nil {
			f(p)
		}
		p.Free()
	}
	r.held = nil
}

// end says whether the input ended where it should.
func (r *Reader) end() error {
	if r.readErr != nil {
		return r.bad(fmt.Errorf("reading stopped after %s: %w", r.position(), r.readErr))
	}
	if r.opt.To != nil || r.times.joined() {
		return io.EOF
	}
	// The stream's own duration tells most; containers that have none state one
	// for the longest stream.
	var missing int64
	if d := r.stream.Duration(); d > 0 {
		begin := r.stream.StartTime() // below 0 where a broadcast's clock has turned
		if begin == noTimestamp {
			begin = 0
		}
		missing = microseconds(begin+d-r.endTime, r.stream.TimeBase())
	} else if d := duration(r.input); d > 0 {
		missing = d - (r.lastEnd - startTime(r.input))
	}
	if missing > max(500_000, 3*microseconds(r.nominalDuration(), r.stream.TimeBase())) {
		return r.bad(fmt.Errorf("ends after %s, %.3f s before its stated end: the file is truncated or damaged", r.position(), float64(missing)/1e6))
	}
	return io.EOF
}

// position is the time of the last frame, for messages.
func (r *Reader) position() string {
	if r.lastPTS == noTimestamp {
		return "no frame"
	}
	return fmt.Sprintf("%.3f s", float64(microseconds(r.endTime, r.stream.TimeBase())-startTime(r.input))/1e6)
}

// microseconds converts t from units of tb, rounding to nearest; what is beyond
// 64 bits becomes the nearest that is not.
func microseconds(t int64, tb astiav.Rational) int64 {
	if tb.Den() == 0 {
		return 0
	}
	v := new(big.Int).Mul(big.NewInt(t), big.NewInt(int64(tb.Num())*1_000_000))
	v.Div(v.Add(v, big.NewInt(int64(tb.Den())/2)), big.NewInt(int64(tb.Den())))
	switch {
	case v.IsInt64():
		return v.Int64()
	case v.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
