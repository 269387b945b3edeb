package streams

import (
	"errors"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// soundDecoder turns packets of sound into planar floats at a rate.
type soundDecoder struct {
	in              *astiav.Stream
	context         *astiav.CodecContext
	decoded, floats *astiav.Frame
	unpack          *av.Resampler
}

// newSoundDecoder opens a decoder; an error says why the stream cannot be decoded.
func newSoundDecoder(in *astiav.Stream) (*soundDecoder, error) {
	p := in.CodecParameters()
	codec := astiav.FindDecoder(p.CodecID())
	if codec == nil {
		return nil, errors.New("no decoder in this FFmpeg build")
	}
	d := &soundDecoder{
		in: in, context: astiav.AllocCodecContext(codec),
		decoded: astiav.AllocFrame(), floats: astiav.AllocFrame(), unpack: av.NewResampler(),
	}
	err := p.ToCodecContext(d.context)
	if err == nil {
		av.SetPacketTimeBase(d.context, in.TimeBase())
		err = d.context.Open(codec, nil)
	}
	if err != nil {
		d.free()
		return nil, err
	}
	return d, nil
}

// piece is what a decoded frame holds, by channel.
type piece struct {
	samples [][]float32
	at      *big.Rat // when it begins, in seconds; nil if nothing tells
	held    int64    // samples before it that the resampler still held
}

// decode calls f with each piece of a packet, nil at the end, at a rate.
func (d *soundDecoder) decode(p *astiav.Packet, rate, channels int, f func(piece) error) error {
	if err := d.context.SendPacket(p); err != nil && p != nil {
		return nil // damage, which the decoder's log counts; a gap follows
	}
	for d.context.ReceiveFrame(d.decoded) == nil {
		next := piece{held: d.unpack.Delay(rate)}
		if t := av.FrameTime(d.decoded); t != av.NoTimestamp {
			next.at = timebase.Seconds(t, d.in.TimeBase())
		}
		if err := d.unpack.Floats(d.floats, d.decoded, rate); err != nil {
			return err
		}
		d.decoded.Unref()
		next.samples = av.FloatPlanes(d.floats, channels)
		if err := f(next); err != nil {
			return err
		}
	}
	return nil
}

// restart forgets what came before, as after a seek.
func (d *soundDecoder) restart() {
	av.FlushCoder(d.context)
	d.unpack.Free()
	d.unpack = av.NewResampler()
}

func (d *soundDecoder) free() {
	d.decoded.Free()
	d.floats.Free()
	d.unpack.Free()
	d.context.Free()
}
