package streams

import (
	"math"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// Heard is decoded sound: 16 bits a sample, the channels in turn. It is silent where the source has none.
type Heard struct {
	Rate, Channels int
	Samples        []int16
}

// listenRate is in Hz.
const listenRate = 48000

// Listener decodes a part of a stream's sound, in one or two channels.
type Listener struct {
	Heard
	decoder     *soundDecoder
	format      *soundEncoder // what is decoded to; it encodes nothing
	start, from *big.Rat
	position    int64 // of the next sample
	err         error
}

// NewListener returns a listener to a stream of s from one time to another, in seconds after s.Start. The
// error says why the sound cannot be decoded. Free must follow.
func NewListener(s *Source, in *astiav.Stream, from, to *big.Rat) (*Listener, error) {
	d, err := newSoundDecoder(in)
	if err != nil {
		return nil, err
	}
	l := &Listener{decoder: d, start: s.Start, from: from, format: &soundEncoder{context: astiav.AllocCodecContext(astiav.FindDecoder(in.CodecParameters().CodecID())), rate: listenRate}}
	if err := av.CopyChannels(l.format.context, d.context, min(max(av.Channels(d.context), 1), 2)); err != nil {
		l.Free()
		return nil, err
	}
	l.format.context.SetSampleRate(listenRate)
	l.format.context.SetSampleFormat(astiav.SampleFormatFltp)
	l.format.channels = av.Channels(l.format.context)
	l.Rate, l.Channels = listenRate, l.format.channels
	l.Samples = make([]int16, l.sample(to)*int64(l.Channels))
	return l, nil
}

// sample returns the place of a time among the samples.
func (l *Listener) sample(t *big.Rat) int64 {
	return timebase.Ticks(new(big.Rat).Sub(t, l.from), astiav.NewRational(1, listenRate))
}

// Packet decodes a packet of any stream; nil is the last one. After an error it does nothing.
func (l *Listener) Packet(p *astiav.Packet) {
	if l.err != nil || p != nil && p.StreamIndex() != l.decoder.in.Index() {
		return
	}
	l.err = l.decoder.decode(p, l.format, func(next piece) error {
		if next.at != nil {
			l.position = l.sample(next.at.Sub(next.at, l.start)) - next.held
		}
		l.take(next.samples)
		return nil
	})
}

func (l *Listener) take(channels [][]float32) {
	all := int64(len(l.Samples) / l.Channels)
	for c, list := range channels {
		for i, v := range list {
			if at := l.position + int64(i); at >= 0 && at < all {
				l.Samples[at*int64(l.Channels)+int64(c)] = int16(math.Round(float64(min(max(v, -1), 1)) * math.MaxInt16))
			}
		}
	}
	if len(channels) > 0 {
		l.position += int64(len(channels[0]))
	}
}

// Err returns what the decoding failed at.
func (l *Listener) Err() error { return l.err }

// Free frees the decoder.
func (l *Listener) Free() {
	l.decoder.free()
	l.format.context.Free()
}
