package media

/*
#cgo pkg-config: libavcodec
#include <string.h>
#include <libavcodec/avcodec.h>

static void set_packet_data(AVPacket *p, const void *data, size_t size) { memcpy(p->data, data, size); }
static int packet_side_count(const AVPacket *p) { return p->side_data_elems; }
static const AVPacketSideData *packet_side(const AVPacket *p, int i) { return &p->side_data[i]; }
*/
import "C"

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// Packet is an encoded picture between the encoder and a file. Its times are in
// the encoder's time base, or in the stream's of a reader that it comes from.
type Packet struct {
	PTS, DTS, Duration int64
	Flags              int // FFmpeg's AV_PKT_FLAG_*
	Data               []byte
	Side               []PacketSide
}

// PacketSide is what goes beside a packet's data, such as an alpha channel.
type PacketSide struct {
	Kind int // FFmpeg's AVPacketSideDataType
	Data []byte
}

// Parameters are what packets must share to stand in one stream.
type Parameters struct {
	Encoder       string
	Width, Height int
	PixelFormat   string
	TimeBase      [2]int // seconds, as numerator and denominator
	Header        []byte // the codec's extradata
}

// Equal says whether packets of p and q may stand in one stream.
func (p Parameters) Equal(q Parameters) bool {
	same := bytes.Equal(p.Header, q.Header)
	p.Header, q.Header = nil, nil
	return same && fmt.Sprint(p) == fmt.Sprint(q)
}

// CreatePart opens an encoder as Create does for name, but gives its packets to put,
// which may keep them, in place of a file: name, where opt.Format is empty, only says
// which container they are for. The first frame is number first of the whole.
func CreatePart(ctx context.Context, name string, source *Reader, opt WriterOptions, first int64, put func(Packet) error) (*Writer, error) {
	return createPart(ctx, name, source, opt, first, put, false)
}

func createPart(ctx context.Context, name string, source *Reader, opt WriterOptions, first int64, put func(Packet) error, apart bool) (*Writer, error) {
	w := newWriter(ctx, source, opt)
	w.target, w.put, w.frames, w.apart = target{name: name, url: name}, put, first, apart
	if s, ok := newSequence(name); ok && apart {
		w.target.sequence = &s
	}
	err := w.openFormat(name)
	if err == nil {
		err = w.openPart()
	}
	if err := w.begin(err); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Writer) openPart() error {
	codec, err := w.pickEncoder()
	if err != nil {
		return err
	}
	if codec.ID() == wrappedFrame {
		return fault.New(fault.Usage, "the %s container takes frames as they are, which cannot be kept in parts; choose another Output.Format", w.output.OutputFormat().Name())
	}
	if err := w.openEncoder(codec); err != nil {
		return err
	}
	w.packet = astiav.AllocPacket()
	return nil
}

// Parameters are those of the encoder.
func (w *Writer) Parameters() Parameters {
	e := w.encoder
	p := Parameters{
		Encoder: w.codec.Name(), Width: e.Width(), Height: e.Height(), PixelFormat: e.PixelFormat().Name(),
		TimeBase: [2]int{e.TimeBase().Num(), e.TimeBase().Den()},
	}
	if c := native[C.AVCodecContext](e); c.extradata_size > 0 {
		p.Header = C.GoBytes(unsafe.Pointer(c.extradata), c.extradata_size)
	}
	return p
}

// WritePacket writes p as if the encoder had made it. Frames and packets do not go
// into one output.
func (w *Writer) WritePacket(p Packet) error {
	if err := fill(w.packet, p.Data); err != nil {
		return w.cannot(err)
	}
	for _, s := range p.Side {
		if len(s.Data) == 0 {
			continue
		}
		if err := w.packet.AddSideData(astiav.PacketSideDataType(s.Kind), s.Data); err != nil {
			return w.cannot(err)
		}
	}
	w.packet.SetPts(p.PTS)
	w.packet.SetDts(p.DTS)
	w.packet.SetDuration(p.Duration)
	w.packet.SetFlags(astiav.PacketFlags(p.Flags))
	w.joined = true
	return w.deliver()
}

// fill makes p a packet of data.
func fill(p *astiav.Packet, data []byte) error {
	p.Unref()
	if err := p.AllocPayload(len(data)); err != nil {
		return err
	}
	if len(data) > 0 {
		C.set_packet_data(native[C.AVPacket](p), unsafe.Pointer(&data[0]), C.size_t(len(data)))
	}
	return nil
}

// hand gives the encoder's packet to put.
func (w *Writer) hand() error { return w.put(takePacket(w.packet)) }

// takePacket copies p, which it empties.
func takePacket(p *astiav.Packet) Packet {
	out := Packet{PTS: p.Pts(), DTS: p.Dts(), Duration: p.Duration(), Flags: int(p.Flags()), Data: p.Data()}
	c := native[C.AVPacket](p)
	for i := range C.packet_side_count(c) {
		s := C.packet_side(c, i)
		out.Side = append(out.Side, PacketSide{int(s._type), C.GoBytes(unsafe.Pointer(s.data), C.int(s.size))})
	}
	p.Unref()
	return out
}

// NextPacket returns the stream's next packet as it is, in decoding order, of a
// source that was opened with Packets, and io.EOF behind the last. Other streams'
// packets on the way go where Read would send them.
func (r *Reader) NextPacket() (Packet, error) {
	if len(r.kept) > 0 {
		p := r.kept[0]
		r.kept = r.kept[1:]
		defer p.Free()
		return takePacket(p), nil
	}
	for failed := 0; failed < maxReadErrors; {
		r.packet.Unref()
		err := r.input.ReadFrame(r.packet)
		switch {
		case r.ctx.Err() != nil:
			return Packet{}, r.ctx.Err()
		case errors.Is(err, astiav.ErrEof):
			r.readErr = nil
			return Packet{}, io.EOF
		case err != nil:
			failed++
			r.damage.Packets++
			r.readErr = err
		case !r.admit(r.packet):
		case r.packet.StreamIndex() == r.stream.Index():
			r.readErr = nil
			return takePacket(r.packet), nil
		default:
			r.pass(r.packet)
		}
	}
	return Packet{}, io.EOF
}

// Scan is what the packets of a video stream tell.
type Scan struct {
	// End is the latest end of a packet in seconds after the file's start, nil where
	// no packet tells.
	End *big.Rat
	// Steady is set where every packet has a timestamp and none jumps, so that
	// reading may begin anywhere.
	Steady bool
	// Times are the timestamps of the video's packets, in decoding order.
	Times []int64
}

// Scan reads what is left of the source without decoding it.
func (r *Reader) Scan() (Scan, error) {
	s := Scan{Steady: true}
	var end int64
	packets := 0
	for failed := 0; failed < maxReadErrors; {
		r.packet.Unref()
		err := r.input.ReadFrame(r.packet)
		if r.ctx.Err() != nil {
			return s, r.ctx.Err()
		}
		if errors.Is(err, astiav.ErrEof) {
			break
		}
		if err != nil {
			failed++
			s.Steady = false
			continue
		}
		i := r.packet.StreamIndex()
		if streams := r.input.Streams(); i < len(streams) {
			r.times.join(r.packet, streams[i])
		}
		if i != r.stream.Index() {
			continue
		}
		packets++
		if t := r.packet.Pts(); t == noTimestamp {
			s.Steady = false
		} else {
			s.Times = append(s.Times, t)
			if d := max(r.packet.Duration(), 1); packets == 1 || t+d > end {
				end = t + d
			}
		}
	}
	s.Steady = s.Steady && packets > 0 && !r.times.joined()
	if base := rat(r.stream.TimeBase()); packets > 0 && base != nil {
		s.End = base.Mul(base, new(big.Rat).SetInt64(end))
		s.End.Sub(s.End, r.video.Start)
	}
	return s, nil
}
