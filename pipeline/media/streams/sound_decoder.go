package streams

import (
	"errors"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// soundDecoder decodes sound packets to planar floats.
type soundDecoder struct {
	in              *astiav.Stream
	context         *astiav.CodecContext
	decoded, floats *astiav.Frame
	unpack          *av.Resampler
	tape            bool // see isTapeSound
}

// newSoundDecoder opens a decoder. The error says why the stream cannot be decoded.
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

// piece holds the samples of a decoded frame.
type piece struct {
	samples [][]float32
	at      *big.Rat // the start, in seconds; nil if unknown
	held    int64    // samples from before that the resampler puts at the start
}

// decode decodes p, or the decoder's rest if p is nil, and calls f with each piece, in
// the encoder's sample rate and number of channels.
func (d *soundDecoder) decode(p *astiav.Packet, encoder *soundEncoder, f func(piece) error) error {
	if d.tape && p != nil {
		d.follow(p)
	}
	if err := d.context.SendPacket(p); err != nil && p != nil {
		return nil // damage, which the log callback counts; it leaves a gap
	}
	for d.context.ReceiveFrame(d.decoded) == nil {
		next := piece{held: d.unpack.Delay(encoder.rate)}
		if t := av.FrameTime(d.decoded); t != av.NoTimestamp {
			next.at = timebase.Seconds(t, d.in.TimeBase())
		}
		if err := d.unpack.Floats(d.floats, d.decoded, encoder.context); err != nil {
			return err
		}
		d.decoded.Unref()
		next.samples = av.FloatPlanes(d.floats, encoder.channels)
		limit(next.samples)
		if err := f(next); err != nil {
			return err
		}
	}
	if p != nil || d.unpack.Delay(encoder.rate) == 0 {
		return nil
	}
	if err := d.unpack.Rest(d.floats); err != nil {
		return err
	}
	return f(piece{samples: av.FloatPlanes(d.floats, encoder.channels)})
}

// loudest is the largest sample that is passed on, full scale being 1. Damage decodes to
// any number, and FFmpeg's AAC encoder does not return from samples of a million.
const loudest = 1 << 13

// limit cuts samples to loudest and makes what is no number silent.
func limit(samples [][]float32) {
	for _, x := range samples {
		for i, v := range x {
			if v != v {
				x[i] = 0
			} else if v > loudest || v < -loudest {
				x[i] = min(max(v, -loudest), loudest)
			}
		}
	}
}

// restart discards what the decoder and resampler have buffered, as after a seek.
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
